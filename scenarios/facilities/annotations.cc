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
void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();
void __tsan_mutex_pre_lock(void* object, unsigned flags);
void __tsan_mutex_post_lock(void* object, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void* object, unsigned flags);
void __tsan_mutex_post_unlock(void* object, unsigned flags);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
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

/// Two tasks write; one of them in a region that may be ignored.
template <typename Begin, typename End>
void write_in_a_region(Begin begin, End end, bool afterwards) {
  int shared = 0;
  std::thread other([&] {
    begin();
    begin();  // they nest
    end();
    shared = 1;
    end();
    if (afterwards) shared = 2;
  });
  shared = 3;
  other.join();
  assert(shared != 0);
}

void begin_writes() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
void end_writes() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }

WEFT_SCENARIO(ignored_accesses, {.name = "facilities/ignored_accesses.fixed",
                                 .summary = "no race is told of what a region says to ignore",
                                 .expect = weft::must_pass(),
                                 .budget = 200}) {
  switch (weft::choose(3)) {
    case 0: return write_in_a_region(begin_writes, end_writes, false);
    case 1:
      // ThreadSanitizer's regions for reads ignore writes as well.
      return write_in_a_region([] { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); },
                               [] { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }, false);
    default: return write_in_a_region(__tsan_ignore_thread_begin, __tsan_ignore_thread_end, false);
  }
}

WEFT_SCENARIO(ignored_accesses_end, {.name = "facilities/ignored_accesses.buggy",
                                     .summary = "behind the region's end it is told",
                                     .expect = weft::must_find("data_race"),
                                     .budget = 200}) {
  write_in_a_region(begin_writes, end_writes, true);
}

/// An order that a flag makes, unless it is to be ignored.
void pass_by_flag(bool ignored) {
  std::atomic<bool> flag{false};
  int payload = 0;
  std::thread giver([&] {
    payload = 1;
    if (ignored) AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    flag = true;
    if (ignored) AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  });
  if (flag) assert(payload == 1);
  giver.join();
}

WEFT_SCENARIO(ignored_order_buggy, {.name = "facilities/ignored_order.buggy",
                                    .summary = "what synchronises in such a region orders nothing",
                                    .expect = weft::must_find("data_race"),
                                    .budget = 200}) {
  pass_by_flag(true);
}

WEFT_SCENARIO(ignored_order_fixed, {.name = "facilities/ignored_order.fixed",
                                    .summary = "and outside of it does",
                                    .expect = weft::must_pass(),
                                    .budget = 200}) {
  pass_by_flag(false);
}

/// A lock of one's own, annotated. Its words are touched in ways that would race, and by relaxed
/// operations: nobody looks inside.
class AnnotatedLock {
 public:
  void lock() {
    __tsan_mutex_pre_lock(this, 0);
    while (taken_.exchange(true, std::memory_order_relaxed)) std::this_thread::yield();
    times_ = times_ + 1;
    __tsan_mutex_post_lock(this, 0, 0);
  }
  void unlock() {
    __tsan_mutex_pre_unlock(this, 0);
    times_ = times_ + 1;
    taken_.store(false, std::memory_order_relaxed);
    __tsan_mutex_post_unlock(this, 0);
  }

 private:
  std::atomic<bool> taken_{false};
  int times_ = 0;
};

WEFT_SCENARIO(annotated_lock, {.name = "facilities/annotated_lock.fixed",
                               .summary = "a lock is what its annotations say, whatever is inside",
                               .expect = weft::must_pass(),
                               .budget = 200}) {
  AnnotatedLock lock;
  int counter = 0;
  const auto count = [&] {
    lock.lock();
    ++counter;
    lock.unlock();
  };
  std::thread other(count);
  count();
  other.join();
  assert(counter == 2);
}

}  // namespace
