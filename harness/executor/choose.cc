// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which executor a worker gets.
#include "harness/base/check.h"
#include "harness/base/immortal.h"
#include "harness/engine/executor.h"
#include "harness/executor/alias.h"
#include "harness/executor/baton.h"

namespace weft::engine {

Executor& make_executor(ExecutorKind kind, ProcessImage& image, trace::Channel& channel) noexcept {
  if (kind != ExecutorKind::kAlias) {
    return make_immortal<executor::Baton>(image, channel, kind == ExecutorKind::kFresh);
  }
  auto& alias = make_immortal<executor::Alias>(image);
  const char* const unfit = alias.prepare(channel.running_tid);
  WEFT_CHECK(unfit == nullptr, "the alias executor passed its test and does not work");
  return alias;
}

}  // namespace weft::engine
