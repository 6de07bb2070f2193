// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/base/check.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "harness/base/system_call.h"
#include "harness/base/text_buffer.h"

namespace weft {
namespace {

// The one mutable word of harness/base. It is set before the first snapshot of the image, so that
// restoring the image leaves it as it is.
LastWords last_words = nullptr;

void write_error_line(const TextBuffer& line) noexcept {
  std::string_view left = line.view();
  while (!left.empty()) {
    const long written = system_call(SYS_write, STDERR_FILENO, left.data(), left.size());
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void set_last_words(LastWords hook) noexcept { last_words = hook; }

namespace detail {

void check_failed(const char* file, int line, const char* condition, const char* message) noexcept {
  FixedText<1024> text;
  text.append("weft: internal error: ")
      .append(file)
      .append(':')
      .append_uint(static_cast<unsigned>(line));
  text.append(": ").append(message).append(" (").append(condition).append(")");
  if (text.truncated()) text.replace_tail("...");
  text.append_final_newline();
  write_error_line(text);
  if (const LastWords hook = std::exchange(last_words, nullptr)) hook();
  for (;;) system_call(SYS_exit_group, kInternalErrorExit);
}

}  // namespace detail
}  // namespace weft
