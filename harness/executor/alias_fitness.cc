// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether this process can have the alias executor: first what is compiled into it, then a trial.
#include "harness/base/text_buffer.h"
#include "harness/engine/executor.h"
#include "harness/executor/alias_probe.h"
#include "harness/executor/direct_tls.h"

namespace weft::executor {
namespace {

/// One line, with the mend.
const char* describe(const DirectTls& use) noexcept {
  static FixedText<1024> text;
  text.append(use.module).append(": ");
  if (use.function[0] != '\0') {
    text.append(use.function);
  } else {
    text.append("the code at ").append_hex(use.offset);
  }
  text.append(
      " reaches thread-local storage by %fs itself; compile it with "
      "-mno-tls-direct-seg-refs, as weft_instrument() and weft-c++ do");
  return text.c_str();
}

const char* examine() noexcept {
  static DirectTls use;
  if (find_direct_tls(use)) return describe(use);
  return probe_alias();
}

}  // namespace
}  // namespace weft::executor

namespace weft::engine {

const char* why_no_alias() noexcept {
  static const char* const reason = executor::examine();
  return reason;
}

}  // namespace weft::engine
