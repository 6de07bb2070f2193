// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/alias.h"

#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/base/fake_stack.h"
#include "harness/base/system_call.h"
#include "harness/engine/unwind.h"
#include "harness/engine/worker.h"
#include "harness/executor/futex.h"
#include "harness/executor/stack_switch.h"

namespace weft::executor {
namespace {

/// Of a slot's stack, above its tasks': for what goes on around a task.
constexpr std::size_t kAroundBytes = 4096;

// Of Slot::awake: the kernel thread may go on; it has. 0: it sleeps.
constexpr std::int32_t kAwake = 1;
constexpr std::int32_t kBack = 2;
constexpr int kRoundsToComeBack = 1000;  // of a millisecond

[[noreturn]] void stay_for_the_debugger() noexcept {
  for (;;) system_call(SYS_pause);
}

/// Somebody looked at the tasks with a debugger and let go, and the one that goes on has come to a
/// switch: all others are stopped for good.
[[noreturn]] void leave_to_nobody() noexcept {
  for (;;) system_call(SYS_exit_group, static_cast<int>(engine::WorkerExit::kLeft));
}

/// By a call: the compiler takes errno's address for one that does not change in a function.
__attribute__((noinline)) void set_error_number(int error) noexcept { errno = error; }

}  // namespace

Alias::Alias(engine::ProcessImage& image) noexcept
    : image_(image), slots_(trace::kMaxTasks), signal_stack_(kSignalStackBytes) {}

const char* Alias::prepare(std::atomic<std::int32_t>& running_tid) noexcept {
  // The carrier takes the signals of all tasks.
  stack_t signal_stack{};
  signal_stack.ss_sp = signal_stack_.data();
  signal_stack.ss_size = signal_stack_.size();
  sigaltstack(&signal_stack, nullptr);
  loaded_code_.accept();
  if (!start_kernel_thread(slots_[0], 0)) return "the system refuses another thread";
  const char* const unlike = carrier_.discover(slots_[0].identity);
  if (unlike != nullptr) return unlike;
  fake_stack_word_ = asan::fake_stack_word();
  if (asan::has_fake_stacks() && fake_stack_word_ == nullptr)
    return "AddressSanitizer's word for the thread's fake stack cannot be told from others";
  running_ = &controller_;
  controller_.identity = carrier_.own();
  controller_.fiber.adopt();
  engine::shared_error_number = carrier_.error_number();
  running_tid.store(controller_.identity.tid, std::memory_order_relaxed);
  return nullptr;
}

// --- Kernel threads

bool Alias::start_kernel_thread(Slot& slot, std::size_t index) noexcept {
  slot.owner = this;
  if (!start_thread(slot.thread, index, &Alias::serve, &slot, ThreadUse::kParks)) return false;
  // acquire: pairs with the thread's store in weft_park(); from then on its stack is ours.
  while (slot.asleep.load(std::memory_order_acquire) == 0) futex_wait(slot.asleep, 0);
  slot.identity = identity_of(slot.thread.thread, slot.thread.tid.load(std::memory_order_relaxed));
  slot.fake_stack = slot.thread.fake_stack.address();
  return true;
}

void Alias::serve(void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  sigset_t all;
  sigfillset(&all);
  // By the system call: libc's function keeps two signals of its own deliverable.
  system_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, nullptr, 8);
  weft_park(&slot.context, &slot.asleep, &slot.awake);
  WEFT_UNREACHABLE("a kernel thread went on without a task");
}

bool Alias::start(engine::Task& task, std::size_t index) noexcept {
  Slot& slot = slots_[index];
  slot.task = &task;
  if (!slot.thread.exists) {
    // What libc does for a new thread, it does for the thread that it takes us for.
    Slot& creator = *running_;
    take_for(controller_);
    const bool started = start_kernel_thread(slot, index);
    take_for(creator);
    if (!started) return false;
  }
  slot.fiber.create_once();
  slot.context = make_context(slot.thread.task_stack + kAroundBytes, &Alias::begin, &slot);
  if (index >= used_slots_) used_slots_ = index + 1;
  return true;
}

void Alias::begin(void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  slot.owner->came_back(slot);
  weft_call_on_stack(slot.thread.task_stack, &run_task, slot.task);
}

// --- Switching

void Alias::take_for(Slot& next) noexcept {
  if (asan::kEnabled && fake_stack_word_ != nullptr) {
    running_->fake_stack = *fake_stack_word_;
    *fake_stack_word_ = next.fake_stack;
  }
  carrier_.change(running_->identity, next.identity);
  next.fiber.enter();
  running_ = &next;
}

