// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// POSIX barriers. The model is ours alone: of glibc's object only the number of tasks
// that it is for is read. Who waits is told by the tasks' pending operations.
#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

/// glibc 2.36, sysdeps/nptl/internaltypes.h; the public type is opaque.
struct BarrierLayout {
  unsigned arrived;
  unsigned round;
  unsigned count;
  int shared;
  unsigned departed;
};
static_assert(sizeof(BarrierLayout) <= sizeof(pthread_barrier_t));

/// Everyone's arrival comes before anyone's departure.
void depart(Task& waiter) noexcept {
  waiter.execution->acquire(waiter, static_cast<std::uintptr_t>(waiter.pending.address));
  waiter.execution->wake(waiter, waiter.pending);
}

int arrive_and_wait(Task& self, const pthread_barrier_t* barrier, std::uintptr_t pc) noexcept {
  Execution& execution = *self.execution;
  const std::uint64_t count = reinterpret_cast<const BarrierLayout*>(barrier)->count;
  Operation arrival = operation_on(OpKind::kBarrierArrive, barrier, pc);
  arrival.argument = count;
  announce(self, arrival);
  execution.release(self, arrival.address);
  const std::uint64_t before =
      execution.for_each_waiter(OpKind::kBarrierBlocked, arrival.address, [](Task&) {});
  execution.yielded(self, before + 1);
  if (before + 1 < count) {
    announce(self, operation_on(OpKind::kBarrierBlocked, barrier, pc));
    return 0;
  }
  execution.acquire(self, arrival.address);
  execution.for_each_waiter(OpKind::kBarrierBlocked, arrival.address, &depart);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_barrier_wait)(barrier);
  return arrive_and_wait(*self, barrier, WEFT_CALLER);
}
