// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/stash/guard.h"

#include <utility>

#include "lib/base/check.h"
#include "lib/stash/thread_entries.h"

namespace weftrt {
namespace {

bool installs(StashRule rule, bool thread_has_its_own) noexcept {
  switch (rule) {
    case StashRule::kPrivate: return false;
    case StashRule::kFillMissing: return !thread_has_its_own;
    case StashRule::kReplace: return true;
  }
  detail::die("a stash key's rule is none of StashRule's values");
}

}  // namespace

StashCapture::StashCapture() noexcept = default;
StashCapture::~StashCapture() = default;
StashCapture::StashCapture(const StashCapture&) = default;
StashCapture& StashCapture::operator=(const StashCapture&) = default;
StashCapture::StashCapture(StashCapture&&) noexcept = default;
StashCapture& StashCapture::operator=(StashCapture&&) noexcept = default;

std::size_t StashCapture::size() const noexcept { return entries_.size(); }

StashCapture stash::capture() {
  StashCapture capture;
  if (const detail::ThreadEntries* entries = detail::thread_entries_if_any()) {
    for (const detail::StashEntry& entry : entries->all)
      if (entry.record->rule != StashRule::kPrivate) capture.entries_.push_back(entry);
  }
  return capture;
}

StashGuard::StashGuard(const StashCapture& capture) : thread_(&detail::thread_entries()) {
  previous_.reserve(capture.entries_.size());  // so that recording what was replaced cannot fail
  try {
    for (const detail::StashEntry& entry : capture.entries_) {
      if (!installs(entry.record->rule, thread_->find(*entry.record) != nullptr)) continue;
      previous_.push_back({entry.record, detail::stash_exchange(*entry.record, entry.object)});
    }
  } catch (...) {
    put_back();
    throw;
  }
  depth_ = ++thread_->guard_depth;
}

StashGuard::~StashGuard() {
  detail::check(thread_ == detail::thread_entries_if_any() && thread_->guard_depth == depth_,
                "a stash guard ended out of order, or on another thread than it began");
  put_back();
  --thread_->guard_depth;
}

// noexcept: an exchange allocates only for a key that the thread is without, and where the thread
// itself erased a key that the guard must bring back, failing to do so would break invariant 2.
void StashGuard::put_back() noexcept {
  while (!previous_.empty()) {
    detail::StashEntry before = std::move(previous_.back());
    previous_.pop_back();
    (void)detail::stash_exchange(*before.record, std::move(before.object));
  }
}

}  // namespace weftrt
