// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// gdb as a child of ours, at our terminal.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/trace/outcome.h"

namespace weft::cli {

/// The program that WEFT_GDB names, else gdb; the error says what to install.
[[nodiscard]] trace::Outcome<std::string> find_gdb();

/// Runs `gdb`, attached to `worker`, up to the worker's next call of weft_stop_for_debugger();
/// then `hint` is printed and `arguments` are obeyed, in gdb's order. Returns when gdb has ended.
/// Meanwhile Ctrl-C is gdb's alone. Empty, or why gdb could not be started.
[[nodiscard]] std::string run_gdb(const std::string& gdb, pid_t worker, const std::string& hint,
                                  const std::vector<std::string>& arguments);

}  // namespace weft::cli
