// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/explorer_watchdog.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "harness/engine/watchdog.h"

namespace weft::engine {
namespace {

/// System calls in which a thread can stay for ever, and what to do about it.
struct BlockingCall {
  long number;
  const char* name;
  bool first_is_descriptor;
  const char* hint;
};

constexpr char kInput[] = "blocking input is not controlled";
constexpr char kOutput[] = "blocking output is not controlled: nobody reads the other end";
constexpr char kWaiting[] =
    "no task makes any of its descriptors ready: what comes from outside is not controlled";
constexpr char kDevice[] = "waiting for devices is not controlled";
constexpr char kProcesses[] = "waiting for other processes is not controlled";
constexpr char kSignals[] = "waiting for signals is not controlled";
constexpr char kIpc[] = "System V and POSIX message queues and semaphores are not controlled";
constexpr char kLocks[] = "file locks are not controlled";
constexpr char kFutex[] =
    "it waits in the kernel without the scheduler's knowledge: for a lock inside libc, such as "
    "that of a FILE, or in code that is linked statically or makes the system call itself";
constexpr char kTime[] =
    "it sleeps in real time: call the libc function, which is virtual time here";

constexpr BlockingCall kBlockingCalls[] = {
    {SYS_read, "read", true, kInput},
    {SYS_readv, "readv", true, kInput},
    {SYS_pread64, "pread64", true, kInput},
    {SYS_recvfrom, "recvfrom", true, kInput},
    {SYS_recvmsg, "recvmsg", true, kInput},
    {SYS_recvmmsg, "recvmmsg", true, kInput},
    {SYS_accept, "accept", true, kInput},
    {SYS_accept4, "accept4", true, kInput},
    {SYS_open, "open", false, kInput},
    {SYS_openat, "openat", false, kInput},
    {SYS_write, "write", true, kOutput},
    {SYS_writev, "writev", true, kOutput},
    {SYS_sendto, "sendto", true, kOutput},
    {SYS_sendmsg, "sendmsg", true, kOutput},
    {SYS_connect, "connect", true, kOutput},
    {SYS_fsync, "fsync", true, kOutput},
    {SYS_poll, "poll", false, kWaiting},
    {SYS_ppoll, "ppoll", false, kWaiting},
    {SYS_select, "select", false, kWaiting},
    {SYS_pselect6, "pselect6", false, kWaiting},
    {SYS_epoll_wait, "epoll_wait", true, kWaiting},
    {SYS_epoll_pwait, "epoll_pwait", true, kWaiting},
    {SYS_ioctl, "ioctl", true, kDevice},
    {SYS_wait4, "wait4", false, kProcesses},
    {SYS_waitid, "waitid", false, kProcesses},
    {SYS_pause, "pause", false, kSignals},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", false, kSignals},
    {SYS_rt_sigsuspend, "rt_sigsuspend", false, kSignals},
    {SYS_semop, "semop", false, kIpc},
    {SYS_semtimedop, "semtimedop", false, kIpc},
    {SYS_msgrcv, "msgrcv", false, kIpc},
    {SYS_msgsnd, "msgsnd", false, kIpc},
    {SYS_mq_timedreceive, "mq_timedreceive", true, kIpc},
    {SYS_mq_timedsend, "mq_timedsend", true, kIpc},
    {SYS_flock, "flock", true, kLocks},
    {SYS_fcntl, "fcntl", true, kLocks},
    {SYS_futex, "futex", false, kFutex},
    {SYS_nanosleep, "nanosleep", false, kTime},
    {SYS_clock_nanosleep, "clock_nanosleep", false, kTime},
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string task_file(pid_t process, pid_t thread, const char* name) {
  return read_file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/" +
                   name);
}

/// The state letter of proc_pid_stat(5): what follows the command's closing parenthesis.
char state_of(const std::string& stat) {
  const std::size_t close = stat.rfind(')');
  return close == std::string::npos || close + 2 >= stat.size() ? '?' : stat[close + 2];
}

}  // namespace

double StallClock::advance(const trace::Channel& channel, double elapsed) noexcept {
  const std::uint64_t heartbeat = channel.heartbeat.load(std::memory_order_relaxed);
  const std::uint64_t execution = channel.current.load(std::memory_order_relaxed);
  const trace::WorkerPhase phase = channel.phase.load(std::memory_order_relaxed);
  if (heartbeat != heartbeat_ || execution != execution_ || phase != phase_) {
    heartbeat_ = heartbeat;
    execution_ = execution;
    phase_ = phase;
    stalled_ = 0;
  } else {
    stalled_ += std::min(elapsed, kMaxTick);
  }
  return stalled_;
}

HangFacts interpret_system_call(const std::string& proc_syscall, char state) {
  HangFacts facts;
  std::istringstream words(proc_syscall);
  std::string number;
  if (!(words >> number)) return facts;
  facts.known = true;
  if (number == "running" || number == "-1") {
    facts.activity =
        state == 'T' || state == 't' ? "it is stopped" : "it is computing without a schedule point";
    facts.hint =
        "a loop without end, or longer work than hang_seconds allow; code that is not instrumented "
        "never gives way, see weft_instrument()";
    if (state == 'T' || state == 't') facts.hint = "something sent it SIGSTOP";
    return facts;
  }
  facts.in_system_call = true;
  std::string first_argument;
  words >> first_argument;
  const long call_number = std::strtol(number.c_str(), nullptr, 10);
  for (const BlockingCall& call : kBlockingCalls) {
    if (call.number != call_number) continue;
    facts.activity = std::string("it is in ") + call.name + "(";
    if (call.first_is_descriptor) {
      facts.activity +=
          std::to_string(static_cast<int>(std::strtoull(first_argument.c_str(), nullptr, 16))) +
          ", ";
    }
    facts.activity += "...)";
    facts.hint = call.hint;
    return facts;
  }
  facts.activity = "it is in system call " + number;
  facts.hint = "this system call is not controlled";
  return facts;
}

HangFacts observe_thread(pid_t process, pid_t thread) {
  HangFacts facts = interpret_system_call(task_file(process, thread, "syscall"),
                                          state_of(task_file(process, thread, "stat")));
  const std::string channel = task_file(process, thread, "wchan");
  if (channel != "0") facts.wait_channel = channel;
  return facts;
}

bool is_traced(pid_t process) {
  const std::string status = read_file("/proc/" + std::to_string(process) + "/status");
  const std::size_t at = status.find("TracerPid:");
  return at != std::string::npos && std::strtol(status.c_str() + at + 10, nullptr, 10) != 0;
}

bool ask_for_stack(pid_t process, pid_t thread) noexcept {
  return ::syscall(SYS_tgkill, process, thread, kWatchdogSignal) == 0;
}

}  // namespace weft::engine
