// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keeps what happened: the events of a recorded replay, and the hash by which
// two executions are compared across processes, executors and address layouts.
#pragma once

#include "harness/base/flat_map.h"
#include "harness/engine/execution.h"
#include "harness/engine/observer.h"

namespace weft::engine {

class Recorder final : public Observer {
 public:
  /// `keep_events`: fill channel.events and channel.stacks; otherwise only hash.
  Recorder(Execution& execution, bool keep_events) noexcept
      : execution_(execution), keep_events_(keep_events) {}

  void execution_began() noexcept override;
  void announced(Task& task) noexcept override;
  void step(const StepView& view) noexcept override;
  void yielded(const Task& task, std::uint64_t value) noexcept override;
  void execution_ended() noexcept override;

 private:
  [[nodiscard]] std::uint32_t intern_stack(const std::uintptr_t* frames,
                                           std::size_t count) noexcept;

  Execution& execution_;
  const bool keep_events_;
  std::uint64_t hash_ = 0;
  FlatMap<std::uint32_t> stacks_{1024};      // hash of the frames -> index
  FlatMap<std::uint64_t> latest_event_{64};  // task index -> event index + 1
};

}  // namespace weft::engine
