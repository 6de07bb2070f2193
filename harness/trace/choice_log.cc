// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/choice_log.h"

#include <algorithm>
#include <cstring>

#include "harness/trace/deviation_log.h"

namespace weft::trace {

bool ChoiceLog::encode_latest(std::uint64_t count) noexcept {
  if (count == kMaxDeviations) return false;
  if (count == kLatest) prediction_ = {};
  for (std::uint64_t i = 0; i < kLatest; ++i) {
    latest_[i].has_digest = carries_digest(count - kLatest + i);
    if (!encode(latest_[i])) return false;
  }
  return true;
}

bool ChoiceLog::encode(const Deviation& deviation) noexcept {
  const std::uint64_t state = state_.load(std::memory_order_relaxed);
  std::uint64_t position = state >> kRunBits;
  auto run = static_cast<std::uint32_t>(state & kRunMask);
  const std::uint64_t in_block = position & ((std::uint64_t{1} << block_bits_) - 1);
  unsigned char* const begin = blocks_[position >> block_bits_ & 1] + in_block;
  const unsigned char* const end = put_choice(begin, prediction_, run, deviation);
  const auto size = static_cast<std::size_t>(end - begin);
  if (in_block + size >= std::uint64_t{1} << block_bits_ && !spill(position)) return false;
  position += size;
  state_.store(position << kRunBits | run, std::memory_order_release);
  return true;
}

bool ChoiceLog::spill(std::uint64_t position) noexcept {
  const std::size_t block_bytes = std::size_t{1} << block_bits_;
  const std::uint64_t block = position >> block_bits_;
  const unsigned char* const full = blocks_[block % 2];
  if (!write_at(place_, full, block_bytes, block << block_bits_)) return false;
  std::memcpy(blocks_[(block + 1) % 2], full + block_bytes, kMaxChoiceBytes);
  return true;
}

std::string ChoiceLog::encoded_bytes() const {
  const std::uint64_t state = state_.load(std::memory_order_acquire);
  const std::uint64_t position = state >> kRunBits;
  const auto run = static_cast<std::uint32_t>(state & kRunMask);
  const std::size_t block_bytes = std::size_t{1}
                                  << std::min<unsigned>(block_bits_, std::countr_zero(kBlockBytes));
  const std::uint64_t in_file = position / block_bytes * block_bytes;
  // By blocks, so that a position that is a lie reserves no memory.
  std::string all;
  while (all.size() < in_file) {
    const std::size_t begin = all.size();
    all.resize(begin + block_bytes);
    const std::size_t got = read_at(place_, all.data() + begin, block_bytes, begin);
    if (got == block_bytes) continue;
    all.resize(begin + got);
    return all;
  }
  const unsigned char* const block = blocks_[position / block_bytes % 2];
  all.append(reinterpret_cast<const char*>(block), position % block_bytes);
  if (run != 0) {
    unsigned char last[kMaxChoiceBytes];
    const unsigned char* const end = put_choice_run(last, run);
    all.append(reinterpret_cast<const char*>(last), static_cast<std::size_t>(end - last));
  }
  return all;
}

std::string ChoiceLog::bytes(std::span<const TaskRow> tasks) const {
  const std::uint64_t count = count_.load(std::memory_order_acquire);
  const std::string encoded = encoded_bytes();
  // The encoded ones first, from which the others are predicted.
  DeviationLog all;
  ChoiceReader in(encoded, tasks);
  for (Deviation deviation; in.next(deviation);) all.push_back(deviation);
  if (in.error() != nullptr || count < all.size() || count - all.size() > kLatest) return encoded;
  while (all.size() < count) {
    Deviation deviation = latest_[all.size() % kLatest];
    if (deviation.task_index >= tasks.size() || deviation.kind >= ChoiceKind::kCount ||
        (chooses_task(deviation.kind) && deviation.value_index >= tasks.size()))
      break;
    deviation.has_digest = carries_digest(all.size());
    all.push_back(deviation);
  }
  return all.bytes();
}

}  // namespace weft::trace
