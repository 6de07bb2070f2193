// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a task reads from files: /dev/random and its like give the task's own random
// numbers. Input that is long in coming is named by the watchdog.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "harness/intercept/hot_functions.h"
#include "harness/intercept/outside.h"

namespace weft::intercept {
namespace {

/// Documentation/admin-guide/devices.txt of Linux: character device 1, 8 random, 9 urandom.
bool is_random_device(int file) noexcept {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  return status.st_rdev == makedev(1, 8) || status.st_rdev == makedev(1, 9);
}

}  // namespace
}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE ssize_t read(int file, void* buffer, std::size_t size) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(read)(file, buffer, size);
  if (is_random_device(file)) {
    random_bytes(*self, buffer, size, WEFT_CALLER);
    return static_cast<ssize_t>(size);
  }
  return hot.read(file, buffer, size);
}
