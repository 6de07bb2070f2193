// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/dispatch/operator.h"

#include <memory>
#include <stdexcept>

#include "lib/base/append_only_list.h"

namespace weftrt::detail {
namespace {

constinit AppendOnlyList<OperatorRecord> g_operators;

}  // namespace

const OperatorRecord& define_operator(std::string_view name, std::type_index signature) {
  const OperatorRecord& record =
      g_operators.find_or_add([&](const OperatorRecord& known) { return known.name == name; },
                              [&](const OperatorRecord* older) {
                                const std::size_t index = older == nullptr ? 0 : older->index + 1;
                                return std::make_unique<OperatorRecord>(
                                    OperatorRecord{std::string(name), signature, index});
                              });
  if (record.signature != signature)
    throw std::logic_error("operator '" + record.name +
                           "' is already in use with another signature");
  return record;
}

}  // namespace weftrt::detail
