// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the interposers share: how a symbol is interposed, how the real one is
// found, and how an operation is announced.
//
// Every interposer has the same shape:
//   Task* self = current_task;
//   if (self == nullptr) return the real function's answer;
//   announce the operation; perform it on the model or on the real object.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include "harness/base/check.h"
#include "harness/engine/execution.h"
#include "harness/engine/task.h"

/// Interposers are the only symbols of the harness that the subject's modules may see.
#define WEFT_INTERPOSE extern "C" __attribute__((visibility("default"), noinline))

/// The subject's call site.
#define WEFT_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

/// The next definition of NAME in link order: libc's.
#define WEFT_REAL(name) ::weft::intercept::real_function<decltype(&::name)>(#name)

namespace weft::intercept {

using engine::current_task;
using engine::Execution;
using engine::Task;
using trace::Operation;
using trace::OpKind;

/// libc's dlsym; the name itself is one of ours (loader.cc).
[[nodiscard]] inline void* real_dlsym(void* handle, const char* name) noexcept {
  using Dlsym = void* (*)(void*, const char*);
  return reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"))(handle, name);
}

/// Not cached: the cache would be state of ours in a segment that is restored,
/// and outside tasks nobody is in a hurry. hot_functions.h has what tasks pass often.
template <typename Function>
[[nodiscard]] inline Function real_function(const char* name) noexcept {
  void* const symbol = real_dlsym(RTLD_NEXT, name);
  WEFT_CHECK(symbol != nullptr, "libc lacks a function that the harness interposes");
  return reinterpret_cast<Function>(symbol);
}

/// An operation on the object at `address`.
[[nodiscard]] inline Operation operation_on(OpKind kind, const volatile void* address,
                                            std::uintptr_t pc) noexcept {
  Operation op;
  op.kind = kind;
  op.address = reinterpret_cast<std::uintptr_t>(address);
  op.pc = pc;
  return op;
}

inline void announce(Task& self, const Operation& operation) noexcept {
  self.execution->point(self, operation);
}

/// Ends the exploration: the subject used something that is not controlled.
[[noreturn]] void unsupported(Task& self, const char* what) noexcept;

}  // namespace weft::intercept
