// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// AddressSanitizer's reports as findings.
#pragma once

namespace weft::intercept {

/// From here on, what it reports of a task ends the execution with a finding.
#ifdef WEFT_ASAN
void prepare_sanitizer() noexcept;
#else
inline void prepare_sanitizer() noexcept {}
#endif

}  // namespace weft::intercept
