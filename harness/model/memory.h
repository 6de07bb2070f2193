// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The one seam for memory: every atomic operation of the subject passes
// perform(), which returns the value that the operation yields.
//
// Today the answer is sequentially consistent: the real memory is read and
// written with seq_cst whatever the orders say. A weak memory model replaces
// this function and nothing else.
#pragma once

#include <cstdint>

namespace weft::model {

enum class AtomicKind : std::uint8_t {
  kLoad,
  kStore,
  kExchange,
  kFetchAdd,
  kFetchSub,
  kFetchAnd,
  kFetchOr,
  kFetchXor,
  kFetchNand,
  kCompareExchange,
};

/// `Word` is an unsigned integer of the access's width, up to 16 bytes.
template <typename Word>
struct AtomicOperation {
  AtomicKind kind;
  int order;          // C11
  int failure_order;  // kCompareExchange
  volatile Word* address;
  Word operand;   // stored, exchanged or combined
  Word expected;  // kCompareExchange
};

/// The value read before the operation (for kStore, the value stored). A
/// compare-exchange succeeded if the result equals `expected`.
template <typename Word>
inline Word perform(const AtomicOperation<Word>& op) noexcept {
  switch (op.kind) {
    case AtomicKind::kLoad: return __atomic_load_n(op.address, __ATOMIC_SEQ_CST);
    case AtomicKind::kStore:
      __atomic_store_n(op.address, op.operand, __ATOMIC_SEQ_CST);
      return op.operand;
    case AtomicKind::kExchange:
      return __atomic_exchange_n(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kFetchAdd: return __atomic_fetch_add(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kFetchSub: return __atomic_fetch_sub(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kFetchAnd: return __atomic_fetch_and(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kFetchOr: return __atomic_fetch_or(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kFetchXor: return __atomic_fetch_xor(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kFetchNand:
      return __atomic_fetch_nand(op.address, op.operand, __ATOMIC_SEQ_CST);
    case AtomicKind::kCompareExchange: {
      Word expected = op.expected;
      __atomic_compare_exchange_n(op.address, &expected, op.operand, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST);
      return expected;
    }
  }
  __builtin_unreachable();
}

/// Of 16 bytes, by the one instruction that the processor has for them: what a compiler makes of
/// the general form may be a call of libatomic, which is ours (intercept/libatomic.cc).
__extension__ using Word16 = unsigned __int128;
template <>
inline Word16 perform(const AtomicOperation<Word16>& op) noexcept {
  Word16 seen = *op.address;  // a guess, in two halves
  for (;;) {
    const Word16 next = [&] {
      switch (op.kind) {
        case AtomicKind::kLoad: return seen;
        case AtomicKind::kStore:
        case AtomicKind::kExchange: return op.operand;
        case AtomicKind::kFetchAdd: return seen + op.operand;
        case AtomicKind::kFetchSub: return seen - op.operand;
        case AtomicKind::kFetchAnd: return seen & op.operand;
        case AtomicKind::kFetchOr: return seen | op.operand;
        case AtomicKind::kFetchXor: return seen ^ op.operand;
        case AtomicKind::kFetchNand: return ~(seen & op.operand);
        case AtomicKind::kCompareExchange: return seen == op.expected ? op.operand : seen;
      }
      __builtin_unreachable();
    }();
    const Word16 found = __sync_val_compare_and_swap(op.address, seen, next);
    if (found == seen) return op.kind == AtomicKind::kStore ? op.operand : seen;
    seen = found;
  }
}

}  // namespace weft::model
