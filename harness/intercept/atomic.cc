// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Atomic operations, as the compiler reports them: each is a schedule point and
// then passes the memory model, which decides the value.
//
// A weak compare-exchange has a callback of its own that only g++ calls; clang reports both kinds
// by compare_exchange_val, and neither tells libatomic (libatomic.cc) which it wants.
#include "harness/base/address_sanitizer.h"
#include "harness/intercept/atomic_effects.h"
#include "harness/intercept/interpose.h"
#include "harness/model/memory.h"

namespace weft::intercept {
namespace {

using model::AtomicKind;

constexpr OpKind op_kind(AtomicKind kind) {
  switch (kind) {
    case AtomicKind::kLoad: return OpKind::kAtomicLoad;
    case AtomicKind::kStore: return OpKind::kAtomicStore;
    case AtomicKind::kExchange: return OpKind::kAtomicExchange;
    case AtomicKind::kFetchAdd: return OpKind::kAtomicFetchAdd;
    case AtomicKind::kFetchSub: return OpKind::kAtomicFetchSub;
    case AtomicKind::kFetchAnd: return OpKind::kAtomicFetchAnd;
    case AtomicKind::kFetchOr: return OpKind::kAtomicFetchOr;
    case AtomicKind::kFetchXor: return OpKind::kAtomicFetchXor;
    case AtomicKind::kFetchNand: return OpKind::kAtomicFetchNand;
    case AtomicKind::kCompareExchange: return OpKind::kAtomicCompareExchange;
  }
  __builtin_unreachable();
}

template <typename Word>
[[gnu::always_inline]] inline void announce_atomic(Task& self,
                                                   const model::AtomicOperation<Word>& op,
                                                   std::uintptr_t pc) noexcept {
  Operation announced = operation_on(op_kind(op.kind), op.address, pc);
  announced.width = sizeof(Word);
  announced.order = static_cast<std::uint8_t>(op.order);
  announced.failure_order = static_cast<std::uint8_t>(op.failure_order);
  announced.argument = static_cast<std::uint64_t>(op.operand);
  announce(self, announced);
  asan::check_access(op.address, sizeof(Word), op.kind != AtomicKind::kLoad, pc);
}

template <typename Word>
[[gnu::always_inline]] inline Word atomic(AtomicKind kind, volatile Word* address, Word operand,
                                          Word expected, int order, int failure_order,
                                          std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  const model::AtomicOperation<Word> op{kind, order, failure_order, address, operand, expected};
  if (self == nullptr) return model::perform(op);
  announce_atomic(*self, op, pc);
  const Word value = model::perform(op);
  const bool wrote =
      kind != AtomicKind::kLoad && (kind != AtomicKind::kCompareExchange || value == expected);
  // An exchange that put back what was there has changed nothing; a store may have.
  settle_atomic(*self, op_kind(kind), sizeof(Word), wrote,
                kind == AtomicKind::kStore || (wrote && *address != value));
  self->execution->yielded(*self, static_cast<std::uint64_t>(value));
  return value;
}

/// One that may fail although it finds what it expects. It is then the load that any
/// compare-exchange is which fails.
template <typename Word>
inline bool compare_exchange_weak(volatile Word* address, Word& expected, Word desired, int order,
                                  int failure_order, std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  const model::AtomicOperation<Word> op{
      AtomicKind::kCompareExchange, order, failure_order, address, desired, expected};
  const model::AtomicOperation<Word> load{AtomicKind::kLoad, failure_order, 0, address, {}, {}};
  Word value{};
  bool wrote = false;
  if (self == nullptr) {
    value = model::perform(op);
    wrote = value == expected;
  } else {
    announce_atomic(*self, op, pc);
    value = model::perform(load);
    if (value == expected && !self->execution->happens(*self, trace::ChoiceKind::kSpurious)) {
      value = model::perform(op);
      wrote = true;
    }
    settle_atomic(*self, OpKind::kAtomicCompareExchange, sizeof(Word), wrote,
                  wrote && desired != value);
    self->execution->yielded(*self, static_cast<std::uint64_t>(value));
  }
  expected = value;
  return wrote;
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

#define WEFT_ATOMIC_RMW(bits, Word, suffix, kind)                                           \
  WEFT_INTERPOSE Word __tsan_atomic##bits##_##suffix(volatile Word* address, Word operand,  \
                                                     int order) {                           \
    return atomic<Word>(AtomicKind::kind, address, operand, Word{}, order, 0, WEFT_CALLER); \
  }

#define WEFT_ATOMIC(bits, Word)                                                                    \
  WEFT_INTERPOSE Word __tsan_atomic##bits##_load(const volatile Word* address, int order) {        \
    return atomic<Word>(AtomicKind::kLoad, const_cast<volatile Word*>(address), Word{}, Word{},    \
                        order, 0, WEFT_CALLER);                                                    \
  }                                                                                                \
  WEFT_INTERPOSE void __tsan_atomic##bits##_store(volatile Word* address, Word value, int order) { \
    atomic<Word>(AtomicKind::kStore, address, value, Word{}, order, 0, WEFT_CALLER);               \
  }                                                                                                \
  WEFT_ATOMIC_RMW(bits, Word, exchange, kExchange)                                                 \
  WEFT_ATOMIC_RMW(bits, Word, fetch_add, kFetchAdd)                                                \
  WEFT_ATOMIC_RMW(bits, Word, fetch_sub, kFetchSub)                                                \
  WEFT_ATOMIC_RMW(bits, Word, fetch_and, kFetchAnd)                                                \
  WEFT_ATOMIC_RMW(bits, Word, fetch_or, kFetchOr)                                                  \
  WEFT_ATOMIC_RMW(bits, Word, fetch_xor, kFetchXor)                                                \
  WEFT_ATOMIC_RMW(bits, Word, fetch_nand, kFetchNand)                                              \
  WEFT_INTERPOSE Word __tsan_atomic##bits##_compare_exchange_val(                                  \
      volatile Word* address, Word expected, Word desired, int order, int failure_order) {         \
    return atomic<Word>(AtomicKind::kCompareExchange, address, desired, expected, order,           \
                        failure_order, WEFT_CALLER);                                               \
  }                                                                                                \
  WEFT_INTERPOSE int __tsan_atomic##bits##_compare_exchange_strong(                                \
      volatile Word* address, Word* expected, Word desired, int order, int failure_order) {        \
    const Word wanted = *expected;                                                                 \
    *expected = atomic<Word>(AtomicKind::kCompareExchange, address, desired, wanted, order,        \
                             failure_order, WEFT_CALLER);                                          \
    return *expected == wanted;                                                                    \
  }                                                                                                \
  WEFT_INTERPOSE int __tsan_atomic##bits##_compare_exchange_weak(                                  \
      volatile Word* address, Word* expected, Word desired, int order, int failure_order) {        \
    return compare_exchange_weak<Word>(address, *expected, desired, order, failure_order,          \
                                       WEFT_CALLER);                                               \
  }

WEFT_ATOMIC(8, std::uint8_t)
WEFT_ATOMIC(16, std::uint16_t)
WEFT_ATOMIC(32, std::uint32_t)
WEFT_ATOMIC(64, std::uint64_t)
__extension__ using Word128 = unsigned __int128;
WEFT_ATOMIC(128, Word128)

WEFT_INTERPOSE void __tsan_atomic_thread_fence(int order) {
  Task* const self = current_task;
  if (self != nullptr) {
    Operation op = operation_on(OpKind::kFence, nullptr, WEFT_CALLER);
    op.order = static_cast<std::uint8_t>(order);
    announce(*self, op);
    if (self->order_ignored != 0) return;
    self->execution->ordering().fence(self->index, self->operation_index,
                                      static_cast<weft::model::MemoryOrder>(order));
    self->execution->memory().ordered(*self, op, false);
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

WEFT_INTERPOSE void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
