// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/stash/key.h"

#include <memory>
#include <stdexcept>

#include "lib/base/append_only_list.h"

namespace weftrt::detail {
namespace {

constinit AppendOnlyList<StashKeyRecord> g_keys;

}  // namespace

const StashKeyRecord& define_stash_key(std::string_view name, std::type_index type, StashRule rule,
                                       const std::function<std::shared_ptr<void>()>& initialiser) {
  const StashKeyRecord& record =
      g_keys.find_or_add([&](const StashKeyRecord& known) { return known.name == name; },
                         [&](const StashKeyRecord* /*older*/) {
                           return std::make_unique<StashKeyRecord>(
                               StashKeyRecord{std::string(name), type, rule, initialiser});
                         });
  if (record.type != type || record.rule != rule)
    throw std::logic_error("stash key '" + record.name +
                           "' is already defined with another type or rule");
  return record;
}

}  // namespace weftrt::detail
