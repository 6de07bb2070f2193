// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The machine as tasks see it: four processors, whatever it has, so that tokens travel.
// Which of them a task asks to run on is remembered by nobody.
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/interpose.h"

namespace weft::intercept {
namespace {

constexpr int kProcessors = 4;

/// 0, or EINVAL where the set has no room for our processors.
int fill(std::size_t size, cpu_set_t* set) noexcept {
  if (size * 8 < kProcessors) return EINVAL;
  std::memset(set, 0, size);
  for (int i = 0; i < kProcessors; ++i) CPU_SET_S(i, size, set);
  return 0;
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE int get_nprocs() noexcept {
  return current_task == nullptr ? WEFT_REAL(get_nprocs)() : kProcessors;
}

WEFT_INTERPOSE int get_nprocs_conf() noexcept {
  return current_task == nullptr ? WEFT_REAL(get_nprocs_conf)() : kProcessors;
}

WEFT_INTERPOSE long sysconf(int name) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_HOT_OR_REAL(sysconf, sysconf)(name);
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return kProcessors;
  return hot.sysconf(name);
}

WEFT_INTERPOSE int sched_getaffinity(pid_t process, std::size_t size, cpu_set_t* set) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(sched_getaffinity)(process, size, set);
  if (const int error = fill(size, set); error != 0) {
    errno = error;
    return -1;
  }
  return 0;
}

WEFT_INTERPOSE int pthread_getaffinity_np(pthread_t thread, std::size_t size,
                                          cpu_set_t* set) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_getaffinity_np)(thread, size, set);
  return fill(size, set);
}

WEFT_INTERPOSE int sched_setaffinity(pid_t process, std::size_t size,
                                     const cpu_set_t* set) noexcept {
  Task* const self = current_task;
  return self == nullptr ? WEFT_REAL(sched_setaffinity)(process, size, set) : 0;
}

WEFT_INTERPOSE int pthread_setaffinity_np(pthread_t thread, std::size_t size,
                                          const cpu_set_t* set) noexcept {
  Task* const self = current_task;
  return self == nullptr ? WEFT_REAL(pthread_setaffinity_np)(thread, size, set) : 0;
}

WEFT_INTERPOSE int sched_getcpu() noexcept {
  return current_task == nullptr ? WEFT_REAL(sched_getcpu)() : 0;
}
