// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What libFuzzer knows, in a program that is linked with it: its own variables, and the counters
// and tables of coverage. They are in the subject's modules, and to restore them between executions
// would let it learn nothing.
//
// Its variables are found by name in the program's symbol table: all lie between the first and the
// last whose name is of `namespace fuzzer`, for the linker puts an archive's members side by side.
#pragma once

#include "harness/image/loaded_module.h"

namespace weft::image {

/// visit(begin, end, context) for each such range in `module`. False where the file cannot tell,
/// because it is stripped.
[[nodiscard]] bool find_fuzzer_memory(const LoadedModule& module,
                                      void (*visit)(const char* begin, const char* end,
                                                    void* context),
                                      void* context) noexcept;

}  // namespace weft::image
