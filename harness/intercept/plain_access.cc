// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Plain accesses, as the compiler reports them (-fsanitize=thread).
//
// Each is counted; only those whose countdown runs out become schedule points.
// The common case is one thread-local load, an increment and a decrement.
#include <cstring>

#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

__attribute__((noinline)) void consider(Task& self, const volatile void* address, OpKind kind,
                                        std::size_t size, std::uintptr_t pc) noexcept {
  Operation op = operation_on(kind, address, pc);
  op.address = self.execution->executor().own_address(self.slot, op.address);
  // Ranges are one access: what lies between their first and last byte is of one piece to the
  // subject.
  op.width = size > 255 ? 255 : static_cast<std::uint8_t>(size);
  self.execution->plain_point(self, op);
}

/// An access that is a point, or memory that another task has touched or nobody yet.
__attribute__((noinline)) void access_with_care(Task& self, const volatile void* address,
                                                OpKind kind, std::size_t size,
                                                std::uintptr_t pc) noexcept {
  engine::MemoryWatch& memory = self.execution->memory();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (self.accesses_until_point == 0 || memory.races_at(at)) [[unlikely]]
    consider(self, address, kind, size, pc);
  if (kind == OpKind::kPlainWrite) self.execution->progress().changed();
  memory.accessed(self,
                  kind == OpKind::kPlainRead ? trace::AccessKind::kRead : trace::AccessKind::kWrite,
                  at, size, pc);
}

__attribute__((always_inline)) inline void access(const volatile void* address, OpKind kind,
                                                  std::size_t size, std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return;
  ++self->operation_index;
  if (--self->accesses_until_point == 0 ||
      !self->execution->memory().passes(
          *self, kind == OpKind::kPlainRead ? trace::AccessKind::kRead : trace::AccessKind::kWrite,
          reinterpret_cast<std::uintptr_t>(address), size, pc)) [[unlikely]]
    return access_with_care(*self, address, kind, size, pc);
  if (kind == OpKind::kPlainWrite) self->execution->progress().changed();
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

// Names and arguments are the compilers' (compiler-rt's tsan_interface.h documents them).
#define WEFT_ACCESS(name, kind, width) \
  WEFT_INTERPOSE void name(void* address) { access(address, OpKind::kind, width, WEFT_CALLER); }
#define WEFT_ACCESS_PC(name, kind, width)                                       \
  WEFT_INTERPOSE void name(void* address, void* pc) {                           \
    access(address, OpKind::kind, width, reinterpret_cast<std::uintptr_t>(pc)); \
  }
#define WEFT_ACCESSES(width)                                              \
  WEFT_ACCESS(__tsan_read##width, kPlainRead, width)                      \
  WEFT_ACCESS(__tsan_write##width, kPlainWrite, width)                    \
  WEFT_ACCESS(__tsan_read_write##width, kPlainWrite, width)               \
  WEFT_ACCESS(__tsan_unaligned_read##width, kPlainRead, width)            \
  WEFT_ACCESS(__tsan_unaligned_write##width, kPlainWrite, width)          \
  WEFT_ACCESS(__tsan_unaligned_read_write##width, kPlainWrite, width)     \
  WEFT_ACCESS(__tsan_volatile_read##width, kPlainRead, width)             \
  WEFT_ACCESS(__tsan_volatile_write##width, kPlainWrite, width)           \
  WEFT_ACCESS(__tsan_unaligned_volatile_read##width, kPlainRead, width)   \
  WEFT_ACCESS(__tsan_unaligned_volatile_write##width, kPlainWrite, width) \
  WEFT_ACCESS_PC(__tsan_read##width##_pc, kPlainRead, width)              \
  WEFT_ACCESS_PC(__tsan_write##width##_pc, kPlainWrite, width)

WEFT_ACCESSES(1)
WEFT_ACCESSES(2)
WEFT_ACCESSES(4)
WEFT_ACCESSES(8)
WEFT_ACCESSES(16)

WEFT_INTERPOSE void __tsan_func_entry(void*) {}
WEFT_INTERPOSE void __tsan_func_exit() {}
WEFT_INTERPOSE void __tsan_vptr_read(void** address) {
  access(address, OpKind::kPlainRead, 8, WEFT_CALLER);
}
WEFT_INTERPOSE void __tsan_vptr_update(void** address, void*) {
  access(address, OpKind::kPlainWrite, 8, WEFT_CALLER);
}
WEFT_INTERPOSE void __tsan_read_range(void* address, std::size_t size) {
  if (size != 0) access(address, OpKind::kPlainRead, size, WEFT_CALLER);
}
WEFT_INTERPOSE void __tsan_write_range(void* address, std::size_t size) {
  if (size != 0) access(address, OpKind::kPlainWrite, size, WEFT_CALLER);
}

WEFT_INTERPOSE void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  if (size != 0) {
    access(from, OpKind::kPlainRead, size, WEFT_CALLER);
    access(to, OpKind::kPlainWrite, size, WEFT_CALLER);
  }
  return std::memcpy(to, from, size);
}

WEFT_INTERPOSE void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  if (size != 0) {
    access(from, OpKind::kPlainRead, size, WEFT_CALLER);
    access(to, OpKind::kPlainWrite, size, WEFT_CALLER);
  }
  return std::memmove(to, from, size);
}

WEFT_INTERPOSE void* __tsan_memset(void* to, int value, std::size_t size) {
  if (size != 0) access(to, OpKind::kPlainWrite, size, WEFT_CALLER);
  return std::memset(to, value, size);
}
