// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Order told by ThreadSanitizer's annotations.

#include <atomic>
#include <cassert>
#include <thread>

#include <weft/scenario.h>

extern "C" {
void __tsan_acquire(void* object);
void __tsan_release(void* object);
void AnnotateHappensBefore(const char* file, int line, const volatile void* object);
void AnnotateHappensAfter(const char* file, int line, const volatile void* object);
}

namespace {

template <typename Before, typename After>
void pass(Before before, After after) {
  std::atomic<bool> flag{false};
  int payload = 0;
  std::thread giver([&] {
    payload = 1;
    before(&flag);
    flag.store(true, std::memory_order_relaxed);
  });
  if (flag.load(std::memory_order_relaxed)) {
    after(&flag);
    assert(payload == 1);
  }
  giver.join();
}

WEFT_SCENARIO(annotated, {.name = "facilities/annotations.fixed",
                          .summary = "an order that annotations tell of is no race",
                          .expect = weft::must_pass(),
                          .budget = 200}) {
  pass([](void* flag) { __tsan_release(flag); }, [](void* flag) { __tsan_acquire(flag); });
}

WEFT_SCENARIO(annotated_old, {.name = "facilities/annotations_old.fixed",
                              .summary = "likewise by the older names",
                              .expect = weft::must_pass(),
                              .budget = 200}) {
  pass([](void* flag) { AnnotateHappensBefore(__FILE__, __LINE__, flag); },
       [](void* flag) { AnnotateHappensAfter(__FILE__, __LINE__, flag); });
}

WEFT_SCENARIO(unannotated, {.name = "facilities/annotations.buggy",
                            .summary = "the same without them is",
                            .expect = weft::must_find("data_race"),
                            .budget = 200}) {
  pass([](void*) {}, [](void*) {});
}

}  // namespace
