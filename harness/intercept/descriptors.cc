// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Waits for descriptors: poll, select, epoll and their kin. What is ready the kernel knows, and
// is asked, without waiting, before each decision; how long a wait takes is virtual time. A wait
// for no descriptor at all is a sleep.
//
// The kernel is asked directly: who asks is whichever task decides, and errno is not its business.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

#include "harness/base/system_call.h"
#include "harness/intercept/sleep.h"

namespace weft::intercept {
namespace {

/// What the kernel means by a set of signals, whose size it wants to be told.
constexpr long kSignalSetBytes = 8;
constexpr timespec kNoTime = {0, 0};

/// One call's question.
class DescriptorWait : public engine::Readiness {
 public:
  /// The call's answer: at once, or whenever there is one.
  [[nodiscard]] virtual long ask(bool for_ever) noexcept = 0;

 protected:
  ~DescriptorWait() = default;
};

class Poll final : public DescriptorWait {
 public:
  Poll(pollfd* files, nfds_t count, const sigset_t* mask) noexcept
      : files_(files), count_(count), mask_(mask) {}
  [[nodiscard]] bool is_ready() const noexcept override {
    return system_call(SYS_poll, files_, count_, 0) != 0;
  }
  [[nodiscard]] long ask(bool for_ever) noexcept override {
    timespec no_time = kNoTime;  // the kernel writes to it what is left
    return system_call(SYS_ppoll, files_, count_, for_ever ? nullptr : &no_time, mask_,
                       kSignalSetBytes);
  }

 private:
  pollfd* files_;
  nfds_t count_;
  const sigset_t* mask_;
};

/// The sets of a select(), in which the kernel writes what is ready over what is wanted.
class Select final : public DescriptorWait {
 public:
  static constexpr int kMost = 16384;  // descriptors: 16 times what an fd_set holds

  Select(int count, fd_set* read, fd_set* write, fd_set* except, const sigset_t* mask) noexcept
      : count_(count), sets_{read, write, except}, mask_{mask, kSignalSetBytes} {
    for (int i = 0; i < 3; ++i) {
      if (sets_[i] != nullptr) std::memcpy(wanted_[i], sets_[i], bytes());
    }
  }
  [[nodiscard]] bool is_ready() const noexcept override {
    unsigned long scratch[3][kWords];
    fd_set* sets[3] = {};
    for (int i = 0; i < 3; ++i) {
      if (sets_[i] == nullptr) continue;
      std::memcpy(scratch[i], wanted_[i], bytes());
      sets[i] = reinterpret_cast<fd_set*>(scratch[i]);
    }
    timeval no_time = {0, 0};
    return system_call(SYS_select, count_, sets[0], sets[1], sets[2], &no_time) != 0;
  }
  [[nodiscard]] long ask(bool for_ever) noexcept override {
    for (int i = 0; i < 3; ++i) {
      if (sets_[i] != nullptr) std::memcpy(sets_[i], wanted_[i], bytes());
    }
    timespec no_time = kNoTime;
    return system_call(SYS_pselect6, count_, sets_[0], sets_[1], sets_[2],
                       for_ever ? nullptr : &no_time, &mask_);
  }

 private:
  static constexpr std::size_t kWords = kMost / (8 * sizeof(unsigned long));
  /// The kernel looks at whole words.
  [[nodiscard]] std::size_t bytes() const noexcept {
    constexpr std::size_t kWord = sizeof(unsigned long);
    return (static_cast<std::size_t>(count_) + 8 * kWord - 1) / (8 * kWord) * kWord;
  }

  int count_;
  fd_set* sets_[3];
  struct {
    const sigset_t* set;
    std::size_t size;
  } mask_;
  unsigned long wanted_[3][kWords];
};

class Epoll final : public DescriptorWait {
 public:
  Epoll(int file, epoll_event* events, int most, const sigset_t* mask) noexcept
      : file_(file), events_(events), most_(most), mask_(mask) {}
  /// An epoll instance is readable where it has events; to take them is to use edges up.
  [[nodiscard]] bool is_ready() const noexcept override {
    pollfd itself = {file_, POLLIN, 0};
    return file_ < 0 || most_ <= 0 || system_call(SYS_poll, &itself, 1, 0) != 0;
  }
  [[nodiscard]] long ask(bool for_ever) noexcept override {
    return system_call(SYS_epoll_pwait, file_, events_, most_, for_ever ? -1 : 0, mask_,
                       kSignalSetBytes);
  }

