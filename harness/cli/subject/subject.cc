// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program under test for commands_test.cc: one scenario for each way in which
// an exploration can end. Built twice: WEFT_SUBJECT_REBUILT is the later build.

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include <weft/scenario.h>

namespace {

using weft::must_find;
using weft::must_pass;

void increment_twice(bool locked) {
  static int counter;
  static std::mutex mutex;
  counter = 0;
  const auto increment = [&] {
    const std::unique_lock lock = locked ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
    const int seen = counter;
    std::this_thread::yield();
    counter = seen + 1;
  };
  std::thread other(increment);
  increment();
  other.join();
  weft::always(counter == 2, "no update is lost");
}

}  // namespace

WEFT_SCENARIO(passes, {.name = "end/passes", .expect = must_pass(), .budget = 50}) {
  increment_twice(true);
}

WEFT_SCENARIO(always_fails, {.name = "end/always",
                             .summary = "an update is lost",
                             .expect = must_find("always"),
                             .budget = 200}) {
  std::puts("the subject says so");
  increment_twice(false);
}

WEFT_SCENARIO(wrongly_expected,
              {.name = "wrong/expects_deadlock", .expect = must_find("deadlock"), .budget = 200}) {
  increment_twice(false);
}

WEFT_SCENARIO(two_bugs, {.name = "end/two_bugs", .budget = 100}) {
  const std::uint64_t chosen = weft::choose(3);
  weft::always(chosen != 1, "one is not chosen");
  weft::always(chosen != 2, "two is not chosen");
}

WEFT_SCENARIO(marks, {.name = "end/marks", .budget = 50}) {
  const std::uint64_t chosen = weft::choose(3);
  weft::sometimes(chosen == 2, "two was chosen");
  weft::sometimes(chosen == 3, "three was chosen");
}

WEFT_SCENARIO(invariant_holds, {.name = "end/invariant_holds", .budget = 50}) {
  static std::atomic<int> steps;
  const auto most = std::make_shared<int>(2);
  weft::invariant([most] { return steps.load() <= *most; }, "no more than two steps");
  std::thread other([] { ++steps; });
  ++steps;
  other.join();
}

WEFT_SCENARIO(invariant_fails, {.name = "end/invariant", .budget = 200}) {
  static std::atomic<int> inside;
  inside = 0;
  weft::invariant([] { return inside.load() <= 1; }, "one at a time");
  const auto enter = [] {
    ++inside;
    std::this_thread::yield();
    --inside;
  };
  std::thread other(enter);
  enter();
  other.join();
}

WEFT_SCENARIO(sleeps, {.name = "end/sleeps", .budget = 1}) {
  std::this_thread::sleep_for(std::chrono::minutes(1));
  weft::always(false, "a minute has passed");
}

WEFT_SCENARIO(hangs, {.name = "end/hangs", .budget = 1}) {
  char byte = 0;
  (void)!::read(STDIN_FILENO, &byte, 1);
}

WEFT_SCENARIO(dies, {.name = "end/dies", .budget = 1}) { ::kill(::getpid(), SIGKILL); }

WEFT_SCENARIO(wants_too_much, {.name = "end/wants_too_much", .budget = 1}) {
  static void* volatile block;  // or the compiler would leave the allocation out
  block = ::operator new (std::size_t{2} << 30);
  ::operator delete(block);
}

WEFT_SCENARIO(chooses_from_nothing, {.name = "end/chooses_from_nothing", .budget = 1}) {
  (void)weft::choose(0);
}

// Looks at the world outside: the file grows from run to run.
WEFT_SCENARIO(differs, {.name = "end/differs", .budget = 20}) {
  std::FILE* file = std::fopen("runs", "a");
  std::fputc('x', file);
  const long runs = std::ftell(file);
  std::fclose(file);
  weft::always(runs != 5, "not the fifth run");
}

// The same test before and after somebody mended it, by doing without the thread, and built again.
WEFT_SCENARIO(rebuilt, {.name = "end/rebuilt", .budget = 500}) {
  static std::atomic<int> progress;
  progress = 0;
  const auto work = [] {
    progress = 1;
    progress = 2;
  };
#ifdef WEFT_SUBJECT_REBUILT
  work();
#else
  const std::jthread other(work);
#endif
  weft::always(progress != 1, "nobody sees it half done");
}

WEFT_SCENARIO(endless, {.name = "endless/yields", .budget = 1'000'000'000}) {
  for (int i = 0; i < 3; ++i) std::this_thread::yield();
}