void Alias::resume(Slot& from, Slot& to) noexcept {
  if (thawed_) [[unlikely]]
    leave_to_nobody();
  take_for(to);
  weft_switch_stack(&from.context, to.context);
  came_back(from);
}

/// `slot` runs again.
void Alias::came_back(Slot& slot) noexcept {
  if (slot.asking == nullptr) [[likely]]
    return;
  if (thawed_) {
    // release: pairs with the acquire of who waits for it.
    slot.awake.store(kBack, std::memory_order_release);
    futex_wake(slot.awake);
    stay_for_the_debugger();
  }
  Slot& asking = *slot.asking;
  slot.asking = nullptr;
  slot.frame_count = engine::capture_stack(slot.frames, slot.frame_capacity, slot.task->pending.pc);
  resume(slot, asking);
}

/// `from` has no further use for its stack.
void Alias::end(Slot&, Slot& to) noexcept {
  if (thawed_) leave_to_nobody();
  take_for(to);
  weft_leave_stack(to.context);
}

void Alias::run(engine::Task& first) noexcept {
  const int error = *carrier_.error_number();
  resume(controller_, slot_of(first));
  *carrier_.error_number() = error;
  if (thawing_ == nullptr) [[likely]]
    return;
  wake_others();
  wake(*thawing_);
  stay_for_the_debugger();
}

void Alias::switch_to(engine::Task& from, engine::Task& to) noexcept {
  const int error = *carrier_.error_number();
  resume(slot_of(from), slot_of(to));
  *carrier_.error_number() = error;
}

void Alias::leave(engine::Task& from, engine::Task& to) noexcept {
  image_.reset_thread_locals();
  end(slot_of(from), slot_of(to));
}

void Alias::finish(engine::Task& from) noexcept {
  image_.reset_thread_locals();
  end(slot_of(from), controller_);
}

void Alias::abandon(engine::Task& from) {
  resume(slot_of(from), controller_);
  WEFT_UNREACHABLE("an abandoned task was resumed");
}

void Alias::recycle() noexcept {
  // A task that waits for ever is dropped where it stands. No destructor runs;
  // none is missed, for all memory of the subject is about to be restored.
  for (std::size_t i = 0; i < used_slots_; ++i) {
    Slot& slot = slots_.data()[i];
    slot.thread.fake_stack.reset();
    if (slot.task->state == engine::TaskState::kEnded) continue;
    take_for(slot);
    image_.reset_thread_locals();
    take_for(controller_);
    asan::forget_stack(reinterpret_cast<std::uintptr_t>(slot.context), slot.thread.task_stack);
    slot.fiber.destroy();
    slot.task->state = engine::TaskState::kEnded;
  }
}

// --- Looking at others

std::size_t Alias::parked_stack(engine::Task& asking, engine::Task& parked, std::uintptr_t* frames,
                                std::size_t capacity) noexcept {
  if (thawed_) return 0;  // a finding after a stop
  Slot& slot = slot_of(parked);
  slot.frames = frames;
  slot.frame_capacity = capacity;
  slot.asking = &slot_of(asking);
  resume(slot_of(asking), slot);
  return slot.frame_count;
}

void Alias::thaw() noexcept {
  if (thawed_) return;
  thawing_ = running_;
  if (thawing_ == &controller_) return wake_others();
  const int error = *carrier_.error_number();
  resume(*thawing_, controller_);
  // On its own kernel thread from here on, which goes by its own errno.
  engine::shared_error_number = nullptr;
  set_error_number(error);
  sigset_t all;
  sigfillset(&all);
  system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &all, nullptr, 8);
}

/// The carrier's end of it, as the controller: all tasks that have a stack go on, to stay where
/// they come back.
void Alias::wake_others() noexcept {
  thawed_ = true;
  for (std::size_t i = 0; i < used_slots_; ++i) {
    Slot& slot = slots_.data()[i];
    if (&slot == thawing_ || slot.task->state == engine::TaskState::kEnded) continue;
    slot.asking = &controller_;
    wake(slot);
  }
  // A debugger that stops now would find threads that sleep still. One whose stack is damaged may
  // never come back.
  for (std::size_t i = 0; i < used_slots_; ++i) {
    Slot& slot = slots_.data()[i];
    for (int round = 0; round < kRoundsToComeBack; ++round) {
      if (slot.awake.load(std::memory_order_acquire) != kAwake || &slot == thawing_) break;
      futex_wait_briefly(slot.awake, kAwake);
    }
  }
}

void Alias::wake(Slot& slot) noexcept {
  // release: the thread finds its context, and that it is to stay.
  slot.awake.store(kAwake, std::memory_order_release);
  futex_wake(slot.awake);
}

}  // namespace weft::executor
