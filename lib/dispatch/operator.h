// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>

namespace weftrt {

namespace detail {

// A named operator. Immutable and never destroyed, so that it is read without a lock.
struct OperatorRecord {
  std::string name;
  std::type_index signature;
  std::size_t index = 0;  // its place in every table: how many were named before it
  const OperatorRecord* next = nullptr;
};

// The record of that name, made by the first call; later calls get the same one, and throw
// std::logic_error if they want another signature. Any thread.
const OperatorRecord& define_operator(std::string_view name, std::type_index signature);

using AnyFunction = void (*)();

}  // namespace detail

template <class Signature>
class Operator;

// Names an operator, process-wide: two of the same name and signature are the same operator, so
// that whoever calls it and whoever implements it need share no more than the name. A handle, cheap
// to copy. Usually a static:
//
//   const weftrt::Operator<float(float, float)> kAdd("math.add");
//
// It says nothing about who implements it: that is in the context (context/operators.h).
//
// Thread-safety: any thread, static initialisers included; lock-free.
// Throws std::logic_error where the name is already in use with another signature.
template <class R, class... Args>
class Operator<R(Args...)> {
 public:
  using Function = R (*)(Args...);

  explicit Operator(std::string_view name)
      : record_(&detail::define_operator(name, typeid(R(Args...)))) {}

  [[nodiscard]] const std::string& name() const noexcept { return record_->name; }
  [[nodiscard]] const detail::OperatorRecord& record() const noexcept { return *record_; }

 private:
  const detail::OperatorRecord* record_;
};

}  // namespace weftrt
