// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/race_agreement/operations.h"

namespace race_agreement {
namespace {

// The compiler wants orders to be constants.
template <typename Do>
[[gnu::always_inline]] inline int in_order(Order order, Do&& act) {
  switch (order) {
    case Order::kRelaxed: return act.template operator()<__ATOMIC_RELAXED>();
    case Order::kConsume: return act.template operator()<__ATOMIC_CONSUME>();
    case Order::kAcquire: return act.template operator()<__ATOMIC_ACQUIRE>();
    case Order::kRelease: return act.template operator()<__ATOMIC_RELEASE>();
    case Order::kAcqRel: return act.template operator()<__ATOMIC_ACQ_REL>();
    case Order::kSeqCst: return act.template operator()<__ATOMIC_SEQ_CST>();
  }
  __builtin_unreachable();
}

int load(int* word, Order order) {
  switch (order) {
    case Order::kRelaxed: return __atomic_load_n(word, __ATOMIC_RELAXED);
    case Order::kConsume: return __atomic_load_n(word, __ATOMIC_CONSUME);
    case Order::kAcquire: return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    case Order::kRelease:
    case Order::kAcqRel:
    case Order::kSeqCst: return __atomic_load_n(word, __ATOMIC_SEQ_CST);
  }
  __builtin_unreachable();
}

void store(int* word, int value, Order order) {
  switch (order) {
    case Order::kRelaxed: return __atomic_store_n(word, value, __ATOMIC_RELAXED);
    case Order::kRelease: return __atomic_store_n(word, value, __ATOMIC_RELEASE);
    case Order::kConsume:
    case Order::kAcquire:
    case Order::kAcqRel:
    case Order::kSeqCst: return __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
  }
}

[[gnu::always_inline]] inline int compare_exchange(int* word, Op op) {
  int expected = op.expected;
  in_order(op.order, [&]<int kOrder>() {
    constexpr bool kMayAcquire = kOrder != __ATOMIC_RELAXED && kOrder != __ATOMIC_RELEASE;
    if (kMayAcquire && op.failure_order != Order::kRelaxed) {
      return int{
          __atomic_compare_exchange_n(word, &expected, op.value, false, kOrder, __ATOMIC_ACQUIRE)};
    }
    return int{
        __atomic_compare_exchange_n(word, &expected, op.value, false, kOrder, __ATOMIC_RELAXED)};
  });
  return expected;
}

}  // namespace

int perform(Memory& memory, Op op) {
  int* const word = &memory.words[op.object % kWords].value;
  pthread_mutex_t* const mutex = &memory.mutexes[op.object % kMutexes];
  switch (op.kind) {
    // Volatile, so that an access whose value is of no use is kept.
    case OpKind::kRead: return *static_cast<volatile int*>(word);
    case OpKind::kWrite: return *static_cast<volatile int*>(word) = op.value, 0;
    case OpKind::kLoad: return load(word, op.order);
    case OpKind::kStore: return store(word, op.value, op.order), 0;
    case OpKind::kExchange:
      return in_order(op.order,
                      [&]<int kOrder>() { return __atomic_exchange_n(word, op.value, kOrder); });
    case OpKind::kFetchAdd:
      return in_order(op.order,
                      [&]<int kOrder>() { return __atomic_fetch_add(word, op.value, kOrder); });
    case OpKind::kCompareExchange: return compare_exchange(word, op);
    case OpKind::kFence:
      return in_order(op.order, []<int kOrder>() { return __atomic_thread_fence(kOrder), 0; });
    case OpKind::kLock: return pthread_mutex_lock(mutex), 0;
    case OpKind::kUnlock: return pthread_mutex_unlock(mutex), 0;
    case OpKind::kSpawn:
    case OpKind::kJoin: break;
  }
  __builtin_trap();
}

}  // namespace race_agreement
