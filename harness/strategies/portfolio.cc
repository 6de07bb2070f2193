// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/portfolio.h"

#include <initializer_list>

#include "harness/base/check.h"

namespace weft::strategies {

Sampler& Portfolio::choose_member(std::uint64_t execution) noexcept {
  if (execution <= RoundRobin::kFixedSchedules) return round_robin_;
  // Half POS, a third PCT; any stride coprime to 12 meets all slots, others meet at least two
  // kinds.
  switch (execution % 12) {
    case 0:
    case 2:
    case 4:
    case 6:
    case 7:
    case 9: return pos_;
    case 1: pct_.set_depth(2); return pct_;
    case 5:
    case 8: pct_.set_depth(3); return pct_;
    case 10: pct_.set_depth(5); return pct_;
    case 3: return random_;
    case 11: return round_robin_;
  }
  WEFT_UNREACHABLE("a remainder outside its range");
}

engine::Next Portfolio::next_execution(std::uint64_t execution, std::uint64_t seed) noexcept {
  active_ = &choose_member(execution);
  return active_->next_execution(execution, seed);
}

void Portfolio::execution_ended(StepIndex steps) noexcept {
  active_->execution_ended(steps);
  for (Sampler* member : std::initializer_list<Sampler*>{&round_robin_, &pos_, &pct_, &random_}) {
    if (member != active_) member->learn(active_->operations());
  }
}

// What one has learnt, all have.
std::size_t Portfolio::save(unsigned char* buffer, std::size_t capacity) const noexcept {
  return active_->save(buffer, capacity);
}

bool Portfolio::load(const unsigned char* buffer, std::size_t size) noexcept {
  return round_robin_.load(buffer, size) && pos_.load(buffer, size) && pct_.load(buffer, size) &&
         random_.load(buffer, size);
}

}  // namespace weft::strategies
