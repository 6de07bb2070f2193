// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What follows from an atomic operation, whichever way the compiler hands it over.
#pragma once

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// What `op` orders, now that it is known whether it wrote.
inline void settle_order(Task& self, const Operation& op, bool wrote) noexcept {
  model::HappensBefore& ordering = self.execution->ordering();
  const auto success = static_cast<model::MemoryOrder>(op.order);
  if (op.kind == OpKind::kAtomicLoad) return ordering.load(self.index, op.address, success);
  if (op.kind == OpKind::kAtomicStore) {
    return ordering.store(self.index, self.operation_index, op.address, success);
  }
  if (wrote) {
    return ordering.read_modify_write(self.index, self.operation_index, op.address, success);
  }
  ordering.load(self.index, op.address, static_cast<model::MemoryOrder>(op.failure_order));
}

[[nodiscard]] constexpr trace::AccessKind atomic_access(bool wrote) noexcept {
  return wrote ? trace::AccessKind::kAtomicWrite : trace::AccessKind::kAtomicRead;
}

/// settle_atomic() where the memory is not only its own.
[[gnu::noinline]] inline void settle_contended(Task& self, std::size_t size, bool wrote) noexcept {
  if (self.order_ignored != 0) return;
  const Operation& op = self.pending;
  engine::MemoryWatch& memory = self.execution->memory();
  // First: what the operation acquires comes before the operation itself, too.
  settle_order(self, op, wrote);
  memory.ordered(self, op, wrote);
  memory.accessed(self, atomic_access(wrote), op.address, size, op.pc);
}

/// `self` has just performed its pending operation, whose kind is `kind`, on `size` bytes.
/// `changed`: it may have left another value there.
[[gnu::always_inline]] inline void settle_atomic(Task& self, OpKind kind, std::size_t size,
                                                 bool wrote, bool changed) noexcept {
  const Operation& op = self.pending;
  engine::Execution& execution = *self.execution;
  if (wrote && size == sizeof self.wrote) {
    self.wrote_at = op.address;
    self.wrote = *reinterpret_cast<const volatile std::uint32_t*>(op.address);
  }
  // Where only `self` has been there, nothing that the operation acquires matters to a race.
  if (self.order_ignored == 0 &&
      execution.memory().passes_atomic(self, atomic_access(wrote), op.address, size, op.pc)) {
    const auto order = static_cast<model::MemoryOrder>(op.order);
    const bool settled =
        wrote ? execution.ordering().renews(self.index, self.operation_index, op.address, order)
              : kind == OpKind::kAtomicLoad &&
                    execution.ordering().knows(self.index, op.address, order);
    if (!settled) settle_order(self, op, wrote);
  } else {
    settle_contended(self, size, wrote);
  }
  if (changed) execution.progress().changed();
}

}  // namespace weft::intercept
