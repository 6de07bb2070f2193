// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/baton.h"

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/engine/task.h"
#include "harness/engine/unwind.h"
#include "harness/executor/futex.h"

namespace weft::executor {

Baton::Baton(engine::ProcessImage& image, trace::Channel& channel, bool fresh) noexcept
    : image_(image), channel_(channel), fresh_(fresh), slots_(trace::kMaxTasks) {}

Baton::Slot& Baton::slot_of(const engine::Task& task) noexcept { return slots_[task.slot]; }

// --- The baton

void Baton::grant(std::atomic<std::int32_t>& state) noexcept {
  // acq_rel: everything done under the baton so far happens before what the next holder does.
  if (state.exchange(1, std::memory_order_acq_rel) == -1) futex_wake(state);
}

void Baton::await_state(std::atomic<std::int32_t>& state) noexcept {
  std::int32_t expected = 0;
  // acquire: pairs with the grant; acq_rel on success orders our going to sleep before it.
  if (state.load(std::memory_order_acquire) != 1) {
    state.compare_exchange_strong(expected, -1, std::memory_order_acq_rel,
                                  std::memory_order_acquire);
    while (state.load(std::memory_order_acquire) != 1) futex_wait(state, -1);
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
  channel_.running_tid.store(slot.thread.tid.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
}

// --- Threads

bool Baton::start(engine::Task& task, std::size_t index) noexcept {
  Slot& slot = slots_[index];
  slot.task = &task;
  slot.owner = this;
  store_float_control(slot.float_control);
  if ((fresh_ || !slot.thread.exists) &&
      !start_thread(slot.thread, index, &Baton::serve, &slot, ThreadUse::kRuns))
    return false;
  if (index >= used_slots_) used_slots_ = index + 1;
  return true;
}

void Baton::serve(void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  Baton& owner = *slot.owner;
  do owner.serve_once(slot);
  while (!owner.fresh_);
}

void Baton::serve_once(Slot& slot) {
  if (__builtin_setjmp(slot.restart) != 0) {
    slot.abandoned = false;
    image_.reset_thread_locals();
    grant(controller_);
    if (fresh_) return;
  }
  await(slot);
  set_float_control(slot.float_control);
  weft_call_on_stack(slot.thread.task_stack, &run_task, slot.task);
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
    if (!slot.thread.exists || slot.task->state == engine::TaskState::kEnded) continue;
    slot.abandoned = true;
    grant(slot.state);
    await_state(controller_);
  }
  if constexpr (asan::kEnabled) {
    for (std::size_t i = 0; i < used_slots_; ++i) slots_[i].thread.fake_stack.reset();
  }
  if (!fresh_) return;
  for (std::size_t i = 0; i < used_slots_; ++i) {
    if (slots_[i].thread.exists) pthread_join(slots_[i].thread.thread, nullptr);
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
