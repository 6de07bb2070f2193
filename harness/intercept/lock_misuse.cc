// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/intercept/lock_misuse.h"

#include "harness/base/text_buffer.h"
#include "harness/model/mutex.h"

namespace weft::intercept {
namespace {

[[noreturn]] void misuse(Task& self, std::uintptr_t object, const char* what,
                         std::uintptr_t pc) noexcept {
  self.execution->channel().finding.object = self.execution->object_of(object);
  self.execution->fail_at(self, pc, trace::FindingKind::kLockMisuse, what);
}

}  // namespace

void require_held(Task& self, const pthread_mutex_t* mutex, const char* otherwise,
                  std::uintptr_t pc) noexcept {
  const model::MutexKind kind = model::kind_of(*mutex);
  if (kind != model::MutexKind::kNormal && kind != model::MutexKind::kAdaptive) return;
  const auto address = reinterpret_cast<std::uintptr_t>(mutex);
  const TaskIndex holder = self.execution->locks().holder(address);
  if (holder == self.index) return;
  // Locked before the exploration, by no task: whose it is cannot be known.
  if (holder == kNoTaskIndex && !model::is_free(*mutex)) return;
  FixedText<256> text;
  text.append(otherwise).append(holder == kNoTaskIndex ? " that nobody holds"
                                                       : " that another task holds");
  misuse(self, address, text.c_str(), pc);
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
    if (inside(hold.address)) misuse(self, hold.address, "a mutex is destroyed while held", pc);
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
