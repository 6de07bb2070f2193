// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Named semaphores. A name given by a task belongs to the execution: nothing of it is
// left in /dev/shm, and the next execution starts without it.
#include <fcntl.h>
#include <semaphore.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "harness/intercept/per_execution.h"

namespace weft::intercept {

struct NamedSemaphore {
  char name[NAME_MAX + 1] = {};
  sem_t* semaphore = nullptr;
  unsigned opened = 0;  // sem_open without its sem_close yet
  bool linked = true;   // until sem_unlink
  NamedSemaphore* earlier = nullptr;
};

namespace {

template <typename Accept>
NamedSemaphore* find(Task& self, Accept accept) noexcept {
  for (NamedSemaphore* at = per_execution(self).semaphores; at != nullptr; at = at->earlier) {
    if (accept(*at)) return at;
  }
  return nullptr;
}

NamedSemaphore* find_name(Task& self, const char* name) noexcept {
  return find(
      self, [&](const NamedSemaphore& at) { return at.linked && std::strcmp(at.name, name) == 0; });
}

/// The rest of a name after its leading slash; null where there is no such name.
const char* valid_name(const char* name) noexcept {
  if (*name == '/') ++name;
  const std::size_t length = std::strlen(name);
  return length == 0 || length > NAME_MAX - 4 || std::strchr(name, '/') != nullptr ? nullptr : name;
}

void free_if_unused(NamedSemaphore& named) noexcept {
  if (named.linked || named.opened != 0 || named.semaphore == nullptr) return;
  std::free(named.semaphore);
  named.semaphore = nullptr;
}

sem_t* fail_with(int error) noexcept {
  errno = error;
  return SEM_FAILED;
}

sem_t* open(Task& self, const char* given, int flags, unsigned value, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kSemName, nullptr, pc));
  const char* const name = valid_name(given);
  if (name == nullptr) return fail_with(EINVAL);
  NamedSemaphore* named = find_name(self, name);
  if (named != nullptr && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return fail_with(EEXIST);
  if (named == nullptr) {
    if ((flags & O_CREAT) == 0) return fail_with(ENOENT);
    if (value > SEM_VALUE_MAX) return fail_with(EINVAL);
    auto* const semaphore = static_cast<sem_t*>(std::malloc(sizeof(sem_t)));
    if (semaphore == nullptr) return fail_with(ENOMEM);
    sem_init(semaphore, 0, value);
    named = self.execution->arena().make<NamedSemaphore>();
    std::strcpy(named->name, name);
    named->semaphore = semaphore;
    named->earlier = per_execution(self).semaphores;
    per_execution(self).semaphores = named;
  }
  ++named->opened;
  return named->semaphore;
}

int error_of(int error) noexcept {
  errno = error;
  return -1;
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE sem_t* sem_open(const char* name, int flags, ...) noexcept {
  mode_t mode = 0;
  unsigned value = 0;
  if ((flags & O_CREAT) != 0) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, mode_t);
    value = va_arg(list, unsigned);
    va_end(list);
  }
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_open)(name, flags, mode, value);
  return open(*self, name, flags, value, WEFT_CALLER);
}

WEFT_INTERPOSE int sem_close(sem_t* semaphore) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_close)(semaphore);
  announce(*self, operation_on(OpKind::kSemName, nullptr, WEFT_CALLER));
  NamedSemaphore* const named = find(
      *self, [&](const NamedSemaphore& at) { return at.semaphore == semaphore && at.opened != 0; });
  if (named == nullptr) return error_of(EINVAL);
  --named->opened;
  free_if_unused(*named);
  return 0;
}

WEFT_INTERPOSE int sem_unlink(const char* given) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sem_unlink)(given);
  announce(*self, operation_on(OpKind::kSemName, nullptr, WEFT_CALLER));
  const char* const name = valid_name(given);
  NamedSemaphore* const named = name == nullptr ? nullptr : find_name(*self, name);
  if (named == nullptr) return error_of(ENOENT);
  named->linked = false;
  free_if_unused(*named);
  return 0;
}
