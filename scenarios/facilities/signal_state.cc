// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a task does to signals ends with the execution, although the kernel keeps it, and does not
// keep the harness from putting memory back.

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cassert>
#include <thread>

#include <weft/scenario.h>

namespace {

int executions[4096];  // pages that are written in some executions

void own_handler(int) { _exit(9); }

WEFT_SCENARIO(signal_state,
              {.name = "facilities/signal_state",
               .summary = "handlers and masks of signals are as before in each execution",
               .expect = weft::must_pass(),
               .budget = 100}) {
  sigset_t mask;
  assert(pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0);
  assert(sigismember(&mask, SIGUSR1) == 0 && sigismember(&mask, SIGSEGV) == 0);
  struct sigaction action {};
  assert(sigaction(SIGSEGV, nullptr, &action) == 0);
  assert(action.sa_handler != &own_handler);
  assert(sigaction(SIGUSR1, nullptr, &action) == 0 && action.sa_handler == SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  assert(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  assert(signal(SIGSEGV, &own_handler) != SIG_ERR);
  assert(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
  assert(signal(SIGUSR1, &own_handler) == SIG_IGN);

  const std::size_t page = 1024 * weft::choose(4);
  assert(executions[page] == 0);
  executions[page] = 1;
  std::thread([page] { executions[page] = 2; }).join();
  assert(executions[page] == 2);
}

}  // namespace
