// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/input_bytes.h"

namespace weft::strategies {

std::uint8_t InputBytes::read() noexcept {
  if (rest_.empty()) return 0;
  const std::uint8_t byte = rest_.front();
  rest_ = rest_.subspan(1);
  return byte;
}

void InputBytes::read_gap() noexcept {
  // A gap without its choice says nothing.
  gap_ = rest_.size() < 2 ? trace::kNever : read();
}

engine::Next InputBytes::next_execution(std::uint64_t, std::uint64_t) noexcept {
  read_gap();
  return engine::Next::kGo;
}

std::size_t InputBytes::pick(const engine::Decision& decision) noexcept {
  if (gap_ == trace::kNever) return decision.fallback;
  const bool has_come =
      gap_ == 0 || (decision.current != engine::Decision::kNone &&
                    trace::is_plain(decision.enabled[decision.current].operation->kind));
  if (!has_come) {
    --gap_;
    return decision.fallback;
  }
  const std::size_t other = read() % (decision.enabled.size() - 1);
  read_gap();
  return other < decision.fallback ? other : other + 1;
}

std::uint64_t InputBytes::choose(const engine::Choice& choice) noexcept {
  if (choice.count != 0) return read() % choice.count;
  std::uint64_t number = 0;
  for (unsigned i = 0; i < sizeof number; ++i) number = number << 8 | read();
  return number;
}

std::uint64_t InputBytes::executed(TaskIndex, const trace::Operation&, std::uint64_t,
                                   StepIndex) noexcept {
  return gap_ == trace::kNever ? trace::kNever : gap_ + 1;
}

}  // namespace weft::strategies
