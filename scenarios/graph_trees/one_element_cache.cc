// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The latest function and its recorded graph, in a cache of one element.
//
// recorded_twice: the look and the entry are locked one by one; two threads that
// both find nothing record the same function twice.
// half_record: the entry names its function before the graph is in it, and who
// finds the name replays what is there.

#include <atomic>
#include <cassert>
#include <mutex>
#include <optional>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Graph {
  int nodes = 0;
  int edges = 0;
};

class Recorder {
 public:
  Graph record(int function) {
    assert(recordings_.fetch_add(1) == 0);  // there is one function in these stories
    return {function, function - 1};
  }

 private:
  std::atomic<int> recordings_{0};
};

class Cache {
 public:
  void run_in_two_steps(int function) {
    std::optional<Graph> graph = look_up(function);
    if (!graph) enter(function, recorder_.record(function));
  }
  void run(int function) {
    const std::lock_guard lock(mutex_);
    if (function_ == function) return replay();
    graph_ = recorder_.record(function);
    function_ = function;
  }
  void run_and_enter_early(int function) {
    if (function_.load() == function) return replay();
    const std::lock_guard lock(mutex_);
    if (function_.exchange(function) == function) return replay();
    graph_ = recorder_.record(function);
  }

 private:
  void replay() const { assert(graph_.edges == graph_.nodes - 1); }
  std::optional<Graph> look_up(int function) {
    const std::lock_guard lock(mutex_);
    if (function_ != function) return std::nullopt;
    return graph_;
  }
  void enter(int function, const Graph& graph) {
    const std::lock_guard lock(mutex_);
    graph_ = graph;
    function_ = function;
  }

  std::mutex mutex_;
  std::atomic<int> function_{0};
  Graph graph_;
  Recorder recorder_;
};

void run_by_two(void (Cache::*run)(int)) {
  constexpr int kForward = 7;
  Cache cache;
  std::thread other([&] { (cache.*run)(kForward); });
  (cache.*run)(kForward);
  other.join();
}

WEFT_SCENARIO(recorded_twice_buggy, {.name = "graph_trees/recorded_twice.buggy",
                                     .summary = "two threads find the cache empty",
                                     .expect = weft::must_find("assertion"),
                                     .budget = 500}) {
  run_by_two(&Cache::run_in_two_steps);
}

WEFT_SCENARIO(half_record_buggy, {.name = "graph_trees/half_record.buggy",
                                  .summary = "a cache entry is found before it is complete",
                                  .expect = weft::must_find("data_race"),
                                  .budget = 500}) {
  run_by_two(&Cache::run_and_enter_early);
}

WEFT_SCENARIO(one_element_cache_fixed, {.name = "graph_trees/one_element_cache.fixed",
                                        .summary = "looked up, recorded and entered as one",
                                        .expect = weft::must_pass(),
                                        .budget = 500}) {
  run_by_two(&Cache::run);
}

}  // namespace
