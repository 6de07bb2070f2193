// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/operation.h"

#include "harness/base/check.h"

namespace weft::trace {

const char* name(OpKind kind) noexcept {
  WEFT_CHECK(kind < OpKind::kCount, "an operation kind outside its enumeration");
  return detail::kRows[static_cast<std::size_t>(kind)].name;
}

}  // namespace weft::trace
