// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The reference executor: every task is a real kernel thread, and exactly one of
// them holds the baton. A hand-off is one futex wake and one futex wait; the
// process is pinned to one processor, so the pair is a direct switch.
//
// Threads live in slots (slot_thread.h). A pooled slot keeps its thread between executions; a
// fresh one makes a new thread for each task.
//
// Futexes, not spinning: on one processor a spinning waiter would keep the
// holder from running, and with several it doubled the median under load
// (8-35 us against 3 us).
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/base/mapped_array.h"
#include "harness/engine/executor.h"
#include "harness/engine/process_image.h"
#include "harness/executor/slot_thread.h"
#include "harness/executor/stack_switch.h"
#include "harness/trace/channel.h"

namespace weft::executor {

class Baton final : public engine::Executor {
 public:
  Baton(engine::ProcessImage& image, trace::Channel& channel, bool fresh) noexcept;

  bool start(engine::Task& task, std::size_t slot) noexcept override;
  void run(engine::Task& first) noexcept override;
  void switch_to(engine::Task& from, engine::Task& to) noexcept override;
  void leave(engine::Task& from, engine::Task& to) noexcept override;
  void finish(engine::Task& from) noexcept override;
  [[noreturn]] void abandon(engine::Task& from) override;
  void recycle() noexcept override;
  std::size_t parked_stack(engine::Task& asking, engine::Task& parked, std::uintptr_t* frames,
                           std::size_t capacity) noexcept override;
  void thaw() noexcept override {}  // they are, and go on
  [[nodiscard]] StackArea stack_area(std::size_t slot) const noexcept override {
    return executor::stack_area(slot);
  }
  [[nodiscard]] pthread_t thread_of(std::size_t slot) const noexcept override {
    return slots_.data()[slot].thread.thread;
  }
  [[nodiscard]] std::int32_t kernel_thread_of(std::size_t slot) const noexcept override {
    // relaxed: whose number it is has run since, and handed the baton on.
    return slots_.data()[slot].thread.tid.load(std::memory_order_relaxed);
  }

 private:
  /// One thread's end of the baton. All fields but `state` belong to whoever holds the baton.
  struct alignas(64) Slot {
    // 0: not granted; 1: granted; -1: not granted, and the waiter sleeps in the kernel.
    std::atomic<std::int32_t> state;
    Baton* owner;
    engine::Task* task;
    SlotThread thread;
    FloatControl float_control;  // what the task inherits
    bool abandoned;              // told to forget what it was doing
    void* restart[5];            // __builtin_setjmp's: where an abandoned thread goes on
    // A request from somebody else to walk this parked thread's stack.
    std::atomic<std::int32_t>* asking;
    std::uintptr_t* frames;
    std::size_t frame_capacity;
    std::size_t frame_count;
  };

  static void serve(void* slot);
  void serve_once(Slot& slot);
  void await(Slot& slot);
  void grant(std::atomic<std::int32_t>& state) noexcept;
  void await_state(std::atomic<std::int32_t>& state) noexcept;
  [[nodiscard]] Slot& slot_of(const engine::Task& task) noexcept;

  engine::ProcessImage& image_;
  trace::Channel& channel_;
  const bool fresh_;
  MappedArray<Slot> slots_;
  std::size_t used_slots_ = 0;
  std::atomic<std::int32_t> controller_{0};
};

}  // namespace weft::executor
