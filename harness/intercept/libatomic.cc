// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Atomic operations that compilers leave to libatomic: those of 16 bytes where the
// processor is not known to have them, and of sizes that no processor has. libatomic is
// not instrumented, so its functions are defined here, for the whole process: a program
// that gets them from here is not linked to libatomic at all.
//
// The compiler knows these names as its own, hence the labels.
#include <cstring>

#include "harness/intercept/atomic_effects.h"
#include "harness/intercept/interpose.h"
#include "harness/model/memory.h"

namespace weft::intercept {
namespace {

/// Between threads outside of tasks; held across nothing that could wait. In a task nobody
/// else runs.
class WideLock {
 public:
  WideLock() noexcept {
    while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE) != 0) {  // pairs with the release below
      __builtin_ia32_pause();
    }
  }
  ~WideLock() { __atomic_store_n(&held, 0, __ATOMIC_RELEASE); }  // pairs with the acquire above
  WideLock(const WideLock&) = delete;
  WideLock& operator=(const WideLock&) = delete;

 private:
  static inline int held = 0;  // free whenever a snapshot is taken
};

void announce_wide(Task& self, OpKind kind, const void* address, std::size_t size, int order,
                   int failure_order, std::uintptr_t pc) noexcept {
  Operation op = operation_on(kind, address, pc);
  op.width = static_cast<std::uint8_t>(size < 255 ? size : 255);
  op.order = static_cast<std::uint8_t>(order);
  op.failure_order = static_cast<std::uint8_t>(failure_order);
  announce(self, op);
}

/// What is yielded of a value of any size: its first bytes.
std::uint64_t first_word(const void* value, std::size_t size) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, value, size < sizeof word ? size : sizeof word);
  return word;
}

/// Of the operation that was announced last.
void settle(Task& self, std::size_t size, bool wrote, const void* value) noexcept {
  settle_atomic(self, self.pending.kind, size, wrote, wrote);
  self.execution->yielded(self, first_word(value, size));
}

void load(std::size_t size, const void* address, void* result, int order,
          std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self != nullptr) announce_wide(*self, OpKind::kAtomicLoad, address, size, order, 0, pc);
  {
    const WideLock lock;
    std::memcpy(result, address, size);
  }
  if (self != nullptr) settle(*self, size, false, result);
}

void store(std::size_t size, void* address, const void* value, int order,
           std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self != nullptr) announce_wide(*self, OpKind::kAtomicStore, address, size, order, 0, pc);
  {
    const WideLock lock;
    std::memcpy(address, value, size);
  }
  if (self != nullptr) settle(*self, size, true, value);
}

void exchange(std::size_t size, void* address, const void* value, void* result, int order,
              std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self != nullptr) announce_wide(*self, OpKind::kAtomicExchange, address, size, order, 0, pc);
  {
    // Value and result may be one.
    const WideLock lock;
    auto* const in_memory = static_cast<unsigned char*>(address);
    const auto* const given = static_cast<const unsigned char*>(value);
    auto* const old = static_cast<unsigned char*>(result);
    for (std::size_t i = 0; i < size; ++i) {
      const unsigned char next = given[i];
      old[i] = in_memory[i];
      in_memory[i] = next;
    }
  }
  if (self != nullptr) settle(*self, size, true, result);
}

bool compare_exchange(std::size_t size, void* address, void* expected, const void* desired,
                      int order, int failure_order, std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self != nullptr) {
    announce_wide(*self, OpKind::kAtomicCompareExchange, address, size, order, failure_order, pc);
  }
  bool equal = false;
  {
    const WideLock lock;
    equal = std::memcmp(address, expected, size) == 0;
    if (equal) {
      std::memcpy(address, desired, size);
    } else {
      std::memcpy(expected, address, size);
    }
  }
  if (self != nullptr) settle(*self, size, equal, expected);
  return equal;
}

using model::Word16;

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

#define WEFT_LABEL(Result, name, label, ...)      \
  extern "C" Result name(__VA_ARGS__) asm(label); \
  WEFT_INTERPOSE Result name(__VA_ARGS__)

WEFT_LABEL(void, weft_atomic_load, "__atomic_load", std::size_t size, const void* address,
           void* result, int order) {
  load(size, address, result, order, WEFT_CALLER);
}

WEFT_LABEL(void, weft_atomic_store, "__atomic_store", std::size_t size, void* address,
           const void* value, int order) {
  store(size, address, value, order, WEFT_CALLER);
}

WEFT_LABEL(void, weft_atomic_exchange, "__atomic_exchange", std::size_t size, void* address,
           const void* value, void* result, int order) {
  exchange(size, address, value, result, order, WEFT_CALLER);
}

WEFT_LABEL(bool, weft_atomic_compare_exchange, "__atomic_compare_exchange", std::size_t size,
           void* address, void* expected, const void* desired, int order, int failure_order) {
  return compare_exchange(size, address, expected, desired, order, failure_order, WEFT_CALLER);
}

WEFT_LABEL(Word16, weft_atomic_load_16, "__atomic_load_16", const void* address, int order) {
  Word16 result = 0;
  load(sizeof result, address, &result, order, WEFT_CALLER);
  return result;
}

WEFT_LABEL(void, weft_atomic_store_16, "__atomic_store_16", void* address, Word16 value,
           int order) {
  store(sizeof value, address, &value, order, WEFT_CALLER);
}

WEFT_LABEL(Word16, weft_atomic_exchange_16, "__atomic_exchange_16", void* address, Word16 value,
           int order) {
  exchange(sizeof value, address, &value, &value, order, WEFT_CALLER);
  return value;
}

WEFT_LABEL(bool, weft_atomic_compare_exchange_16, "__atomic_compare_exchange_16", void* address,
           void* expected, Word16 desired, int order, int failure_order) {
  return compare_exchange(sizeof desired, address, expected, &desired, order, failure_order,
                          WEFT_CALLER);
}

WEFT_LABEL(bool, weft_atomic_is_lock_free, "__atomic_is_lock_free", std::size_t size,
           const void* address) {
  return size <= sizeof(void*) && (size & (size - 1)) == 0 &&
         reinterpret_cast<std::uintptr_t>(address) % (size == 0 ? 1 : size) == 0;
}
