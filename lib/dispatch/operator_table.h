// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "lib/base/device_kind.h"
#include "lib/dispatch/operator.h"

namespace weftrt {

// The table has another function for that operator and kind of device. The message names both.
class OperatorExists : public std::logic_error {
 public:
  OperatorExists(const std::string& name, DeviceKind kind);
};

// The table has no function for that operator and kind of device. The message names both.
class OperatorNotFound : public std::out_of_range {
 public:
  OperatorNotFound(const std::string& name, DeviceKind kind);
};

// Which function implements which operator on which kind of device: a snapshot. Adding makes a new
// table and leaves every copy of the old one as it was, so that a table found in a context does not
// change, and is searched without synchronisation; who took a context before an operator was
// registered does not see it.
//
// Thread-safety: that of an int; in a published ContextImpl it is const, hence free to read.
// Costs: a look-up is an index into an array; adding copies the array; copying shares it.
class OperatorTable {
 public:
  // Empty.
  OperatorTable() = default;

  // Nothing happens where the table has this very function already. Throws OperatorExists where it
  // has another: an operator that changed its meaning under those who call it would be a surprise
  // that nobody asked for. The library that the function is in stays loaded from now on.
  template <class R, class... Args>
  void add(const Operator<R(Args...)>& op, DeviceKind kind, R (*function)(Args...)) {
    // A function pointer passes through another function pointer type unchanged.
    add_any(op.record(), kind, reinterpret_cast<detail::AnyFunction>(function));
  }

  // nullptr where there is none.
  template <class R, class... Args>
  [[nodiscard]] auto find(const Operator<R(Args...)>& op, DeviceKind kind) const noexcept
      -> R (*)(Args...) {
    return reinterpret_cast<R (*)(Args...)>(find_any(op.record(), kind));
  }

  // Throws OperatorNotFound.
  template <class R, class... Args>
  [[nodiscard]] auto get(const Operator<R(Args...)>& op, DeviceKind kind) const -> R (*)(Args...) {
    const auto function = find(op, kind);
    if (function == nullptr) [[unlikely]]
      not_found(op.record(), kind);
    return function;
  }

  // How many functions there are.
  [[nodiscard]] std::size_t size() const noexcept;

  // Equal: the same functions.
  friend bool operator==(const OperatorTable& a, const OperatorTable& b) noexcept;

 private:
  using Functions = PerDeviceKind<detail::AnyFunction>;

  [[nodiscard]] detail::AnyFunction find_any(const detail::OperatorRecord& record,
                                             DeviceKind kind) const noexcept {
    return record.index < length_ ? functions_[static_cast<std::ptrdiff_t>(record.index)][kind]
                                  : nullptr;
  }
  void add_any(const detail::OperatorRecord& record, DeviceKind kind, detail::AnyFunction function);
  [[noreturn]] static void not_found(const detail::OperatorRecord& record, DeviceKind kind);

  std::shared_ptr<const Functions[]> functions_;  // by OperatorRecord::index
  std::size_t length_ = 0;
};

}  // namespace weftrt
