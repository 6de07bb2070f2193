// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/dispatch/operator_table.h"

#include <algorithm>
#include <utility>

#include "lib/dispatch/loaded_library.h"

namespace weftrt {

OperatorExists::OperatorExists(const std::string& name, DeviceKind kind)
    : std::logic_error("operator '" + name + "' already has another function for " +
                       name_of(kind)) {}

OperatorNotFound::OperatorNotFound(const std::string& name, DeviceKind kind)
    : std::out_of_range("operator '" + name + "' has no function for " + name_of(kind) +
                        " in this context: none was registered before the context was taken") {}

void OperatorTable::add_any(const detail::OperatorRecord& record, DeviceKind kind,
                            detail::AnyFunction function) {
  if (function == nullptr)
    throw std::invalid_argument("operator '" + record.name + "': null function");
  if (const detail::AnyFunction present = find_any(record, kind); present != nullptr) {
    if (present == function) return;
    throw OperatorExists(record.name, kind);
  }
  detail::keep_library_loaded(function);
  const std::size_t length = std::max(length_, record.index + 1);
  // What the older table lacks is null.
  const std::shared_ptr<Functions[]> longer(new Functions[length]());
  std::copy_n(functions_.get(), length_, longer.get());
  longer[static_cast<std::ptrdiff_t>(record.index)][kind] = function;
  functions_ = longer;
  length_ = length;
}

void OperatorTable::not_found(const detail::OperatorRecord& record, DeviceKind kind) {
  throw OperatorNotFound(record.name, kind);
}

std::size_t OperatorTable::size() const noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < length_; ++i) {
    const Functions& functions = functions_[static_cast<std::ptrdiff_t>(i)];
    count += kDeviceKinds -
             static_cast<std::size_t>(std::count(functions.begin(), functions.end(), nullptr));
  }
  return count;
}

bool operator==(const OperatorTable& a, const OperatorTable& b) noexcept {
  // The longer one may have nulls where the shorter one ends.
  const OperatorTable& shorter = a.length_ <= b.length_ ? a : b;
  const OperatorTable& longer = a.length_ <= b.length_ ? b : a;
  const auto* const more = longer.functions_.get();
  const std::size_t length = shorter.length_;
  return std::equal(more, more + length, shorter.functions_.get()) &&
         std::all_of(more + length, more + longer.length_,
                     [](const auto& functions) { return functions == OperatorTable::Functions{}; });
}

}  // namespace weftrt
