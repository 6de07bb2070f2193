// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prior art 2, the other half: flags by name, which each copy of a library registers when it is
// loaded.
//
// Costs: a lock and a search for each look at a flag (benchmark context/flag_by_name: 31 times what
// the runtime's context/runtime takes, more where threads meet).
// Breaks: the second copy takes over the first one's flag (prior_art/flag_registry.buggy:
// assertion); or it is refused, and must have another name ready.
#pragma once

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace weft::prior_art {

/// The process's one list of flags; the libraries own the variables.
class FlagRegistry {
 public:
  enum class Again { kTakesOver, kRefused };

  explicit FlagRegistry(Again again) : again_(again) {}

  /// A name that is there already goes by the registry's rule. Throws std::logic_error where that
  /// is kRefused; others end the process.
  void add(const std::string& name, int* variable) {
    const std::lock_guard lock(mutex_);
    const auto [entry, added] = flags_.emplace(name, variable);
    if (added) return;
    if (again_ == Again::kRefused) throw std::logic_error("flag '" + name + "' is there already");
    entry->second = variable;
  }
  void set(const std::string& name, int value) {
    const std::lock_guard lock(mutex_);
    *flags_.at(name) = value;
  }
  [[nodiscard]] int get(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return *flags_.at(name);
  }

 private:
  const Again again_;
  mutable std::mutex mutex_;
  std::map<std::string, int*> flags_;
};

}  // namespace weft::prior_art
