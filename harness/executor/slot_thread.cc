// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/slot_thread.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "harness/base/check.h"
#include "harness/base/mapping.h"
#include "harness/base/system_call.h"
#include "harness/base/thread_sanitizer.h"
#include "harness/engine/task.h"

namespace weft::executor {
namespace {

// Where the stacks lie: far from where the kernel puts libraries, heaps and the
// sanitizers' shadow. 1,024 slots of 8 MiB are 8 GiB of address space; only
// pages that are touched cost memory.
constexpr std::uintptr_t kStackBase = tsan::kEnabled ? 0x590000000000 : 0x5f0000000000;
constexpr std::size_t kStackBytes = std::size_t{8} << 20;  // the usual limit of a main thread
constexpr std::size_t kGuardBytes = 4096;

// Between the first frame of a kernel thread and its task's: what waits for the task lives there.
constexpr std::size_t kGapBytes = 16 * 1024;

constexpr std::uintptr_t slot_base(std::size_t slot) { return kStackBase + slot * kStackBytes; }

[[nodiscard]] bool map_stack(std::size_t slot) noexcept {
  const std::uintptr_t base = slot_base(slot);
  // Not by libc's function: on a task's thread that is the task's own mapping.
  const long result =
      system_call(SYS_mmap, base, kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (is_error(result) && result != -EEXIST) {
    errno = static_cast<int>(-result);
    return false;
  }
  WEFT_CHECK(result == static_cast<long>(base),
             "something else lies where the tasks' stacks belong");
  return !is_error(system_call(SYS_mprotect, base, kGuardBytes, PROT_NONE));
}

/// ThreadSanitizer is not to know of threads that only park: to it a task is a fiber.
decltype(&pthread_create) creator(ThreadUse use) noexcept {
  if (!tsan::kEnabled || use == ThreadUse::kRuns) return &pthread_create;
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<decltype(&pthread_create)>(dlsym(libc, "pthread_create"));
}

void* thread_main(void* argument) {
  SlotThread& thread = *static_cast<SlotThread*>(argument);
  // Fatal signals are handled on a stack of their own, so that an overflow of the task's stack can
  // be reported.
  stack_t signal_stack{};
  signal_stack.ss_sp =
      reinterpret_cast<void*>(slot_base(thread.slot) + kStackBytes - kSignalStackBytes);
  signal_stack.ss_size = kSignalStackBytes;
  sigaltstack(&signal_stack, nullptr);
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  thread.task_stack = (frame & ~(kPageBytes - 1)) - kGapBytes;
  const engine::Executor::StackArea area = stack_area(thread.slot);
  thread.fake_stack.adopt(thread.slot, area.low, area.high);
  // release: pairs with the acquire of whoever waits for the thread; task_stack is filled in.
  thread.tid.store(static_cast<std::int32_t>(system_call(SYS_gettid)), std::memory_order_release);
  thread.serve(thread.argument);
  thread.fake_stack.leave(area.low, area.high);
  return nullptr;
}

}  // namespace

engine::Executor::StackArea stack_area(std::size_t slot) noexcept {
  return {slot_base(slot) + kGuardBytes, slot_base(slot) + kStackBytes - kSignalStackBytes};
}

bool start_thread(SlotThread& thread, std::size_t slot, void (*serve)(void*), void* argument,
                  ThreadUse use) noexcept {
  if (!thread.has_stack && !map_stack(slot)) return false;
  thread.has_stack = true;
  thread.slot = slot;
  thread.serve = serve;
  thread.argument = argument;
  thread.tid.store(0, std::memory_order_relaxed);
  const engine::Executor::StackArea area = stack_area(slot);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(area.low), area.high - area.low);
  int error = 0;
  {
    const engine::InterceptionOff off;  // a thread of ours, not of the subject
    error = creator(use)(&thread.thread, &attributes, &thread_main, &thread);
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return false;
  }
  thread.exists = true;
  return true;
}

// Not noexcept, like everything between here and the subject's code: an exception
// that nobody catches must find no handler at all, so that std::terminate is
// called where it was thrown, with the thrower's stack in place.
void run_task(void* task) { static_cast<engine::Task*>(task)->run(); }

}  // namespace weft::executor
