// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/base/check.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "harness/base/text_buffer.h"

namespace weft {
namespace {

// The one mutable word of harness/base. It is set before the first snapshot of the image, so that restoring the image
// leaves it as it is.
LastWords last_words = nullptr;

// The system calls are made directly: write and _exit are names that the subject, or our own interposers, may replace.
long system_call(long number, long first, long second, long third) noexcept {
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(first), "S"(second), "d"(third)
               : "rcx", "r11", "memory");
  return result;
}

void write_error_line(const TextBuffer& line) noexcept {
  const char* next = line.c_str();
  auto left = static_cast<long>(line.size());
  while (left > 0) {
    const long written = system_call(SYS_write, STDERR_FILENO, reinterpret_cast<long>(next), left);
    if (written <= 0) return;
    next += written;
    left -= written;
  }
}

}  // namespace

void set_last_words(LastWords hook) noexcept { last_words = hook; }

namespace detail {

void check_failed(const char* file, int line, const char* condition, const char* message) noexcept {
  FixedText<1024> text;
  text.append("weft: internal error: ").append(file).append(':').append_uint(static_cast<unsigned>(line));
  text.append(": ").append(message).append(" (").append(condition).append(")");
  if (text.truncated()) text.replace_tail("...");
  text.append_final_newline();
  write_error_line(text);
  if (const LastWords hook = std::exchange(last_words, nullptr)) hook();
  for (;;) system_call(SYS_exit_group, kInternalErrorExit, 0, 0);
}

}  // namespace detail
}  // namespace weft
