// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether this process can have the alias executor: first what is compiled into it, then a trial.
#include "harness/engine/executor.h"
#include "harness/executor/alias_probe.h"
#include "harness/executor/loaded_code.h"

namespace weft::engine {

const char* why_no_alias() noexcept {
  static const char* const reason = [] {
    static executor::DirectTls use;
    return executor::find_direct_tls(use) ? executor::describe(use) : executor::probe_alias();
  }();
  return reason;
}

}  // namespace weft::engine
