// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which atomic operations would have put a race's two accesses in order, had they been a release
// and an acquire. Only a replay asks that knows the two accesses (WorkerConfig::look_out): the
// later one first, then the earlier.
//
// Found are pairs of one write and one read. A chain through a third task is not followed.
#include "harness/engine/execution.h"
#include "harness/engine/memory_watch.h"

namespace weft::engine {

using model::MemoryOrder;

MemoryWatch::WeakWrite* MemoryWatch::find_weak_write(std::uintptr_t address) noexcept {
  for (WeakWrite* write = weak_writes_; write != nullptr; write = write->next) {
    if (write->address == address) return write;
  }
  return nullptr;
}

trace::WeakSide MemoryWatch::weak_side(const Task& self, const trace::Operation& operation,
                                       bool suffices) const noexcept {
  const InterceptionOff off;
  trace::WeakSide side;
  side.task = self.index;
  side.operation = operation.kind;
  side.order = operation.order;
  side.suffices = suffices;
  execution_.describe_own_stack(operation.pc, side.stack);
  return side;
}

void MemoryWatch::note_order(const Task& self, const trace::Operation& operation,
                             bool wrote) noexcept {
  const auto& [later, earlier, rest] = execution_.config().look_out;
  if (earlier.task == kNoTask) return;
  const bool by_later = self.id == later.task;
  const bool by_earlier = self.id == earlier.task && self.operation_index > earlier.operation;
  auto order = static_cast<MemoryOrder>(operation.order);
  if (operation.kind == trace::OpKind::kFence) {
    if (by_earlier && model::releases(order)) released_by_fence_ = true;
    if (by_later && model::acquires(order)) weak_pair_.read.suffices = true;
    return;
  }
  WeakWrite* write = find_weak_write(operation.address);
  const bool reads = operation.kind != trace::OpKind::kAtomicStore;
  if (by_later && reads && write != nullptr) {
    if (operation.kind == trace::OpKind::kAtomicCompareExchange && !wrote)
      order = static_cast<MemoryOrder>(operation.failure_order);
    weak_pair_ = {execution_.object_of(operation.address), write->side,
                  weak_side(self, operation, model::acquires(order))};
    weak_pair_.read.order = static_cast<std::uint8_t>(order);
  }
  if (!wrote) return;
  if (by_earlier) {
    // A read-modify-write goes on with the release sequence that is there.
    if (reads && write != nullptr && write->side.suffices) return;
    if (write == nullptr) {
      write = execution_.arena().make<WeakWrite>();
      write->next = weak_writes_;
      weak_writes_ = write;
    }
    write->address = operation.address;
    write->side = weak_side(self, operation, model::releases(order) || released_by_fence_);
  } else if (write != nullptr && !reads) {
    write->address = 0;
  }
}

}  // namespace weft::engine
