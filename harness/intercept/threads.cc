// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Threads: create, join, detach, exit.
#include <unwind.h>

#include <cerrno>
#include <cstring>
#include <exception>

#include "harness/base/address_sanitizer.h"
#include "harness/engine/subject.h"
#include "harness/intercept/lock_misuse.h"
#include "harness/intercept/thread_record.h"

namespace weft::intercept {
namespace {

/// Who asks for the usual 8 MiB is not to be refused for what the executor keeps of them.
constexpr std::size_t kStackUsedByUs = 256 * 1024;

}  // namespace

Task* task_of(Execution& execution, pthread_t thread) noexcept {
  Task* const task = task_ever_of(execution, thread);
  return task == nullptr || task->joined ? nullptr : task;
}

Task* task_ever_of(Execution& execution, pthread_t thread) noexcept {
  for (Task& task : execution.tasks()) {
    if (task.thread == thread && task.kind == engine::TaskKind::kThread) return &task;
  }
  return nullptr;
}

int create(Task& self, pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
           void* argument, std::uintptr_t pc) noexcept {
  Execution& execution = *self.execution;
  if (attributes != nullptr) {
    const engine::Executor::StackArea area = execution.executor().stack_area(self.slot);
    std::size_t stack_bytes = 0;
    pthread_attr_getstacksize(attributes, &stack_bytes);
    if (stack_bytes > area.high - area.low + kStackUsedByUs)
      unsupported(self, "a thread with a stack of more than 8 MiB");
  }
  announce(self, operation_on(OpKind::kSpawn, nullptr, pc));
  ThreadRecord* const record = execution.arena().make<ThreadRecord>();
  record->start = start;
  record->argument = argument;
  std::memcpy(record->name, record_of(self).name, sizeof record->name);
  Task* const child = execution.spawn(self, &run_thread, record);
  if (child == nullptr) return EAGAIN;
  int detach_state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &detach_state);
  if (detach_state == PTHREAD_CREATE_DETACHED) execution.detach(*child);
  *thread = child->thread;
  execution.yielded(self, child->index);
  return 0;
}

int join(Task& self, pthread_t thread, void** result, std::uint64_t deadline,
         std::uintptr_t pc) noexcept {
  Execution& execution = *self.execution;
  Task* const target = task_ever_of(execution, thread);
  if (target == nullptr) return ESRCH;
  if (target == &self) return EDEADLK;
  require_joinable(self, *target, "a join", pc);
  Operation op = operation_on(OpKind::kJoin, nullptr, pc);
  op.argument = target->index;
  op.deadline = deadline;
  announce(self, op);
  if (target->state != engine::TaskState::kEnded) return ETIMEDOUT;
  require_joinable(self, *target, "a join", pc);
  target->joined = true;
  execution.ordering().joined(self.index, target->index, target->operation_index);
  if (result != nullptr) *result = record_of(*target).result;
  return 0;
}

int detach(Task& self, pthread_t thread, std::uintptr_t pc) noexcept {
  Task* const target = task_ever_of(*self.execution, thread);
  if (target == nullptr) return ESRCH;
  Operation op = operation_on(OpKind::kDetach, nullptr, pc);
  op.argument = target->index;
  announce(self, op);
  require_joinable(self, *target, "a detach", pc);
  self.execution->detach(*target);
  return 0;
}

namespace {

_Unwind_Reason_Code stop_at_thread_frame(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                         _Unwind_Exception*, _Unwind_Context* context,
                                         void* argument) {
  auto& record = *static_cast<ThreadRecord*>(argument);
  // Stacks grow down: a frame above ours means that every frame of the subject has been unwound.
  if ((actions & _UA_END_OF_STACK) != 0 || _Unwind_GetCFA(context) > record.frame) {
    __builtin_longjmp(record.exit_buffer, 1);
  }
  return _URC_NO_REASON;
}

}  // namespace

[[noreturn]] void exit_thread(Task& self, void* result) {
  ThreadRecord& record = record_of(self);
  record.result = result;
  auto* const exception = self.execution->arena().make<_Unwind_Exception>();
  asan::drop_frames();
  _Unwind_ForcedUnwind(exception, &stop_at_thread_frame, &record);
  std::terminate();  // only where the unwinder finds the stack unreadable
}

namespace {

// A frame of its own, so that pthread_exit's jump skips nothing of run_thread's.
__attribute__((noinline)) void run_start(ThreadRecord& record) {
  record.frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (__builtin_setjmp(record.exit_buffer) == 0) record.result = record.start(record.argument);
}

}  // namespace

void run_thread(Task& self) {
  Execution& execution = *self.execution;
  execution.began(self);
  errno = 0;  // as in a new thread; libc's thread_locals are not restored
  run_start(record_of(self));
  run_exit_destructors(self);
  give_mask_back(record_of(self));
  announce(self, operation_on(OpKind::kTaskEnd, nullptr, 0));
  current_task = nullptr;
  execution.end(self);
}

}  // namespace weft::intercept

namespace weft::engine {

void run_root(Task& self) {
  const RootBody* const root = static_cast<const RootBody*>(self.record);
  auto* const record = self.execution->arena().make<intercept::ThreadRecord>();
  record->start = [](void* argument) -> void* {
    const auto* body = static_cast<const RootBody*>(argument);
    body->body(body->argument);
    return nullptr;
  };
  record->argument = const_cast<RootBody*>(root);
  const char* const name = program_invocation_short_name;
  for (std::size_t i = 0; i + 1 < sizeof record->name && name[i] != '\0'; ++i)
    record->name[i] = name[i];
  self.record = record;
  intercept::run_thread(self);
}

}  // namespace weft::engine

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                  void* (*start)(void*), void* argument) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_create)(thread, attributes, start, argument);
  return create(*self, thread, attributes, start, argument, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_join(pthread_t thread, void** result) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_join)(thread, result);
  return join(*self, thread, result, weft::trace::kNever, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_tryjoin_np)(thread, result);
  Task* const target = task_ever_of(*self->execution, thread);
  if (target == nullptr) return ESRCH;
  announce(*self, operation_on(OpKind::kYield, nullptr, WEFT_CALLER));
  require_joinable(*self, *target, "a join", WEFT_CALLER);
  if (target->state != weft::engine::TaskState::kEnded) return EBUSY;
  return join(*self, thread, result, weft::trace::kNever, WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_timedjoin_np)(thread, result, until);
  return join(*self, thread, result, weft::model::VirtualTime::deadline(CLOCK_REALTIME, *until),
              WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                        const timespec* until) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_clockjoin_np)(thread, result, clock, until);
  return join(*self, thread, result, weft::model::VirtualTime::deadline(clock, *until),
              WEFT_CALLER);
}

WEFT_INTERPOSE int pthread_detach(pthread_t thread) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_detach)(thread);
  return detach(*self, thread, WEFT_CALLER);
}

WEFT_INTERPOSE __attribute__((noreturn)) void pthread_exit(void* result) {
  Task* const self = current_task;
  if (self == nullptr) {
    WEFT_REAL(pthread_exit)(result);
    __builtin_unreachable();
  }
  exit_thread(*self, result);
}
