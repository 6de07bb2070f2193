// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Threads that reach for the world outside of the test, or end it in ways that need a hint.

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include <weft/scenario.h>

namespace {

WEFT_SCENARIO(execl_called, {.name = "outside/execl", .budget = 1}) {
  execl("/bin/true", "true", nullptr);
}

WEFT_SCENARIO(execve_called, {.name = "outside/execve", .budget = 1}) {
  char* const none[] = {nullptr};
  execve("/bin/true", none, none);
}

WEFT_SCENARIO(execve_by_number, {.name = "outside/execve_by_number", .budget = 1}) {
  char* const none[] = {nullptr};
  syscall(SYS_execve, "/bin/true", none, none);
}

WEFT_SCENARIO(system_called, {.name = "outside/system", .budget = 1}) {
  (void)!std::system("true");
}

WEFT_SCENARIO(popen_called, {.name = "outside/popen", .budget = 1}) {
  if (FILE* const pipe = popen("true", "r")) pclose(pipe);
}

WEFT_SCENARIO(spawn_called, {.name = "outside/posix_spawn", .budget = 1}) {
  pid_t child = 0;
  char* const none[] = {nullptr};
  posix_spawn(&child, "/bin/true", nullptr, nullptr, none, none);
}

WEFT_SCENARIO(alarm_called, {.name = "outside/alarm", .budget = 1}) { alarm(1); }

WEFT_SCENARIO(timerfd_called, {.name = "outside/timerfd", .budget = 1}) {
  close(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

WEFT_SCENARIO(polls, {.name = "outside/polls", .budget = 1}) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread([&] {
    pollfd wanted = {ends[0], POLLIN, 0};
    poll(&wanted, 1, -1);
  }).join();
}

WEFT_SCENARIO(prints_under_a_lock, {.name = "outside/prints", .budget = 1}) {
  flockfile(stdout);
  std::thread([] { std::puts("after the lock"); }).join();
  funlockfile(stdout);
}

WEFT_SCENARIO(terminated, {.name = "outside/sigterm", .budget = 1}) { raise(SIGTERM); }

WEFT_SCENARIO(alarmed, {.name = "outside/sigalrm", .budget = 1}) { raise(SIGALRM); }

WEFT_SCENARIO(abort_raised, {.name = "outside/sigabrt", .budget = 1}) { raise(SIGABRT); }

WEFT_SCENARIO(thread_forgotten, {.name = "outside/joinable_destroyed", .budget = 1}) {
  const std::thread forgotten([] {});
}

WEFT_SCENARIO(terminate_called, {.name = "outside/terminate", .budget = 1}) {
  std::thread([] {}).join();
  std::terminate();
}

}  // namespace
