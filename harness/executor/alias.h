// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fast executor: every task has a real kernel thread of its own, which gives its stack away and
// sleeps for good; one thread, the carrier, runs them all. A switch changes the stack, the
// registers and the identity (identity.h), and enters no kernel.
//
// So pthread_self(), thread_locals, keys, errno, the owners of mutexes and exceptions in flight are
// each task's own, as under the baton, and traces are equal.
//
// A task's kernel thread runs again only where somebody looks at it with a debugger: thaw() gives
// every stack back to its owner. There is no way back from that.
//
// Thread-safety: the carrier's alone.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/base/mapped_array.h"
#include "harness/base/mapping.h"
#include "harness/base/thread_sanitizer.h"
#include "harness/engine/executor.h"
#include "harness/engine/process_image.h"
#include "harness/engine/task.h"
#include "harness/executor/identity.h"
#include "harness/executor/loaded_code.h"
#include "harness/executor/slot_thread.h"

namespace weft::executor {

class Alias final : public engine::Executor {
 public:
  explicit Alias(engine::ProcessImage& image) noexcept;

  /// The calling thread becomes the carrier, and its number `running_tid`. Null, or why that cannot
  /// be.
  [[nodiscard]] const char* prepare(std::atomic<std::int32_t>& running_tid) noexcept;

  bool start(engine::Task& task, std::size_t slot) noexcept override;
  void run(engine::Task& first) noexcept override;
  void switch_to(engine::Task& from, engine::Task& to) noexcept override;
  void leave(engine::Task& from, engine::Task& to) noexcept override;
  void finish(engine::Task& from) noexcept override;
  [[noreturn]] void abandon(engine::Task& from) override;
  void recycle() noexcept override;
  std::size_t parked_stack(engine::Task& asking, engine::Task& parked, std::uintptr_t* frames,
                           std::size_t capacity) noexcept override;
  void thaw() noexcept override;
  [[nodiscard]] std::uintptr_t own_address(std::size_t slot,
                                           std::uintptr_t address) const noexcept override {
    const std::uintptr_t from_block = address - carrier_.own().thread;
    return from_block - carrier_.error_number_offset() < sizeof(int)
               ? slots_.data()[slot].identity.thread + from_block
               : address;
  }
  [[nodiscard]] const char* objection() noexcept override { return loaded_code_.objection(); }
  [[nodiscard]] StackArea stack_area(std::size_t slot) const noexcept override {
    return executor::stack_area(slot);
  }
  [[nodiscard]] pthread_t thread_of(std::size_t slot) const noexcept override {
    return slots_.data()[slot].identity.thread;
  }
  [[nodiscard]] std::int32_t kernel_thread_of(std::size_t slot) const noexcept override {
    return slots_.data()[slot].identity.tid;
  }

 private:
  /// A stack, and who runs on it.
  struct alignas(64) Slot {
    void* context;  // of whoever runs here, while it does not run
    Identity identity;
    engine::Task* task;
    Slot* asking;      // who wants to know this stack, or stopped all others
    void* fake_stack;  // AddressSanitizer's, while it does not run
    tsan::Fiber fiber;

    std::uintptr_t* frames;  // for `asking`
    std::size_t frame_capacity;
    std::size_t frame_count;

    // The kernel thread.
    SlotThread thread;
    std::atomic<std::int32_t> asleep;
    std::atomic<std::int32_t> awake;
    Alias* owner;
  };

  static void serve(void* slot);
  static void begin(void* slot);
  [[nodiscard]] bool start_kernel_thread(Slot& slot, std::size_t index) noexcept;
  [[nodiscard]] Slot& slot_of(const engine::Task& task) noexcept {
    return slots_.data()[task.slot];
  }
  void take_for(Slot& next) noexcept;
  void resume(Slot& from, Slot& to) noexcept;
  void came_back(Slot& slot) noexcept;
  [[noreturn]] void end(Slot& from, Slot& to) noexcept;
  void wake_others() noexcept;
  void wake(Slot& slot) noexcept;

  engine::ProcessImage& image_;
  Carrier carrier_;
  LoadedCode loaded_code_;
  MappedArray<Slot> slots_;
  std::size_t used_slots_ = 0;
  void** fake_stack_word_ = nullptr;  // null: there are none
  Mapping signal_stack_;
  Slot controller_{};
  Slot* running_ = &controller_;
  Slot* thawing_ = nullptr;  // who stops all others
  bool thawed_ = false;      // and has: kernel threads are their own, and there is no carrier
};

}  // namespace weft::executor
