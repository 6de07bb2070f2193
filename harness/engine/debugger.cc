// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/debugger.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include <ctime>

#include "harness/base/system_call.h"
#include "harness/base/text_buffer.h"

namespace weft::engine {
namespace {

void sleep_ms(long milliseconds) noexcept {
  const timespec time{0, milliseconds * 1'000'000};
  system_call(SYS_nanosleep, &time, nullptr);
}

}  // namespace

bool being_traced() noexcept {
  // Of the calling thread: a debugger takes hold of a process thread by thread.
  const long file =
      system_call(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (is_error(file)) return false;
  char text[1024];  // the line is the eighth, of short ones
  const long length = system_call(SYS_read, file, text, sizeof text);
  system_call(SYS_close, file);
  if (length <= 0) return false;
  constexpr std::string_view kLine = "\nTracerPid:\t";
  const std::string_view status(text, static_cast<std::size_t>(length));
  const std::size_t at = status.find(kLine);
  return at != std::string_view::npos && at + kLine.size() < status.size() &&
         status[at + kLine.size()] != '0';
}

void await_debugger(trace::Channel& channel) noexcept {
  // Where Yama forbids it (kernel.yama.ptrace_scope), the debugger's being our sibling is not
  // enough.
  system_call(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  // release: pairs with the supervisor's acquire; the tasks' threads are as they are to be seen.
  channel.debugger.store(trace::Debugger::kWanted, std::memory_order_release);
  while (!being_traced()) sleep_ms(2);
  // Who begins to trace us is known as the tracer a moment before we are stopped.
  sleep_ms(50);
  channel.debugger.store(trace::Debugger::kPresent, std::memory_order_release);
}

void name_kernel_thread(std::int32_t tid, std::string_view name) noexcept {
  FixedText<64> path;
  path.append("/proc/self/task/").append_int(tid).append("/comm");
  const long file = system_call(SYS_openat, AT_FDCWD, path.c_str(), O_WRONLY | O_CLOEXEC);
  if (is_error(file)) return;
  if (name.size() > kMaxThreadName) name.remove_prefix(name.size() - kMaxThreadName);
  system_call(SYS_write, file, name.data(), name.size());
  system_call(SYS_close, file);
}

}  // namespace weft::engine

__attribute__((noinline)) void weft_stop_for_debugger(weft::StepIndex step, const char* task,
                                                      const char* operation, const void* object,
                                                      const char* message) noexcept {
  // Or the call would be left out, and its arguments with it.
  asm volatile("" : : "r"(step), "r"(task), "r"(operation), "r"(object), "r"(message) : "memory");
}
