// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/trace/trace.h"

namespace weft::trace {

/// Turns places in modules into names. Consulted when a trace is collected, on the machine and for
/// the build that made it; reports never need one.
///
/// `offset` is a virtual address of the module's ELF file. What is unknown comes back empty.
class Symbolizer {
 public:
  virtual ~Symbolizer() = default;

  /// The source frames of an instruction, innermost inlined one first.
  [[nodiscard]] virtual std::vector<Frame> code(const std::string& module,
                                                std::uint64_t offset) = 0;
  /// The variable at an address: "counter", "weftrt::current+8".
  [[nodiscard]] virtual std::string data(const std::string& module, std::uint64_t offset) = 0;
};

}  // namespace weft::trace
