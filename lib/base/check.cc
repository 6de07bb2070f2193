// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weftrt::detail {

void die(const char* what) noexcept {
  std::fprintf(stderr, "weftrt: %s\n", what);
  std::abort();
}

}  // namespace weftrt::detail
