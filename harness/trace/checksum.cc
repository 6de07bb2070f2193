// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/checksum.h"

// In this one file, so that users of the library need not link libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::trace {

std::uint64_t checksum(std::string_view bytes) noexcept {
  return XXH64(bytes.data(), bytes.size(), /*seed=*/0);
}

}  // namespace weft::trace
