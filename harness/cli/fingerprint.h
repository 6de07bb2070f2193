// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace weft::cli {

/// Which build of the running program this is: a hash of its GNU build-id, or of
/// the whole file where the linker wrote none. Shared libraries are not part of it.
/// Never 0, which a token uses for 'unknown'. Computed once.
[[nodiscard]] std::uint64_t build_fingerprint();

}  // namespace weft::cli
