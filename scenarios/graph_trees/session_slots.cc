// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// docs/cases.md 4: a session keeps a slot for each thread that runs its graph. The buggy one makes
// a slot for the thread that creates the session and for no other; which thread runs the graph is
// up to who comes first.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Slot {
  int runs = 0;
};

class Session {
 public:
  explicit Session(bool lazy) : lazy_(lazy) {
    slots_[std::this_thread::get_id()] = std::make_unique<Slot>();
  }

  void run() { ++slot()->runs; }

 private:
  Slot* slot() {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Slot>& mine = slots_[std::this_thread::get_id()];
    if (mine == nullptr && lazy_) mine = std::make_unique<Slot>();
    return mine.get();
  }

  const bool lazy_;
  std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<Slot>> slots_;
};

void serve_two_requests(bool lazy) {
  Session session(lazy);
  std::atomic<int> requests{2};
  const auto serve = [&] {
    while (requests.fetch_sub(1) > 0) session.run();
  };
  std::thread worker(serve);
  serve();
  worker.join();
}

WEFT_SCENARIO(session_slots_buggy,
              {.name = "graph_trees/session_slots.buggy",
               .summary = "a session has a slot for the thread that created it alone",
               .expect = weft::must_find("fatal_signal"),
               .budget = 500}) {
  serve_two_requests(false);
}

WEFT_SCENARIO(session_slots_fixed, {.name = "graph_trees/session_slots.fixed",
                                    .summary = "a thread's slot is made when it first runs",
                                    .expect = weft::must_pass(),
                                    .budget = 500}) {
  serve_two_requests(true);
}

}  // namespace
