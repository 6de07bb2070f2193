// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a program asks the system for and gets another answer each time: random
// numbers, process numbers. Tasks get answers that a token brings back.
//
// The first random number that a task asks for is a choice (candidate 0: a fixed one); it
// seeds a generator of the task's own, so that a token holds one number, not thousands.
#include "harness/intercept/outside.h"

#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/intercept/thread_record.h"

namespace weft::intercept {
namespace {

/// Above every process number of Linux (PID_MAX_LIMIT), so that it never names a process.
constexpr pid_t kProcess = pid_t{1} << 22;

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t next(std::uint64_t& state) noexcept {
  std::uint64_t mixed = state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace

std::uint64_t random_number(Task& self, std::uintptr_t pc) noexcept {
  announce(self, operation_on(OpKind::kOutside, nullptr, pc));
  std::uint64_t& state = record_of(self).outside;
  if (state == 0) {
    // Told apart by the task, which has a name of its own.
    state = (self.id.value ^ self.execution->choose(self, trace::ChoiceKind::kDraw, 0)) | 1;
  }
  const std::uint64_t number = next(state);
  self.execution->yielded(self, number);
  return number;
}

void random_bytes(Task& self, void* buffer, std::size_t size, std::uintptr_t pc) noexcept {
  auto* to = static_cast<unsigned char*>(buffer);
  while (size != 0) {
    const std::uint64_t number = random_number(self, pc);
    const std::size_t count = size < sizeof number ? size : sizeof number;
    std::memcpy(to, &number, count);
    to += count;
    size -= count;
  }
}

pid_t process_number() noexcept { return kProcess; }

pid_t thread_number(const Task& self) noexcept { return kProcess + static_cast<pid_t>(self.index); }

}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(getrandom)(buffer, size, flags);
  random_bytes(*self, buffer, size, WEFT_CALLER);
  return static_cast<ssize_t>(size);
}

WEFT_INTERPOSE int getentropy(void* buffer, std::size_t size) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(getentropy)(buffer, size);
  constexpr std::size_t kMost = 256;  // getentropy(3)
  if (size > kMost) {
    errno = EIO;
    return -1;
  }
  random_bytes(*self, buffer, size, WEFT_CALLER);
  return 0;
}

WEFT_INTERPOSE std::uint32_t arc4random() noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(arc4random)();
  return static_cast<std::uint32_t>(random_number(*self, WEFT_CALLER));
}

WEFT_INTERPOSE void arc4random_buf(void* buffer, std::size_t size) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(arc4random_buf)(buffer, size);
  random_bytes(*self, buffer, size, WEFT_CALLER);
}

WEFT_INTERPOSE std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(arc4random_uniform)(bound);
  // The high half of a product with 32 random bits: near enough to even for a test.
  const auto random = static_cast<std::uint32_t>(random_number(*self, WEFT_CALLER));
  return static_cast<std::uint32_t>(std::uint64_t{random} * bound >> 32);
}

// std::random_device's, whatever its token: libstdc++ reads rdrand or a file there.
extern "C" unsigned _ZNSt13random_device9_M_getvalEv(void* device);

WEFT_INTERPOSE unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(_ZNSt13random_device9_M_getvalEv)(device);
  return static_cast<unsigned>(random_number(*self, WEFT_CALLER));
}

WEFT_INTERPOSE pid_t getpid() noexcept {
  return current_task == nullptr ? WEFT_REAL(getpid)() : process_number();
}

/// To the process itself, which POSIX lets the calling thread receive; to others not at all.
WEFT_INTERPOSE int kill(pid_t process, int signal) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(kill)(process, signal);
  if (process != process_number()) unsupported(*self, "kill() of another process");
  return raise(signal);
}

WEFT_INTERPOSE pid_t gettid() noexcept {
  Task* const self = current_task;
  return self == nullptr ? WEFT_REAL(gettid)() : thread_number(*self);
}
