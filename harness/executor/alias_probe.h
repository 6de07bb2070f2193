// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether the alias executor works in this process, as it is: with this libc, this C++ library,
// these libraries loaded.
#pragma once

namespace weft::executor {

/// Three tasks that switch at every turn look whether each keeps what is a thread's own. In a
/// process of its own: what fails may crash. Null, or what does not hold. Call with one thread
/// only.
[[nodiscard]] const char* probe_alias() noexcept;

}  // namespace weft::executor
