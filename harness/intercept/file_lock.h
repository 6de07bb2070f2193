// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The locks of FILEs outlive an execution: libc's memory is not restored.
#pragma once

#include "harness/intercept/interpose.h"

namespace weft::intercept {

/// Of those that the execution's tasks left locked.
void unlock_files(Execution& execution) noexcept;

}  // namespace weft::intercept
