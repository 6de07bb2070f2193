// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of programs that run on bare threads.
#pragma once

#include <string>
#include <vector>

namespace weft::bench {

struct NativeProgram {
  std::string name;  // the scenario's: "bench/a_counter.fixed"
  void (*run)() = nullptr;
};

/// In the order of registration. Built at start-up, constant afterwards.
[[nodiscard]] const std::vector<NativeProgram>& native_programs();

bool register_native(std::string name, void (*run)());

}  // namespace weft::bench
