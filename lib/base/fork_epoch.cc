// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/base/fork_epoch.h"

#include <pthread.h>

#include <atomic>

namespace weftrt::detail {
namespace {

constinit std::atomic<std::uint32_t> g_epoch{0};

// relaxed, here and below: the child has one thread, whose further ones start after this.
void count_fork() { g_epoch.fetch_add(1, std::memory_order_relaxed); }

// At load, when there is one thread: registered once per copy of the runtime, and given up when the
// module that holds the copy is unloaded.
[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, &count_fork);

}  // namespace

std::uint32_t fork_epoch() noexcept { return g_epoch.load(std::memory_order_relaxed); }

}  // namespace weftrt::detail
