// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The lifetime of exceptions that several threads share, as through a future.
//
// libstdc++ counts an exception's references in code that is not instrumented, and
// the last one to go destroys it. What the others did with the exception comes
// before that: each count is taken for an acquire and a release.
//
// The layouts are those of the Itanium C++ ABI's exception handling, level II, and of
// libstdc++'s unwind-cxx.h. An exception of another language or library is left alone.
#include <unwind.h>

#include <cstddef>
#include <cstring>

#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

/// __cxa_eh_globals.
struct Globals {
  std::byte* caught;  // the latest exception being handled, or null
  unsigned int uncaught;
};

/// __cxa_exception and __cxa_dependent_exception have one size, and end with this member.
constexpr std::size_t kHeaderBytes = 112;
constexpr std::size_t kUnwindHeader = kHeaderBytes - sizeof(_Unwind_Exception);

constexpr _Unwind_Exception_Class kPrimary = 0x474e5543432b2b00;  // "GNUCC++\0"
constexpr _Unwind_Exception_Class kDependent = kPrimary | 1;

/// The object that was thrown, or null where that is not known.
const std::byte* object_of(const std::byte* header) noexcept {
  _Unwind_Exception_Class kind = 0;
  std::memcpy(&kind, header + kUnwindHeader, sizeof kind);
  if (kind == kPrimary) return header + kHeaderBytes;
  if (kind != kDependent) return nullptr;
  const std::byte* primary = nullptr;  // the first member
  std::memcpy(&primary, header, sizeof primary);
  return primary;
}

void count(Task& self, const void* object) noexcept {
  if (object == nullptr) return;
  // Beside the object, whose own bytes are the subject's: its header ends there.
  const std::uintptr_t counter = reinterpret_cast<std::uintptr_t>(object) - 1;
  self.execution->acquire(self, counter);
  self.execution->release(self, counter);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

extern "C" Globals* __cxa_get_globals() noexcept;
extern "C" void __cxa_end_catch();

WEFT_INTERPOSE void __cxa_end_catch() {
  if (Task* const self = current_task; self != nullptr) {
    const Globals& globals = *__cxa_get_globals();
    if (globals.caught != nullptr) count(*self, object_of(globals.caught));
  }
  WEFT_REAL(__cxa_end_catch)();
}

// std::exception_ptr's own; `self` is the exception_ptr, whose only member is the object.
#define WEFT_COUNTS(symbol)                                                       \
  WEFT_INTERPOSE void symbol(void** pointer) noexcept {                           \
    if (Task* const self = current_task; self != nullptr) count(*self, *pointer); \
    WEFT_REAL(symbol)(pointer);                                                   \
  }
extern "C" void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(void** pointer) noexcept;
extern "C" void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void** pointer) noexcept;
WEFT_COUNTS(_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv)
WEFT_COUNTS(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)
#undef WEFT_COUNTS