 private:
  int file_;
  epoll_event* events_;
  int most_;
  const sigset_t* mask_;
};

constexpr std::uint64_t kForEver = trace::kNever;

std::uint64_t from_milliseconds(int time) noexcept {
  return time < 0 ? kForEver : static_cast<std::uint64_t>(time) * 1'000'000u;
}

std::uint64_t from_timespec(const timespec* time) noexcept {
  return time == nullptr ? kForEver : model::VirtualTime::to_nanoseconds(*time);
}

int result_of(long raw) noexcept {
  if (!is_error(raw)) return static_cast<int>(raw);
  errno = static_cast<int>(-raw);
  return -1;
}

int refused() noexcept { return result_of(-EINVAL); }

/// `duration` is virtual.
int wait(Task& self, DescriptorWait& call, std::uint64_t duration, std::uintptr_t pc) noexcept {
  Execution& execution = *self.execution;
  Operation op = operation_on(OpKind::kDescriptorWait, nullptr, pc);
  if (duration != kForEver) op.deadline = execution.time().now() + duration;
  for (;;) {
    execution.wait_outside(self, op, call);
    const long result = call.ask(self.woken);
    execution.yielded(self, is_error(result) ? 0 : static_cast<std::uint64_t>(result));
    if (result != 0 || op.deadline <= execution.time().now()) return result_of(result);
  }
}

int poll_files(Task& self, pollfd* files, nfds_t count, std::uint64_t duration,
               const sigset_t* mask, std::uintptr_t pc) noexcept {
  if (count == 0 && duration != kForEver) {
    sleep_until(self, self.execution->time().now() + duration, pc);
    return 0;
  }
  Poll call(files, count, mask);
  return wait(self, call, duration, pc);
}

int select_files(Task& self, int count, fd_set* read, fd_set* write, fd_set* except,
                 std::uint64_t duration, const sigset_t* mask, std::uintptr_t pc) noexcept {
  if (count < 0) return refused();
  if (count > Select::kMost) unsupported(self, "select() of more than 16384 descriptors");
  const bool any = count > 0 && (read != nullptr || write != nullptr || except != nullptr);
  if (!any && duration != kForEver) {
    sleep_until(self, self.execution->time().now() + duration, pc);
    return 0;
  }
  Select call(count, read, write, except, mask);
  return wait(self, call, duration, pc);
}

int wait_for_events(Task& self, int file, epoll_event* events, int most, std::uint64_t duration,
                    const sigset_t* mask, std::uintptr_t pc) noexcept {
  Epoll call(file, events, most, mask);
  return wait(self, call, duration, pc);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int poll(pollfd* files, nfds_t count, int timeout) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(poll)(files, count, timeout);
  return poll_files(*self, files, count, from_milliseconds(timeout), nullptr, WEFT_CALLER);
}

WEFT_INTERPOSE int ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                         const sigset_t* mask) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(ppoll)(files, count, timeout, mask);
  if (timeout != nullptr && !is_valid(*timeout)) return refused();
  return poll_files(*self, files, count, from_timespec(timeout), mask, WEFT_CALLER);
}

/// Linux leaves in `timeout` what has not passed of it.
WEFT_INTERPOSE int select(int count, fd_set* read, fd_set* write, fd_set* except,
                          timeval* timeout) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(select)(count, read, write, except, timeout);
  if (timeout == nullptr)
    return select_files(*self, count, read, write, except, kForEver, nullptr, WEFT_CALLER);
  if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return refused();
  const timespec time = {timeout->tv_sec + timeout->tv_usec / 1'000'000,
                         timeout->tv_usec % 1'000'000 * 1000};
  const std::uint64_t duration = from_timespec(&time);
  const std::uint64_t end = self->execution->time().now() + duration;
  const int result =
      select_files(*self, count, read, write, except, duration, nullptr, WEFT_CALLER);
  const std::uint64_t now = self->execution->time().now();
  const std::uint64_t left = now < end ? end - now : 0;
  *timeout = {static_cast<time_t>(left / 1'000'000'000u),
              static_cast<suseconds_t>(left % 1'000'000'000u / 1000u)};
  return result;
}

WEFT_INTERPOSE int pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                           const timespec* timeout, const sigset_t* mask) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pselect)(count, read, write, except, timeout, mask);
  if (timeout != nullptr && !is_valid(*timeout)) return refused();
  return select_files(*self, count, read, write, except, from_timespec(timeout), mask, WEFT_CALLER);
}

WEFT_INTERPOSE int epoll_wait(int file, epoll_event* events, int most, int timeout) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(epoll_wait)(file, events, most, timeout);
  return wait_for_events(*self, file, events, most, from_milliseconds(timeout), nullptr,
                         WEFT_CALLER);
}

WEFT_INTERPOSE int epoll_pwait(int file, epoll_event* events, int most, int timeout,
                               const sigset_t* mask) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(epoll_pwait)(file, events, most, timeout, mask);
  return wait_for_events(*self, file, events, most, from_milliseconds(timeout), mask, WEFT_CALLER);
}

WEFT_INTERPOSE int epoll_pwait2(int file, epoll_event* events, int most, const timespec* timeout,
                                const sigset_t* mask) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(epoll_pwait2)(file, events, most, timeout, mask);
  if (timeout != nullptr && !is_valid(*timeout)) return refused();
  return wait_for_events(*self, file, events, most, from_timespec(timeout), mask, WEFT_CALLER);
}
