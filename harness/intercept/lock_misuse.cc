// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/intercept/lock_misuse.h"

#include "harness/base/text_buffer.h"
#include "harness/model/mutex.h"
#include "harness/model/rwlock.h"

namespace weft::intercept {
namespace {

[[noreturn]] void misuse(Task& self, std::uintptr_t object, const char* what,
                         std::uintptr_t pc) noexcept {
  self.execution->channel().finding.object = self.execution->object_of(object);
  self.execution->fail_at(self, pc, trace::FindingKind::kLockMisuse, what);
}

const char* destroyed_while_held(model::LockKind kind) noexcept {
  switch (kind) {
    case model::LockKind::kMutex: return "a mutex is destroyed while held";
    case model::LockKind::kReadersWriter: return "a readers-writer lock is destroyed while held";
    case model::LockKind::kSpin: return "a spin lock is destroyed while held";
    case model::LockKind::kInitialiser: return "an object is destroyed while its initialiser runs";
    case model::LockKind::kLoader: return "the loader's lock is destroyed while held";
    case model::LockKind::kFile: return "a FILE is closed while its lock is held";
  }
  WEFT_UNREACHABLE("an unknown kind of lock");
}

}  // namespace

void require_held(Task& self, const pthread_mutex_t* mutex, const char* otherwise,
                  std::uintptr_t pc) noexcept {
  const model::MutexKind kind = model::kind_of(*mutex);
  if (kind != model::MutexKind::kNormal && kind != model::MutexKind::kAdaptive) return;
  require_holder(self, reinterpret_cast<std::uintptr_t>(mutex), model::is_free(*mutex), otherwise,
                 pc);
}

void require_holder(Task& self, std::uintptr_t lock, bool known_free, const char* otherwise,
                    std::uintptr_t pc) noexcept {
  const TaskIndex holder = self.execution->locks().holder(lock);
  if (holder == self.index || (holder == kNoTaskIndex && !known_free)) return;
  FixedText<256> text;
  text.append(otherwise).append(holder == kNoTaskIndex ? " that nobody holds"
                                                       : " that another task holds");
  misuse(self, lock, text.c_str(), pc);
}

void require_held(Task& self, const pthread_rwlock_t* lock, std::uintptr_t pc) noexcept {
  constexpr char kOtherwise[] = "an unlock of a readers-writer lock";
  const auto address = reinterpret_cast<std::uintptr_t>(lock);
  const std::uint32_t read_by_tasks = self.execution->locks().read_depth(address);
  if (model::rwlock::is_write_locked(*lock) || read_by_tasks == 0) {
    const bool known_free =
        !model::rwlock::is_write_locked(*lock) && model::rwlock::readers(*lock) == 0;
    return require_holder(self, address, known_free, kOtherwise, pc);
  }
  if (self.execution->locks().reads(address, self.index) ||
      model::rwlock::readers(*lock) > read_by_tasks)
    return;
  misuse(self, address, "an unlock of a readers-writer lock that only other tasks hold", pc);
}

void require_not_destroyed(Task& self, const pthread_mutex_t* mutex, const char* what,
                           std::uintptr_t pc) noexcept {
  if (model::kind_of(*mutex) != model::MutexKind::kDestroyed) return;
  FixedText<256> text;
  text.append(what).append(" after it was destroyed");
  misuse(self, reinterpret_cast<std::uintptr_t>(mutex), text.c_str(), pc);
}

void require_not_held(Task& self, const pthread_mutex_t* mutex, std::uintptr_t pc) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(mutex);
  // The memory of a lock that ended while held may have been given another content since.
  if (self.execution->locks().holder(address) == kNoTaskIndex || model::is_free(*mutex)) return;
  misuse(self, address, "a mutex is initialised while held", pc);
}

void require_joinable(Task& self, const Task& thread, const char* what,
                      std::uintptr_t pc) noexcept {
  if (!thread.joined && !thread.detached) return;
  FixedText<256> text;
  text.append(what).append(thread.joined ? " of a thread that has been joined"
                                         : " of a thread that is detached");
  self.execution->channel().finding.object = {thread.id.value, 0, 0, ObjectSpace::kTask};
  self.execution->fail_at(self, pc, trace::FindingKind::kLockMisuse, text.c_str());
}

void require_same_mutex(Task& self, const pthread_cond_t* condition, const pthread_mutex_t* mutex,
                        std::uintptr_t pc) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(condition);
  Execution& execution = *self.execution;
  for (std::size_t i = 0; i < execution.task_count(); ++i) {
    const Task& other = execution.task(static_cast<TaskIndex>(i));
    if (other.state == engine::TaskState::kEnded || other.pending.kind != OpKind::kCondBlocked ||
        other.pending.address != address ||
        other.pending.argument == reinterpret_cast<std::uintptr_t>(mutex))
      continue;
    misuse(self, address,
           "a wait on a condition variable on which another task waits with another mutex", pc);
  }
}

void require_unused(Task& self, std::uintptr_t begin, std::size_t size,
                    std::uintptr_t pc) noexcept {
  Execution& execution = *self.execution;
  const auto inside = [&](std::uintptr_t address) { return address - begin < size; };
  execution.locks().for_each([&](const model::Hold& hold) {
    if (inside(hold.address)) misuse(self, hold.address, destroyed_while_held(hold.kind), pc);
  });
  for (std::size_t i = 0; i < execution.task_count(); ++i) {
    const Task& other = execution.task(static_cast<TaskIndex>(i));
    if (other.state == engine::TaskState::kEnded || !inside(other.pending.address)) continue;
    if (other.pending.kind == OpKind::kCondBlocked) {
      misuse(self, other.pending.address,
             "a condition variable is destroyed while a task waits on it", pc);
    }
    if (other.pending.kind == OpKind::kFutexBlocked) {
      misuse(self, other.pending.address, "an atomic is destroyed while a task waits on it", pc);
    }
  }
}

}  // namespace weft::intercept
