// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A value, or one line that says why there is none. Supervisor side.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace weft::trace {

/// Why something a user handed us cannot be used: one line that names the part and the reason.
struct Failure {
  std::string message;
};

template <typename T>
class Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}                    // NOLINT: implicit by design
  Outcome(Failure failure) : error_(std::move(failure.message)) {}  // NOLINT: implicit by design

  [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() { return &*value_; }
  [[nodiscard]] const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  std::string error_;
};

}  // namespace weft::trace
