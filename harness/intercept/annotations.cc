// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ThreadSanitizer's annotations, by which code tells of an order that it establishes by
// means of its own: public <sanitizer/tsan_interface.h>, and the older Annotate functions
// of Valgrind's helgrind and drd. The names and arguments are theirs.
#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

/// Beside the object's address: what atomic operations on the object itself order, and end with a
/// relaxed store, is another matter.
std::uintptr_t told_by(const volatile void* object) noexcept {
  return reinterpret_cast<std::uintptr_t>(object) + 2;
}
/// Where readers hand over, and only writers look; see rwlock.cc.
std::uintptr_t readers_of(const volatile void* object) noexcept { return told_by(object) + 1; }

void acquire(std::uintptr_t key) noexcept {
  if (Task* const self = current_task) self->execution->acquire(*self, key);
}

void release(std::uintptr_t key) noexcept {
  if (Task* const self = current_task) self->execution->release(*self, key);
}

void forget(const volatile void* object) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return;
  self->execution->ordering().forget(told_by(object));
  self->execution->ordering().forget(readers_of(object));
}

// __tsan_mutex_post_lock and __tsan_mutex_pre_unlock: bits of <sanitizer/tsan_interface.h>.
constexpr unsigned kReadLock = 1u << 3;
constexpr unsigned kTryLockFailed = 1u << 5;

void locked(const volatile void* object, bool shared) noexcept {
  acquire(told_by(object));
  if (!shared) acquire(readers_of(object));
}

void unlocking(const volatile void* object, bool shared) noexcept {
  release(shared ? readers_of(object) : told_by(object));
}

/// As ThreadSanitizer has it, where regions for reads and for writes ignore both.
void ignore_accesses(bool begin) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return;
  if (begin) {
    ++self->accesses_ignored;
  } else if (self->accesses_ignored != 0) {
    --self->accesses_ignored;
  }
}

/// Atomic operations are not even accesses there.
void ignore_order(bool begin) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return;
  if (begin) {
    ++self->order_ignored;
  } else if (self->order_ignored != 0) {
    --self->order_ignored;
  }
}

/// What a lock does inside, of which its annotations tell all there is to know.
void ignore_inside(bool begin) noexcept {
  ignore_accesses(begin);
  ignore_order(begin);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE void __tsan_acquire(void* object) { acquire(told_by(object)); }
WEFT_INTERPOSE void __tsan_release(void* object) { release(told_by(object)); }

WEFT_INTERPOSE void __tsan_mutex_create(void*, unsigned) {}
WEFT_INTERPOSE void __tsan_mutex_destroy(void* object, unsigned) { forget(object); }
WEFT_INTERPOSE void __tsan_mutex_pre_lock(void*, unsigned) { ignore_inside(true); }
WEFT_INTERPOSE void __tsan_mutex_post_lock(void* object, unsigned flags, int) {
  ignore_inside(false);
  if ((flags & kTryLockFailed) == 0) locked(object, (flags & kReadLock) != 0);
}
WEFT_INTERPOSE int __tsan_mutex_pre_unlock(void* object, unsigned flags) {
  unlocking(object, (flags & kReadLock) != 0);
  ignore_inside(true);
  return 0;  // recursive locks open in one go; none was held more than once
}
WEFT_INTERPOSE void __tsan_mutex_post_unlock(void*, unsigned) { ignore_inside(false); }
WEFT_INTERPOSE void __tsan_mutex_pre_signal(void*, unsigned) { ignore_inside(true); }
WEFT_INTERPOSE void __tsan_mutex_post_signal(void*, unsigned) { ignore_inside(false); }
// Other code than the lock's runs between these two.
WEFT_INTERPOSE void __tsan_mutex_pre_divert(void*, unsigned) { ignore_inside(false); }
WEFT_INTERPOSE void __tsan_mutex_post_divert(void*, unsigned) { ignore_inside(true); }

WEFT_INTERPOSE void AnnotateHappensBefore(const char*, int, const volatile void* object) {
  release(told_by(object));
}
WEFT_INTERPOSE void AnnotateHappensAfter(const char*, int, const volatile void* object) {
  acquire(told_by(object));
}
WEFT_INTERPOSE void AnnotateRWLockCreate(const char*, int, const volatile void*) {}
WEFT_INTERPOSE void AnnotateRWLockCreateStatic(const char*, int, const volatile void*) {}
WEFT_INTERPOSE void AnnotateRWLockDestroy(const char*, int, const volatile void* object) {
  forget(object);
}
WEFT_INTERPOSE void AnnotateRWLockAcquired(const char*, int, const volatile void* object,
                                           long writes) {
  locked(object, writes == 0);
}
WEFT_INTERPOSE void AnnotateRWLockReleased(const char*, int, const volatile void* object,
                                           long writes) {
  unlocking(object, writes == 0);
}

WEFT_INTERPOSE void AnnotateIgnoreReadsBegin(const char*, int) { ignore_accesses(true); }
WEFT_INTERPOSE void AnnotateIgnoreReadsEnd(const char*, int) { ignore_accesses(false); }
WEFT_INTERPOSE void AnnotateIgnoreWritesBegin(const char*, int) { ignore_accesses(true); }
WEFT_INTERPOSE void AnnotateIgnoreWritesEnd(const char*, int) { ignore_accesses(false); }
WEFT_INTERPOSE void AnnotateIgnoreSyncBegin(const char*, int) { ignore_order(true); }
WEFT_INTERPOSE void AnnotateIgnoreSyncEnd(const char*, int) { ignore_order(false); }
WEFT_INTERPOSE void __tsan_ignore_thread_begin() { ignore_accesses(true); }
WEFT_INTERPOSE void __tsan_ignore_thread_end() { ignore_accesses(false); }

// Of no consequence here: code that says so is explored, and its races told, all the same.
WEFT_INTERPOSE void AnnotateBenignRaceSized(const char*, int, const volatile void*, std::size_t,
                                            const char*) {}
WEFT_INTERPOSE void AnnotateBenignRace(const char*, int, const volatile void*, const char*) {}
WEFT_INTERPOSE void AnnotateThreadName(const char*, int, const char*) {}
WEFT_INTERPOSE void AnnotateEnableRaceDetection(const char*, int, int) {}
