// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/stash/key.h"

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace weftrt::detail {
namespace {

struct Registry {
  std::mutex mutex;
  // A map, because its elements stay where they are; keys are defined rarely.
  std::map<std::string, StashKeyRecord, std::less<>> records;
};

// Never destroyed: thread-local destructors of any thread may still use their keys at process exit.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

}  // namespace

const StashKeyRecord& define_stash_key(std::string_view name, std::type_index type, StashRule rule,
                                       std::function<std::shared_ptr<void>()> initialiser) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.records.find(name); found != all.records.end()) {
    if (found->second.type != type || found->second.rule != rule)
      throw std::logic_error("stash key '" + std::string(name) +
                             "' is already defined with another type or rule");
    return found->second;
  }
  StashKeyRecord record{std::string(name), type, rule, std::move(initialiser)};
  return all.records.emplace(std::string(name), std::move(record)).first->second;
}

}  // namespace weftrt::detail
