// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What follows from an atomic operation, whichever way the compiler hands it over.
#pragma once

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// What `op` orders, now that it is known whether it wrote.
[[gnu::always_inline]] inline void settle_order(Task& self, const Operation& op, bool wrote) noexcept {
  model::HappensBefore& ordering = self.execution->ordering();
  const auto success = static_cast<model::MemoryOrder>(op.order);
  if (wrote && ordering.renews(self.index, self.operation_index, op.address, success)) return;
  if (op.kind == OpKind::kAtomicLoad) return ordering.load(self.index, op.address, success);
  if (op.kind == OpKind::kAtomicStore) {
    return ordering.store(self.index, self.operation_index, op.address, success);
  }
  if (wrote) {
    return ordering.read_modify_write(self.index, self.operation_index, op.address, success);
  }
  ordering.load(self.index, op.address, static_cast<model::MemoryOrder>(op.failure_order));
}

/// `self` has just performed its pending operation on `size` bytes. `changed`: it may have left
/// another value there.
inline void settle_atomic(Task& self, std::size_t size, bool wrote, bool changed) noexcept {
  const Operation& op = self.pending;
  if (wrote && size == sizeof self.wrote) {
    self.wrote_at = op.address;
    self.wrote = *reinterpret_cast<const volatile std::uint32_t*>(op.address);
  }
  if (self.order_ignored != 0) {
    if (changed) self.execution->progress().changed();
    return;
  }
  // First: what the operation acquires comes before the operation itself, too.
  settle_order(self, op, wrote);
  engine::MemoryWatch& memory = self.execution->memory();
  memory.ordered(self, op, wrote);
  const auto kind = wrote ? trace::AccessKind::kAtomicWrite : trace::AccessKind::kAtomicRead;
  if (!memory.passes_atomic(self, kind, op.address, size, op.pc))
    memory.accessed(self, kind, op.address, size, op.pc);
  if (changed) self.execution->progress().changed();
}

}  // namespace weft::intercept
