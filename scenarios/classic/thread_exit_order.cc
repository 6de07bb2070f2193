// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each thread collects log lines in a thread_local buffer, whose destructor hands
// them to the log at the thread's end. The buggy program waits until the worker
// says that it is done, which is before its end, and deletes the log.

#include <atomic>
#include <cassert>
#include <latch>
#include <memory>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Log {
  std::atomic<int> lines{0};
};

class LineBuffer {
 public:
  void write_to(Log* log) {
    log_ = log;
    ++lines_;
  }
  ~LineBuffer() {
    if (log_ != nullptr) log_->lines += lines_;
  }

 private:
  Log* log_ = nullptr;
  int lines_ = 0;
};
thread_local LineBuffer lines;

WEFT_SCENARIO(thread_exit_order_buggy,
              {.name = "classic/thread_exit_order.buggy",
               .summary = "a thread_local destructor uses what the main thread deleted",
               .expect = weft::must_find("data_race", "use_after_free"),
               .budget = 500}) {
  auto log = std::make_unique<Log>();
  std::latch done(1);
  std::thread worker([&done, log = log.get()] {
    lines.write_to(log);
    done.count_down();
  });
  done.wait();
  log.reset();
  worker.join();
}

WEFT_SCENARIO(thread_exit_order_fixed, {.name = "classic/thread_exit_order.fixed",
                                        .summary = "a joined thread's destructors have run",
                                        .expect = weft::must_pass(),
                                        .budget = 500}) {
  auto log = std::make_unique<Log>();
  std::thread worker([log = log.get()] { lines.write_to(log); });
  worker.join();
  assert(log->lines == 1);
  log.reset();
}

}  // namespace
