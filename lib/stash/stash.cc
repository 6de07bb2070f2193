// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/stash/stash.h"

#include "lib/stash/thread_entries.h"

namespace weftrt {

MissingStashObject::MissingStashObject(const std::string& key_name)
    : std::out_of_range("stash key '" + key_name + "' has no object on this thread") {}

namespace detail {
namespace {

// Marks a key as being initialised, for as long as its initialiser runs.
class InitialisingKey {
 public:
  InitialisingKey(ThreadEntries& entries, const StashKeyRecord& record)
      : entries_(entries), record_(record) {
    entries_.initialising.push_back(&record);
  }
  ~InitialisingKey() { std::erase(entries_.initialising, &record_); }
  InitialisingKey(const InitialisingKey&) = delete;
  InitialisingKey& operator=(const InitialisingKey&) = delete;

 private:
  ThreadEntries& entries_;
  const StashKeyRecord& record_;
};

}  // namespace

std::shared_ptr<void> stash_find(const StashKeyRecord& record) noexcept {
  const ThreadEntries* entries = thread_entries_if_any();
  const StashEntry* entry = entries == nullptr ? nullptr : entries->find(record);
  return entry == nullptr ? nullptr : entry->object;
}

void* stash_peek(const StashKeyRecord& record) noexcept {
  const ThreadEntries* entries = thread_entries_if_any();
  const StashEntry* entry = entries == nullptr ? nullptr : entries->find(record);
  return entry == nullptr ? nullptr : entry->object.get();
}

std::shared_ptr<void> stash_exchange(const StashKeyRecord& record, std::shared_ptr<void> object) {
  if (object == nullptr && thread_entries_if_any() == nullptr) return nullptr;
  ThreadEntries& entries = thread_entries();
  StashEntry* entry = entries.find(record);
  if (entry == nullptr) {
    if (object != nullptr) entries.all.push_back({&record, std::move(object)});
    return nullptr;
  }
  entry->object.swap(object);
  if (entry->object == nullptr)
    entries.all.erase(entries.all.begin() + (entry - entries.all.data()));
  return object;
}

std::shared_ptr<void> stash_get_or_init(const StashKeyRecord& record) {
  if (auto object = stash_find(record)) return object;
  if (record.initialiser == nullptr) throw MissingStashObject(record.name);

  ThreadEntries& entries = thread_entries();
  for (const StashKeyRecord* running : entries.initialising) {
    if (running == &record)
      throw std::logic_error("stash key '" + record.name +
                             "': its initialiser asks for the key itself");
  }
  const InitialisingKey mark(entries, record);
  std::shared_ptr<void> made = record.initialiser();
  if (made == nullptr)
    throw std::logic_error("stash key '" + record.name + "': its initialiser returned null");
  // The initialiser may have set the key itself; what it returned is what it means.
  (void)stash_exchange(record, made);
  return made;
}

}  // namespace detail
}  // namespace weftrt
