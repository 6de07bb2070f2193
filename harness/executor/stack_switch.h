// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A change of stack: what the processor itself needs to know to go on elsewhere.
//
// A context is the address at which a stack's own registers were pushed: those that a callee
// must preserve (System V ABI for x86-64, 3.2.1), the control words of the two floating-point
// units, and where to go on.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::executor {

/// Rounding, masked exceptions, precision. A new thread inherits its creator's.
struct FloatControl {
  std::uint32_t mxcsr;
  std::uint16_t x87;
};

/// The calling thread's, into `control`.
inline void store_float_control(FloatControl& control) noexcept {
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control.mxcsr), "=m"(control.x87));
}

inline void set_float_control(FloatControl control) noexcept {
  asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(control.mxcsr), "m"(control.x87));
}

/// A context that calls function(argument) with a stack that ends at `top`, a multiple of 16, and
/// with the present control words. The function does not return; unwinders stop there.
[[nodiscard]] void* make_context(std::uintptr_t top, void (*function)(void*),
                                 void* argument) noexcept;

extern "C" {

/// Leaves the present context in `save` and goes on with `load`. Returns when somebody goes on with
/// what was saved.
void weft_switch_stack(void** save, void* load);

/// The same for whoever does not come back.
[[noreturn]] void weft_leave_stack(void* load);

/// Calls function(argument) with a stack that ends at `top`. Unwinders stop there.
void weft_call_on_stack(std::uintptr_t top, void (*function)(void*), void* argument);

/// Gives the calling kernel thread's stack away: leaves the context in `save`, sets `ready`, wakes
/// who waits for it, and touches no stack at all until `go` is set. Then goes on with what `save`
/// holds.
void weft_park(void** save, std::atomic<std::int32_t>* ready, const std::atomic<std::int32_t>* go);
}

}  // namespace weft::executor
