// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// base64url without padding (RFC 4648, section 5): every character survives shells, URLs and file
// names unquoted. Supervisor side.
#pragma once

#include <string>
#include <string_view>

#include "harness/trace/outcome.h"

namespace weft::trace {

[[nodiscard]] std::string encode_base64url(std::string_view bytes);

/// Refuses characters outside the alphabet, and texts that no encoder produces (one character too
/// many, unused bits that are not zero).
[[nodiscard]] Outcome<std::string> decode_base64url(std::string_view text);

}  // namespace weft::trace
