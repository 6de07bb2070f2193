// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/choice_log.h"

#include <algorithm>
#include <cstring>

namespace weft::trace {

bool ChoiceLog::spill(std::uint64_t position) noexcept {
  const std::size_t block_bytes = std::size_t{1} << block_bits_;
  const std::uint64_t block = position >> block_bits_;
  const unsigned char* const full = blocks_[block % 2];
  if (!write_at(place_, full, block_bytes, block << block_bits_)) return false;
  std::memcpy(blocks_[(block + 1) % 2], full + block_bytes, kMaxChoiceBytes);
  return true;
}

std::string ChoiceLog::bytes() const {
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

}  // namespace weft::trace
