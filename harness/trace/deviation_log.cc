// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/deviation_log.h"

#include "harness/base/check.h"

namespace weft::trace {

bool ChoiceReader::read_item(Deviation& deviation, std::uint64_t& distance) {
  const std::uint64_t head = in_.varint();
  const std::uint64_t rest = head >> kChoiceHeadBits;
  deviation.has_digest = (head & kChoiceHasDigest) != 0;
  std::uint64_t value = 0;
  bool has_value = false;
  switch (static_cast<ChoiceForm>(head >> 1 & 3)) {
    case ChoiceForm::kRun:
      if (!in_.ok()) return fail("it is cut short");
      if (rest >= kMaxDeviations) return fail("more follow than a token may hold");
      run_ = rest + 1;
      run_has_digest_ = deviation.has_digest;
      return true;
    case ChoiceForm::kOther: has_value = true; [[fallthrough]];
    case ChoiceForm::kLater:
      distance = rest;
      deviation.task_index = next_;
      break;
    case ChoiceForm::kFull: {
      const std::uint64_t kind = rest & (kChoiceHasNth - 1);
      if (kind >= static_cast<std::uint64_t>(ChoiceKind::kCount))
        return fail("its kind is unknown");
      deviation.kind = static_cast<ChoiceKind>(kind);
      const std::uint64_t task = rest >> (kChoiceKindBits + 1);
      if (task >= tasks_.size()) return fail("it names a task that is not listed");
      deviation.task_index = static_cast<TaskIndex>(task);
      distance = in_.varint();
      if ((rest & kChoiceHasNth) != 0) {
        deviation.nth = static_cast<std::uint16_t>(in_.varint_up_to(UINT16_MAX));
        if (deviation.nth == 0) return fail("its ordinal is malformed");
      }
      value = in_.varint();
      break;
    }
  }
  if (has_value) value = in_.varint();
  if (deviation.has_digest) deviation.digest = in_.fixed16();
  if (!in_.ok()) return fail("it is cut short");
  if (deviation.task_index >= tasks_.size()) return fail("it names a task that is not listed");
  const ChoicePrediction::Task& last = last_[deviation.task_index];
  if ((head >> 1 & 3) != static_cast<std::uint64_t>(ChoiceForm::kFull)) {
    deviation.kind = last.kind;
    if (!has_value) value = last.value;
  }
  deviation.value = value;
  return true;
}

bool ChoiceReader::next(Deviation& deviation) {
  if (error_ != nullptr || (run_ == 0 && in_.at_end())) return false;
  if (position_ == kMaxDeviations) return fail("more follow than a token may hold");
  deviation = Deviation{};
  std::uint64_t distance = 0;
  if (run_ == 0 && !read_item(deviation, distance)) return false;
  if (run_ != 0) {
    --run_;
    if (next_ >= tasks_.size()) return fail("it names a task that is not listed");
    const ChoicePrediction::Task& last = last_[next_];
    deviation.task_index = next_;
    deviation.kind = last.kind;
    deviation.value = last.value;
    deviation.has_digest = run_ == 0 && run_has_digest_;
    distance = last.distance;
    if (deviation.has_digest) deviation.digest = in_.fixed16();
    if (!in_.ok()) return fail("it is cut short");
  }
  ChoicePrediction::Task& last = last_[deviation.task_index];
  if (last.operation + distance < distance) return fail("its operation precedes the one before");
  deviation.operation = last.operation + distance;
  deviation.task = tasks_[deviation.task_index].id;
  last = {deviation.operation, distance, deviation.value, deviation.kind};
  next_ = deviation.task_index;
  if (chooses_task(deviation.kind)) {
    if (deviation.value >= tasks_.size()) return fail("it chooses a task that is not listed");
    deviation.value_index = static_cast<TaskIndex>(deviation.value);
    deviation.value = tasks_[deviation.value_index].id.value;
    if (deviation.kind == ChoiceKind::kSchedule) next_ = deviation.value_index;
  }
  ++position_;
  return true;
}

void DeviationLog::push_back(const Deviation& deviation) {
  WEFT_CHECK(deviation.task_index < kMaxTasks &&
                 (!chooses_task(deviation.kind) || deviation.value_index < kMaxTasks),
             "a deviation of no task");
  if (prediction_.empty()) prediction_.resize(1);
  unsigned char bytes[kMaxChoiceBytes];
  const unsigned char* const end = put_choice(bytes, prediction_.front(), run_, deviation);
  written_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes));
  ++count_;
}

std::string DeviationLog::bytes() const {
  std::string all = written_;
  if (run_ != 0) {
    unsigned char bytes[kMaxChoiceBytes];
    const unsigned char* const end = put_choice_run(bytes, run_);
    all.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes));
  }
  return all;
}

std::vector<Deviation> DeviationLog::expanded(std::span<const TaskRow> tasks) const {
  std::vector<Deviation> all;
  all.reserve(count_);
  for_each(tasks, [&](const Deviation& deviation) { all.push_back(deviation); });
  return all;
}

}  // namespace weft::trace
