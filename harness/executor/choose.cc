// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which executor a worker gets.
#include <sys/mman.h>

#include <new>

#include "harness/base/check.h"
#include "harness/engine/executor.h"
#include "harness/executor/alias.h"
#include "harness/executor/baton.h"

namespace weft::executor {
namespace {

/// In a mapping of its own, and never unmapped: it lives as long as the worker.
template <typename T, typename... Arguments>
T& make_immortal(Arguments&&... arguments) noexcept {
  static_assert(alignof(T) <= 4096);
  void* const memory =
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WEFT_CHECK(memory != MAP_FAILED, "out of memory for the executor");
  return *::new (memory) T(arguments...);
}

}  // namespace
}  // namespace weft::executor

namespace weft::engine {

Executor& make_executor(ExecutorKind kind, ProcessImage& image, trace::Channel& channel) noexcept {
  if (kind != ExecutorKind::kAlias) {
    return executor::make_immortal<executor::Baton>(image, channel, kind == ExecutorKind::kFresh);
  }
  auto& alias = executor::make_immortal<executor::Alias>(image);
  const char* const unfit = alias.prepare(channel.running_tid);
  WEFT_CHECK(unfit == nullptr, "the alias executor passed its test and does not work");
  return alias;
}

}  // namespace weft::engine
