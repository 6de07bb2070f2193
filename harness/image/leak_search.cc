// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/leak_search.h"

#include <cstring>

#include "harness/base/mapping.h"

namespace weft::image {

LeakSearch::LeakSearch(const SubjectHeap& heap) noexcept : heap_(heap) {
  // What lived before the execution is the harness's and the program's business, and a root.
  heap_.baseline_blocks(
      [&](const BlockView& block) { scan(block.address, block.address + block.record->size); });
}

void LeakSearch::scan(const void* begin, const void* end) noexcept {
  look_at(static_cast<const std::byte*>(begin), static_cast<const std::byte*>(end));
  while (!waiting_.empty()) {
    const BlockView block = waiting_[waiting_.size() - 1];
    waiting_.pop_back();
    look_at(block.address, block.address + block.record->size);
  }
}

void LeakSearch::look_at(const std::byte* begin, const std::byte* end) noexcept {
  constexpr std::size_t kWord = sizeof(std::uintptr_t);
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(begin) % kWord;
  if (skew != 0) begin += kWord - skew;
  for (; begin < end && static_cast<std::size_t>(end - begin) >= kWord; begin += kWord) {
    std::uintptr_t word;
    std::memcpy(&word, begin, kWord);
    if (heap_.owns(reinterpret_cast<const void*>(word))) reach(word);
  }
}

void LeakSearch::reach(std::uintptr_t word) noexcept {
  const BlockView block = heap_.find(reinterpret_cast<const void*>(word));
  if (!block || block.record->state != BlockState::kLive || block.record->baseline) return;
  if (!reached_.try_insert(reinterpret_cast<std::uintptr_t>(block.address), 1).second) return;
  waiting_.push_back(block);
}

}  // namespace weft::image
