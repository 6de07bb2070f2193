// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/explorer_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>

namespace weft::engine {
namespace {

void close_descriptor(int& descriptor) noexcept {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

/// What a worker must be before any of its code runs.
void become_worker(pid_t supervisor) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The supervisor may have died between the fork and the line above.
  if (::getppid() != supervisor) ::_exit(static_cast<int>(WorkerExit::kFinished));

  // Ctrl-C and timeout(1) signal a whole process group; the supervisor decides what it means.
  ::setpgid(0, 0);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);

  // A core file would hold the channel, hundreds of megabytes of address space.
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);

  // When memory runs out it is the subject's doing: let the kernel take the worker.
  const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    (void)!::write(score, "800", 3);
    ::close(score);
  }
}

}  // namespace

// Here and not where the command line is, which is compiled unoptimised: each execution passes by.
Body body_of(const std::function<void()>& function) noexcept {
  return {.function = [](void* called) { (*static_cast<const std::function<void()>*>(called))(); },
          .argument = const_cast<std::function<void()>*>(&function)};
}

WorkerProcess::~WorkerProcess() {
  kill();
  close_all();
}

bool WorkerProcess::start(WorkerMain worker_main, WorkerConfig config, trace::Channel& channel,
                          Body body, bool capture_output) {
  kill();
  close_all();
  if (capture_output) {
    output_fd_ = ::memfd_create("weft-output", MFD_CLOEXEC);
    if (output_fd_ < 0) return false;
    ::fcntl(output_fd_, F_SETFL, O_APPEND);
    config.output_fd = output_fd_;
  }
  // What is still buffered would otherwise be written by the worker as well.
  std::fflush(nullptr);
  const pid_t supervisor = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    become_worker(supervisor);
    worker_main(config, channel, body.function, body.argument);
    ::_exit(static_cast<int>(WorkerExit::kFinished));
  }
  pid_ = child;
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  return true;
}

bool WorkerProcess::reap() noexcept {
  if (pid_ <= 0) return true;
  int status = 0;
  pid_t waited = 0;
  do waited = ::waitpid(pid_, &status, WNOHANG);
  while (waited < 0 && errno == EINTR);
  if (waited == 0) return false;
  if (waited < 0) {
    // Somebody else reaped it (a subject's SIGCHLD handler inherited by the supervisor).
    end_ = {.by_signal = true, .code = SIGKILL};
  } else if (WIFSIGNALED(status)) {
    end_ = {.by_signal = true, .code = WTERMSIG(status)};
  } else {
    end_ = {.by_signal = false, .code = WEXITSTATUS(status)};
  }
  pid_ = -1;
  close_descriptor(pidfd_);
  return true;
}

bool WorkerProcess::wait(int milliseconds) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (!reap()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) return false;
    pollfd ended{.fd = pidfd_, .events = POLLIN, .revents = 0};
    // Without a pidfd, poll() ignores the entry and merely sleeps.
    ::poll(&ended, 1, pidfd_ >= 0 ? static_cast<int>(left) + 1 : 1);
  }
  return true;
}

void WorkerProcess::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (!wait(1000)) {
    // A process in an uninterruptible system call dies when that returns.
  }
}

void WorkerProcess::close_all() noexcept {
  close_descriptor(pidfd_);
  close_descriptor(output_fd_);
}

std::string WorkerProcess::output_tail(std::size_t limit) const {
  if (output_fd_ < 0) return {};
  const off_t size = ::lseek(output_fd_, 0, SEEK_END);
  if (size <= 0) return {};
  const std::size_t wanted = std::min(limit, static_cast<std::size_t>(size));
  std::string text(wanted, '\0');
  const ssize_t got = ::pread(output_fd_, text.data(), wanted, size - static_cast<off_t>(wanted));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

void WorkerProcess::trim_output() noexcept {
  if (output_fd_ < 0) return;
  const off_t size = ::lseek(output_fd_, 0, SEEK_END);
  if (size <= static_cast<off_t>(kOutputLimit)) return;
  // The end stays where it is, whenever we look: what is shown of an output depends on it alone.
  (void)!::fallocate(output_fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                     size - static_cast<off_t>(kOutputLimit / 2));
}

}  // namespace weft::engine
