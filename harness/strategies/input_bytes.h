// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A schedule read from bytes that somebody else invents: a fuzzer's input.
//
// The input is pairs (gap, choice): `gap` schedule points go the default way, and at the next one
// `choice`, modulo the number of other enabled tasks, is who goes on. So a preemption is two bytes,
// and a mutation of one of them moves it, or gives it to another task. When the bytes have run out
// all goes the default way: the empty input is the default schedule.
//
// Plain accesses count within one stretch of a task between points of other kinds. Other choices
// read a byte each (numbers from outside, eight), and are candidate 0 when there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/engine/strategy.h"

namespace weft::strategies {

class InputBytes final : public engine::Strategy {
 public:
  /// For the next execution; read while it runs, and not copied.
  void feed(std::span<const std::uint8_t> input) noexcept { rest_ = input; }

  [[nodiscard]] std::string_view name() const noexcept override { return "input"; }
  engine::Next next_execution(std::uint64_t execution, std::uint64_t seed) noexcept override;
  std::size_t pick(const engine::Decision& decision) noexcept override;
  std::uint64_t choose(const engine::Choice& choice) noexcept override;
  std::uint64_t executed(TaskIndex task, const trace::Operation& operation,
                         std::uint64_t operation_index, StepIndex step) noexcept override;

 private:
  [[nodiscard]] std::uint8_t read() noexcept;
  void read_gap() noexcept;

  std::span<const std::uint8_t> rest_;
  std::uint64_t gap_ = trace::kNever;  // points until the next choice; kNever: there is none
};

}  // namespace weft::strategies
