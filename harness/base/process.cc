// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/base/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "harness/base/system_call.h"

namespace weft {
namespace {

// personality(2): this value asks without changing anything.
constexpr unsigned long kQueryPersonality = 0xffffffff;

long personality_now() noexcept { return system_call(SYS_personality, kQueryPersonality); }

// False when the file cannot be read: then nothing says that it is off.
bool off_system_wide() noexcept {
  const long file = system_call(SYS_openat, AT_FDCWD, "/proc/sys/kernel/randomize_va_space",
                                O_RDONLY | O_CLOEXEC);
  if (is_error(file)) return false;
  char first = 0;
  const long length = system_call(SYS_read, file, &first, 1);
  system_call(SYS_close, file);
  return length == 1 && first == '0';
}

}  // namespace

bool address_randomisation_active() noexcept {
  const long persona = personality_now();
  if (!is_error(persona) && (persona & ADDR_NO_RANDOMIZE) != 0) return false;
  return !off_system_wide();
}

ReexecResult disable_address_randomisation_by_reexec(char* const* arguments) noexcept {
  if (!address_randomisation_active()) return ReexecResult::kAlreadyOff;
  if (::getenv(kReexecVariable) != nullptr) return ReexecResult::kIneffective;
  const long persona = personality_now();
  if (is_error(persona)) return ReexecResult::kRefused;
  if (is_error(system_call(SYS_personality, persona | ADDR_NO_RANDOMIZE))) {
    return ReexecResult::kRefused;
  }
  ::setenv(kReexecVariable, "1", 1);
  ::execv("/proc/self/exe", arguments);
  ::unsetenv(kReexecVariable);
  system_call(SYS_personality, persona);
  return ReexecResult::kExecFailed;
}

const char* describe(ReexecResult result) noexcept {
  switch (result) {
    case ReexecResult::kAlreadyOff: return "off";
    case ReexecResult::kRefused:
      return "on: personality(ADDR_NO_RANDOMIZE) is refused here, as in many containers";
    case ReexecResult::kIneffective: return "on: re-executing this program did not switch it off";
    case ReexecResult::kExecFailed: return "on: /proc/self/exe could not be executed again";
  }
  return "unknown";
}

int pin_to_one_cpu(unsigned ordinal) noexcept {
  constexpr unsigned kWordBits = 64;
  std::uint64_t allowed[128] = {};  // 8,192 processors, the kernel's largest configuration
  const long bytes = system_call(SYS_sched_getaffinity, 0, sizeof allowed, allowed);
  if (is_error(bytes)) return -1;
  const auto words = static_cast<unsigned>(bytes) / sizeof(std::uint64_t);
  unsigned count = 0;
  for (unsigned i = 0; i < words; ++i)
    count += static_cast<unsigned>(__builtin_popcountll(allowed[i]));
  if (count == 0) return -1;
  unsigned skip = ordinal % count;
  for (unsigned cpu = 0; cpu < words * kWordBits; ++cpu) {
    if ((allowed[cpu / kWordBits] >> (cpu % kWordBits) & 1) == 0 || skip-- != 0) continue;
    std::uint64_t chosen[128] = {};
    chosen[cpu / kWordBits] = std::uint64_t{1} << (cpu % kWordBits);
    return is_error(system_call(SYS_sched_setaffinity, 0, sizeof chosen, chosen))
               ? -1
               : static_cast<int>(cpu);
  }
  return -1;
}

}  // namespace weft
