// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread leaves its result in a variable of the function that asked for it. The buggy function
// gives up when it has looked once and found nothing, and returns while the answer is under way.

#include <atomic>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Request {
  std::atomic<std::atomic<int>*> where = nullptr;
};

void answer(Request& request) {
  std::atomic<int>* where = request.where.load();
  while (where == nullptr) {
    std::this_thread::yield();
    where = request.where.load();
  }
  where->store(1);
}

// Each a function of its own, or its variable would be its caller's.
__attribute__((noinline)) int ask_impatiently(Request& request) {
  std::atomic<int> result = 0;
  request.where.store(&result);
  return result.load();
}

__attribute__((noinline)) int ask(Request& request) {
  std::atomic<int> result = 0;
  request.where.store(&result);
  while (result.load() == 0) std::this_thread::yield();
  return result.load();
}

void ask_another(int (*how)(Request&)) {
  Request request;
  std::thread other([&] { answer(request); });
  how(request);
  other.join();
}

WEFT_SCENARIO(returned_variable_buggy,
              {.name = "memory/returned_variable.buggy",
               .summary = "a variable is written after its function has returned",
               .expect = weft::must_find("memory_error"),
               .budget = 100}) {
  ask_another(&ask_impatiently);
}

WEFT_SCENARIO(returned_variable_fixed, {.name = "memory/returned_variable.fixed",
                                        .summary = "the function waits for its answer",
                                        .expect = weft::must_pass(),
                                        .budget = 100}) {
  ask_another(&ask);
}

}  // namespace
