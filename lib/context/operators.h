// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "lib/context/context.h"
#include "lib/dispatch/operator_table.h"

// Registering and calling operators by the context's table (dispatch/operator_table.h).
//
// Thread-safety: everything here may be called from any thread at any time, static initialisers of
// the program and of libraries that are being loaded included. Calling takes no lock and writes
// nothing shared.
//
// Invariants:
//  1. An operator that was registered before a context was taken is in that context; one that was
//     not, is not. A context is taken by current() or pin() while it follows the global context,
//     and where a copy is made of one: an override keeps the table of the copy that it began with.
//  2. Of several that register for the same operator and kind of device, the first one wins.
//  3. A function that is in a table can be called: its library stays loaded (docs/adr/0011).

namespace weftrt {

// Adds `function` to the global context's table; returns the generation published. Throws
// OperatorExists where there is another function already. One that is there already is published
// again, to no other effect. Within an edit of the global context (update_global()) it throws
// std::logic_error: there, add to the table of what is edited.
template <class R, class... Args>
std::uint64_t register_operator(const Operator<R(Args...)>& op, DeviceKind kind,
                                R (*function)(Args...)) {
  return update_global([&](ContextImpl& impl) { impl.operators.add(op, kind, function); });
}

// Calls the operator by the table of the context in force. Throws OperatorNotFound. The function
// may change the context: it was found before.
template <class R, class... Args>
R call(const Operator<R(Args...)>& op, DeviceKind kind, std::type_identity_t<Args>... arguments) {
  return current().operators.get(op, kind)(std::forward<Args>(arguments)...);
}

// Registers when it is constructed, for static initialisers: it does not throw, because an
// exception does not pass through the dynamic linker. Whoever opened the library may ask how it
// went.
//
//   const weftrt::OperatorRegistration g_add(kAdd, weftrt::DeviceKind::kCpu, &add);
class OperatorRegistration {
 public:
  template <class R, class... Args>
  OperatorRegistration(const Operator<R(Args...)>& op, DeviceKind kind,
                       R (*function)(Args...)) noexcept {
    try {
      register_operator(op, kind, function);
      registered_ = true;
    } catch (...) {
    }
  }

  // False: there was another function before, or no memory, or it was within an edit of the global
  // context, by which the library was opened.
  [[nodiscard]] bool registered() const noexcept { return registered_; }

 private:
  bool registered_ = false;
};

}  // namespace weftrt
