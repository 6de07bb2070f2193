// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Clocks and sleeps: tasks live in virtual time.
#include <sched.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "harness/intercept/sleep.h"

namespace weft::intercept {
namespace {

std::uint64_t read_clock(Task& self, clockid_t clock, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kClockRead, nullptr, pc));
  const std::uint64_t now = self.execution->time().read(clock);
  self.execution->yielded(self, now);
  return now;
}

void sleep_for(Task& self, const timespec& duration, std::uintptr_t pc) noexcept {
  sleep_until(self, self.execution->time().now() + model::VirtualTime::to_nanoseconds(duration),
              pc);
}

}  // namespace

void sleep_until(Task& self, std::uint64_t deadline, std::uintptr_t pc) noexcept {
  Operation op = operation_on(OpKind::kSleep, nullptr, pc);
  op.deadline = deadline;
  announce(self, op);
}

}  // namespace weft::intercept

using namespace weft::intercept;
using weft::model::VirtualTime;

WEFT_INTERPOSE int clock_gettime(clockid_t clock, timespec* time) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(clock_gettime)(clock, time);
  *time = VirtualTime::to_timespec(read_clock(*self, clock, WEFT_CALLER));
  return 0;
}

WEFT_INTERPOSE int gettimeofday(timeval* time, void* zone) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(gettimeofday)(time, zone);
  const std::uint64_t now = read_clock(*self, CLOCK_REALTIME, WEFT_CALLER);
  time->tv_sec = static_cast<time_t>(now / 1'000'000'000u);
  time->tv_usec = static_cast<suseconds_t>(now % 1'000'000'000u / 1000u);
  return 0;
}

WEFT_INTERPOSE time_t time(time_t* result) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(time)(result);
  const auto now =
      static_cast<time_t>(read_clock(*self, CLOCK_REALTIME, WEFT_CALLER) / 1'000'000'000u);
  if (result != nullptr) *result = now;
  return now;
}

WEFT_INTERPOSE int nanosleep(const timespec* duration, timespec* remaining) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(nanosleep)(duration, remaining);
  if (!is_valid(*duration)) {
    errno = EINVAL;
    return -1;
  }
  sleep_for(*self, *duration, WEFT_CALLER);
  return 0;
}

WEFT_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* remaining) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(clock_nanosleep)(clock, flags, time, remaining);
  if (!is_valid(*time)) return EINVAL;
  if ((flags & TIMER_ABSTIME) != 0) {
    sleep_until(*self, VirtualTime::deadline(clock, *time), WEFT_CALLER);
  } else {
    sleep_for(*self, *time, WEFT_CALLER);
  }
  return 0;
}

WEFT_INTERPOSE int usleep(useconds_t microseconds) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(usleep)(microseconds);
  sleep_for(*self,
            {static_cast<time_t>(microseconds / 1'000'000u),
             static_cast<long>(microseconds % 1'000'000u) * 1000},
            WEFT_CALLER);
  return 0;
}

WEFT_INTERPOSE unsigned sleep(unsigned seconds) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sleep)(seconds);
  sleep_for(*self, {static_cast<time_t>(seconds), 0}, WEFT_CALLER);
  return 0;
}

WEFT_INTERPOSE int sched_yield() noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sched_yield)();
  announce(*self, operation_on(OpKind::kYield, nullptr, WEFT_CALLER));
  return 0;
}

WEFT_INTERPOSE int timespec_get(timespec* time, int base) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(timespec_get)(time, base);
  if (base != TIME_UTC) return 0;
  *time = VirtualTime::to_timespec(read_clock(*self, CLOCK_REALTIME, WEFT_CALLER));
  return base;
}

/// Processor time: as if the process had computed without a pause.
WEFT_INTERPOSE clock_t clock() noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(clock)();
  const std::uint64_t now = read_clock(*self, CLOCK_PROCESS_CPUTIME_ID, WEFT_CALLER);
  return static_cast<clock_t>((now - VirtualTime::kStart) / (1'000'000'000u / CLOCKS_PER_SEC));
}

// C11's, which glibc does not lead through the above.

WEFT_INTERPOSE int thrd_sleep(const timespec* duration, timespec* remaining) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(thrd_sleep)(duration, remaining);
  if (!is_valid(*duration)) return -2;
  sleep_for(*self, *duration, WEFT_CALLER);
  return 0;
}

WEFT_INTERPOSE void thrd_yield() {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(thrd_yield)();
  announce(*self, operation_on(OpKind::kYield, nullptr, WEFT_CALLER));
}

// The time stamp counter, where <weft/instrumented.h> leads the intrinsics: as of a processor with
// one tick a nanosecond.

WEFT_INTERPOSE unsigned long long weft_rdtsc() noexcept {
  Task* const self = current_task;
  if (self == nullptr) return __builtin_ia32_rdtsc();
  return read_clock(*self, CLOCK_MONOTONIC, WEFT_CALLER);
}

/// On processor 0 of node 0, as sched_getcpu() says.
WEFT_INTERPOSE unsigned long long weft_rdtscp(unsigned* processor) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return __builtin_ia32_rdtscp(processor);
  *processor = 0;
  return read_clock(*self, CLOCK_MONOTONIC, WEFT_CALLER);
}
