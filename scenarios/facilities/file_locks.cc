// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The lock of a FILE: recursive, and held over several calls.

#include <cassert>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

/// A FILE in memory.
class Page {
 public:
  Page() : file_(fmemopen(text_, sizeof text_, "w")) { assert(file_ != nullptr); }
  ~Page() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  [[nodiscard]] FILE* file() const { return file_; }
  /// What was written, at the end.
  const char* text() {
    std::fclose(file_);
    file_ = nullptr;
    return text_;
  }

 private:
  char text_[64] = {};
  FILE* file_;
};

WEFT_SCENARIO(file_lock, {.name = "facilities/file_lock",
                          .summary = "two threads print their lines whole",
                          .expect = weft::must_pass(),
                          .budget = 300}) {
  Page page;
  FILE* const file = page.file();
  const auto print = [file](const char* words) {
    flockfile(file);
    std::fputs(words, file);
    std::this_thread::yield();
    flockfile(file);
    std::fputs(words, file);
    funlockfile(file);
    std::fputs("\n", file);
    funlockfile(file);
  };
  std::thread other(print, "b");
  print("a");
  other.join();
  const char* const text = page.text();
  assert(std::strcmp(text, "aa\nbb\n") == 0 || std::strcmp(text, "bb\naa\n") == 0);
}

WEFT_SCENARIO(file_lock_of_stdout, {.name = "facilities/file_lock_of_stdout",
                                    .summary = "two threads hold stdout in turn",
                                    .expect = weft::must_pass(),
                                    .budget = 100}) {
  const auto print = [] {
    flockfile(stdout);
    std::this_thread::yield();
    std::fputs("", stdout);
    funlockfile(stdout);
  };
  std::thread other(print);
  print();
  other.join();
}

WEFT_SCENARIO(file_lock_tried, {.name = "facilities/file_lock_tried",
                                .summary = "a try fails while another thread holds the FILE",
                                .expect = weft::must_pass(),
                                .budget = 300}) {
  std::thread other([] {
    flockfile(stdout);
    std::this_thread::yield();
    funlockfile(stdout);
  });
  const bool mine = ftrylockfile(stdout) == 0;
  weft::sometimes(mine, "got it");
  weft::sometimes(!mine, "did not get it");
  if (mine) {
    assert(ftrylockfile(stdout) == 0);
    std::thread([] { assert(ftrylockfile(stdout) != 0); }).join();
    funlockfile(stdout);
    funlockfile(stdout);
  }
  other.join();
}

/// What it locked is free again in the next execution.
WEFT_SCENARIO(file_lock_left, {.name = "facilities/file_lock_left",
                               .summary = "a thread that is dropped still holds a FILE",
                               .expect = weft::must_pass(),
                               .budget = 50}) {
  static std::mutex forever;
  forever.lock();
  std::thread([] {
    flockfile(stdout);
    flockfile(stdout);
    forever.lock();
  }).detach();
  if (ftrylockfile(stdout) == 0) funlockfile(stdout);
}

WEFT_SCENARIO(file_closed, {.name = "facilities/file_closed",
                            .summary = "a FILE takes its lock along; the next one is free",
                            .expect = weft::must_pass(),
                            .budget = 50}) {
  for (int round = 0; round < 2; ++round) {
    Page page;
    flockfile(page.file());
    page.text();
    Page next;
    std::thread other([&] {
      flockfile(next.file());
      funlockfile(next.file());
    });
    other.join();
  }
}

/// Two locks in two orders.
void print_under(std::mutex& mutex, bool in_order) {
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    flockfile(stdout);
    funlockfile(stdout);
  });
  if (in_order) mutex.lock();
  flockfile(stdout);
  if (!in_order) mutex.lock();
  mutex.unlock();
  funlockfile(stdout);
  other.join();
}

WEFT_SCENARIO(file_lock_order_buggy, {.name = "facilities/file_lock_order.buggy",
                                      .summary = "a FILE and a mutex are locked in either order",
                                      .expect = weft::must_find("deadlock"),
                                      .budget = 100}) {
  std::mutex mutex;
  print_under(mutex, false);
}

WEFT_SCENARIO(file_lock_order_fixed, {.name = "facilities/file_lock_order.fixed",
                                      .summary = "a FILE and a mutex are locked in one order",
                                      .expect = weft::must_pass(),
                                      .budget = 300}) {
  std::mutex mutex;
  print_under(mutex, true);
}

WEFT_SCENARIO(file_lock_of_another, {.name = "facilities/lock_misuse.file_of_another",
                                     .summary = "a thread unlocks a FILE that another one holds",
                                     .expect = weft::must_find("lock_misuse"),
                                     .budget = 10}) {
  flockfile(stdout);
  std::thread([] { funlockfile(stdout); }).join();
}

}  // namespace
