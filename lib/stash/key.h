// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>

namespace weftrt {

// What happens to a key's object when a thread's state is captured and restored on another thread.
// Stated once, with the key, because only the key's owner knows what sharing its object means.
enum class StashRule {
  kPrivate,      // never captured: each thread has its own
  kFillMissing,  // captured; used where the restoring thread has no object of its own
  kReplace,      // captured; hides the restoring thread's own object until the guard ends
};

namespace detail {

// A defined key. Immutable and never destroyed, so that it is read without a lock.
struct StashKeyRecord {
  std::string name;
  std::type_index type;
  StashRule rule;
  std::function<std::shared_ptr<void>()> initialiser;  // may be empty
  const StashKeyRecord* next = nullptr;
};

// The record of that name, made by the first call; later calls get the same one, and throw
// std::logic_error if they want another type or rule. Any thread.
const StashKeyRecord& define_stash_key(std::string_view name, std::type_index type, StashRule rule,
                                       const std::function<std::shared_ptr<void>()>& initialiser);

}  // namespace detail

// Names one object per thread, process-wide: two keys of the same name are the same key, so two
// libraries may share one without sharing a definition. A handle, cheap to copy. Usually a static:
//
//   const weftrt::StashKey<TreeManagers> kTrees("graphs.trees", StashRule::kPrivate,
//                                               [] { return std::make_shared<TreeManagers>(); });
//
// The initialiser, of the first definition, is what stash::get_or_init() runs on a thread that has
// no object yet. It may run on several threads at the same time, once on each.
//
// Thread-safety: may be constructed on any thread, lock-free; a constructed key is immutable.
// Throws std::logic_error where the name is already defined with another type or rule.
template <class T>
class StashKey {
 public:
  explicit StashKey(std::string_view name, StashRule rule = StashRule::kPrivate,
                    std::function<std::shared_ptr<T>()> initialiser = nullptr)
      : record_(
            &detail::define_stash_key(name, typeid(T), rule, erase_type(std::move(initialiser)))) {}

  [[nodiscard]] const std::string& name() const noexcept { return record_->name; }
  [[nodiscard]] StashRule rule() const noexcept { return record_->rule; }
  [[nodiscard]] const detail::StashKeyRecord& record() const noexcept { return *record_; }

 private:
  static std::function<std::shared_ptr<void>()> erase_type(std::function<std::shared_ptr<T>()> f) {
    if (f == nullptr) return nullptr;
    return f;
  }

  const detail::StashKeyRecord* record_;
};

}  // namespace weftrt
