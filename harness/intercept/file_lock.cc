// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The lock of a FILE, held over several calls: flockfile() and its kin. It is recursive. A task
// that finds it held is not enabled; who gets it takes the real one as well, under which libc's
// own functions then print for the owner. Where another task calls one of those meanwhile, it waits
// inside libc, and the watchdog names it.
#include "harness/intercept/file_lock.h"

#include <cstdio>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/lock_misuse.h"

namespace weft::intercept {
namespace {

std::uintptr_t address_of(const FILE* file) noexcept {
  return reinterpret_cast<std::uintptr_t>(file);
}

void taken(Task& self, const FILE* file, std::uintptr_t pc) noexcept {
  self.execution->locks().acquired(address_of(file), self.index, pc, model::LockKind::kFile);
  self.execution->acquire(self, address_of(file));
  self.execution->refresh(address_of(file));
}

}  // namespace

void unlock_files(Execution& execution) noexcept {
  execution.locks().for_each([](const model::Hold& hold) {
    if (hold.kind != model::LockKind::kFile) return;
    // libc does not look at who unlocks.
    for (std::uint32_t i = 0; i < hold.depth; ++i)
      hot.funlockfile(reinterpret_cast<FILE*>(hold.address));
  });
}

}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE void flockfile(FILE* file) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(flockfile)(file);
  announce(*self, operation_on(OpKind::kFileLock, file, WEFT_CALLER));
  // No task holds it, but one may be in the middle of a call that does: in a function of
  // fopencookie()'s, for one.
  if (hot.ftrylockfile(file) != 0) hot.flockfile(file);
  taken(*self, file, WEFT_CALLER);
}

WEFT_INTERPOSE int ftrylockfile(FILE* file) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(ftrylockfile)(file);
  announce(*self, operation_on(OpKind::kFileTryLock, file, WEFT_CALLER));
  const int error = hot.ftrylockfile(file);
  if (error == 0) taken(*self, file, WEFT_CALLER);
  self->execution->yielded(*self, static_cast<std::uint64_t>(error));
  return error;
}

WEFT_INTERPOSE void funlockfile(FILE* file) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(funlockfile)(file);
  announce(*self, operation_on(OpKind::kFileUnlock, file, WEFT_CALLER));
  require_holder(*self, address_of(file), true, "an unlock of a FILE", WEFT_CALLER);
  hot.funlockfile(file);
  self->execution->locks().released(address_of(file));
  self->execution->release(*self, address_of(file));
  self->execution->refresh(address_of(file));
}

/// Waits for the lock as flockfile() does, and takes it along: what lies there next is another.
WEFT_INTERPOSE int fclose(FILE* file) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(fclose)(file);
  weft::model::LockTable& locks = self->execution->locks();
  if (locks.holder(address_of(file)) != weft::kNoTaskIndex) {
    announce(*self, operation_on(OpKind::kFileLock, file, WEFT_CALLER));
    while (locks.holder(address_of(file)) == self->index) locks.released(address_of(file));
    self->execution->refresh(address_of(file));
  }
  return hot.fclose(file);
}
