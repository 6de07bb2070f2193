// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/stash/key.h"

// The stash: objects that belong to the calling thread, by key. A thread that was given nothing
// starts empty and gets an object by get_or_init(), which runs the key's initialiser; a managed
// thread starts with what it inherits (guard.h).
//
// Thread-safety: every function acts on the calling thread's stash alone and takes no lock. The
// objects may be shared with other threads, by capture or by the caller: they guard themselves.
//
// Invariants:
//  1. The initialiser of a key has completed at most once on a thread for each time the thread was
//     without the object: concurrent threads each run their own, one thread never runs it twice.
//  2. The stash holds exactly one shared reference per entry, and gives it back exactly once: when
//     the entry is replaced or erased, or when the thread ends, newest entry first.
//  3. An object's destructor and a key's initialiser may use the stash: no reference is dropped,
//     and no initialiser is called, while an entry is half changed.
//
// Costs: a look-up is a linear search over the thread's entries, of which there are few, comparing
// addresses; get() and get_or_init() copy a shared pointer besides, find() does not.

namespace weftrt {

// There is no object for the key on this thread. The message names the key.
class MissingStashObject : public std::out_of_range {
 public:
  explicit MissingStashObject(const std::string& key_name);
};

namespace detail {

// Untyped; `record` says the type. A null object stands for 'no entry', in and out.
std::shared_ptr<void> stash_find(const StashKeyRecord& record) noexcept;
void* stash_peek(const StashKeyRecord& record) noexcept;
std::shared_ptr<void> stash_exchange(const StashKeyRecord& record, std::shared_ptr<void> object);
std::shared_ptr<void> stash_get_or_init(const StashKeyRecord& record);

}  // namespace detail

namespace stash {

// Puts `object`, which must not be null, in place of what the key held. Takes over the reference it
// is given; pass a copy to keep one.
template <class T>
void set(const StashKey<T>& key, std::shared_ptr<T> object) {
  if (object == nullptr) throw std::invalid_argument("stash key '" + key.name() + "': null object");
  (void)detail::stash_exchange(key.record(), std::move(object));
}

// The thread's object, or nullptr, without a reference of the caller's own: it is valid until this
// thread sets or erases the key, or a guard that holds the key begins or ends.
template <class T>
[[nodiscard]] T* find(const StashKey<T>& key) noexcept {
  return static_cast<T*>(detail::stash_peek(key.record()));
}

template <class T>
[[nodiscard]] bool contains(const StashKey<T>& key) noexcept {
  return find(key) != nullptr;
}

// Throws MissingStashObject.
template <class T>
[[nodiscard]] std::shared_ptr<T> get(const StashKey<T>& key) {
  auto object = std::static_pointer_cast<T>(detail::stash_find(key.record()));
  if (object == nullptr) throw MissingStashObject(key.name());
  return object;
}

// Takes the object out; nullptr if there was none.
template <class T>
std::shared_ptr<T> erase(const StashKey<T>& key) {
  return std::static_pointer_cast<T>(detail::stash_exchange(key.record(), nullptr));
}

// The thread's object, which the key's initialiser makes if there is none. Throws
// MissingStashObject if the key has no initialiser, std::logic_error if the initialiser returns
// null or asks for its own key, and whatever the initialiser throws; the thread is then without the
// object, as before.
template <class T>
[[nodiscard]] std::shared_ptr<T> get_or_init(const StashKey<T>& key) {
  return std::static_pointer_cast<T>(detail::stash_get_or_init(key.record()));
}

}  // namespace stash
}  // namespace weftrt
