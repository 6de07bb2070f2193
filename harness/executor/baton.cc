// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/baton.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/base/mapping.h"
#include "harness/base/system_call.h"
#include "harness/engine/task.h"
#include "harness/engine/unwind.h"
#include "harness/executor/raw_syscall.h"

namespace weft::executor {
namespace {

// Where the stacks lie: far from where the kernel puts libraries, heaps and the
// sanitizers' shadow. 1,024 slots of 8 MiB are 8 GiB of address space; only
// pages that are touched cost memory.
constexpr std::uintptr_t kStackBase = 0x5f0000000000;
constexpr std::size_t kStackBytes = std::size_t{8} << 20;  // the usual limit of a main thread
constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kSignalStackBytes = 64 * 1024;  // the unwinder needs about 10 KiB

constexpr std::uintptr_t slot_base(std::size_t slot) { return kStackBase + slot * kStackBytes; }

}  // namespace

Baton::Baton(engine::ProcessImage& image, trace::Channel& channel, bool fresh) noexcept
    : image_(image), channel_(channel), fresh_(fresh), slots_(trace::kMaxTasks) {}

Baton::Slot& Baton::slot_of(const engine::Task& task) noexcept { return slots_[task.slot]; }

engine::Executor::StackArea Baton::stack_area(std::size_t slot) const noexcept {
  return {slot_base(slot) + kGuardBytes, slot_base(slot) + kStackBytes - kSignalStackBytes};
}

pthread_t Baton::thread_of(std::size_t slot) const noexcept { return slots_[slot].thread; }

// --- The baton

void Baton::grant(std::atomic<std::int32_t>& state) noexcept {
  // acq_rel: everything done under the baton so far happens before what the next holder does.
  if (state.exchange(1, std::memory_order_acq_rel) == -1) raw_futex_wake(state);
}

void Baton::await_state(std::atomic<std::int32_t>& state) noexcept {
  std::int32_t expected = 0;
  // acquire: pairs with the grant; acq_rel on success orders our going to sleep before it.
  if (state.load(std::memory_order_acquire) != 1) {
    state.compare_exchange_strong(expected, -1, std::memory_order_acq_rel,
                                  std::memory_order_acquire);
    while (state.load(std::memory_order_acquire) != 1) raw_futex_wait(state, -1);
  }
  state.store(0, std::memory_order_relaxed);  // we hold the baton: nobody else looks
}

__attribute__((noinline)) void Baton::await(Slot& slot) {
  for (;;) {
    await_state(slot.state);
    if (slot.abandoned) {
      asan::drop_frames();
      __builtin_longjmp(slot.restart, 1);
    }
    if (slot.asking == nullptr) break;
    slot.frame_count =
        engine::capture_stack(slot.frames, slot.frame_capacity, slot.task->pending.pc);
    std::atomic<std::int32_t>& asking = *slot.asking;
    slot.asking = nullptr;
    grant(asking);
  }
  channel_.running_tid.store(slot.tid, std::memory_order_relaxed);
}

// --- Threads

bool Baton::make_thread(Slot& slot, std::size_t index) noexcept {
  const std::uintptr_t base = slot_base(index);
  if (!slot.has_thread) {
    // Not by libc's function: on a task's thread that is the task's own mapping.
    const long result =
        system_call(SYS_mmap, base, kStackBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (is_error(result) && result != -EEXIST) {
      errno = static_cast<int>(-result);
      return false;
    }
    auto* const area = reinterpret_cast<void*>(result);
    WEFT_CHECK(area == reinterpret_cast<void*>(base),
               "something else lies where the tasks' stacks belong");
    if (mprotect(area, kGuardBytes, PROT_NONE) != 0) return false;
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(base + kGuardBytes),
                        kStackBytes - kGuardBytes - kSignalStackBytes);
  slot.owner = this;
  int error = 0;
  {
    const engine::InterceptionOff off;  // a thread of ours, not of the subject
    error = pthread_create(&slot.thread, &attributes, &Baton::thread_main, &slot);
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return false;
  }
  slot.has_thread = true;
  return true;
}

bool Baton::start(engine::Task& task, std::size_t index) noexcept {
  Slot& slot = slots_[index];
  slot.task = &task;
  if ((fresh_ || !slot.has_thread) && !make_thread(slot, index)) return false;
  if (index >= used_slots_) used_slots_ = index + 1;
  return true;
}

void* Baton::thread_main(void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  // Fatal signals are handled on a stack of their own, so that an overflow of the task's stack can
  // be reported.
  stack_t signal_stack{};
  signal_stack.ss_sp = reinterpret_cast<void*>(
      slot_base(static_cast<std::size_t>(&slot - slot.owner->slots_.data())) + kStackBytes -
      kSignalStackBytes);
  signal_stack.ss_size = kSignalStackBytes;
  sigaltstack(&signal_stack, nullptr);
  slot.tid = static_cast<std::int32_t>(raw_syscall(SYS_gettid));
  Baton& owner = *slot.owner;
  if (owner.fresh_) {
    owner.serve(slot);
  } else {
    for (;;) owner.serve(slot);
  }
  return nullptr;
}

// Not noexcept, like everything between here and the subject's code: an exception
// that nobody catches must find no handler at all, so that std::terminate is
// called where it was thrown, with the thrower's stack in place.
void Baton::serve(Slot& slot) {
  if (__builtin_setjmp(slot.restart) != 0) {
    slot.abandoned = false;
    image_.reset_thread_locals();
    grant(controller_);
    if (fresh_) return;
  }
  await(slot);
  slot.task->run();
}

// --- Switching

void Baton::run(engine::Task& first) noexcept {
  grant(slot_of(first).state);
  await_state(controller_);
}

void Baton::switch_to(engine::Task& from, engine::Task& to) noexcept {
  grant(slot_of(to).state);
  await(slot_of(from));
}

void Baton::leave(engine::Task&, engine::Task& to) noexcept {
  image_.reset_thread_locals();
  grant(slot_of(to).state);
}

void Baton::finish(engine::Task&) noexcept {
  image_.reset_thread_locals();
  grant(controller_);
}

void Baton::abandon(engine::Task& from) {
  grant(controller_);
  await(slot_of(from));  // recycle() takes it from here
  WEFT_UNREACHABLE("an abandoned task was resumed");
}

void Baton::recycle() noexcept {
  // A task that waits for ever is dropped where it stands. No destructor runs;
  // none is missed, for all memory of the subject is about to be restored.
  for (std::size_t i = 0; i < used_slots_; ++i) {
    Slot& slot = slots_[i];
    if (!slot.has_thread || slot.task->state == engine::TaskState::kEnded) continue;
    slot.abandoned = true;
    grant(slot.state);
    await_state(controller_);
  }
  if (!fresh_) return;
  for (std::size_t i = 0; i < used_slots_; ++i) {
    if (slots_[i].has_thread) pthread_join(slots_[i].thread, nullptr);
  }
  used_slots_ = 0;
}

std::size_t Baton::parked_stack(engine::Task& asking, engine::Task& parked, std::uintptr_t* frames,
                                std::size_t capacity) noexcept {
  Slot& slot = slot_of(parked);
  Slot& mine = slot_of(asking);
  slot.frames = frames;
  slot.frame_capacity = capacity;
  slot.asking = &mine.state;
  grant(slot.state);
  await_state(mine.state);
  return slot.frame_count;
}

}  // namespace weft::executor

namespace weft::engine {

Executor& make_executor(ProcessImage& image, trace::Channel& channel, bool fresh_threads) noexcept {
  // Never unmapped: it lives as long as the worker.
  static_assert(alignof(executor::Baton) <= 4096);
  void* const memory = mmap(nullptr, sizeof(executor::Baton), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WEFT_CHECK(memory != MAP_FAILED, "out of memory for the executor");
  return *::new (memory) executor::Baton(image, channel, fresh_threads);
}

}  // namespace weft::engine
