// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/properties.h"

#include <algorithm>
#include <utility>

namespace weftrt {
namespace {

template <class Entries>
auto first_not_before(Entries& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const auto& entry, std::string_view n) { return entry.name < n; });
}

}  // namespace

void Properties::put(std::string_view name, Value value) {
  const auto at = first_not_before(entries_, name);
  if (at != entries_.end() && at->name == name)
    at->value = std::move(value);
  else
    entries_.insert(at, Entry{std::string(name), std::move(value)});
}

const Properties::Value* Properties::look_up(std::string_view name) const noexcept {
  const auto at = first_not_before(entries_, name);
  return at != entries_.end() && at->name == name ? &at->value : nullptr;
}

bool Properties::erase(std::string_view name) {
  const auto at = first_not_before(entries_, name);
  if (at == entries_.end() || at->name != name) return false;
  entries_.erase(at);
  return true;
}

}  // namespace weftrt
