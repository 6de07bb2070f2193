// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names of findings that depend on how the stories are compiled.
#pragma once

/// A use of a freed block: under AddressSanitizer its report comes first.
#ifdef WEFT_ASAN
inline constexpr const char* kUseAfterFree = "memory_error";
#else
inline constexpr const char* kUseAfterFree = "use_after_free";
#endif
