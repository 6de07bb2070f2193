// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whose direct uses of thread-local storage the alias executor can live with, and why: libraries
// that come compiled as they are, and the runtimes of the compiler that are linked into a program.
// All else must be compiled with -mno-tls-direct-seg-refs.
//
// Such code sees the carrier's thread-locals whichever task runs. A reason says which those are and
// why one of each will do. They come from disassembling glibc 2.36, clang 14 and 22's runtimes and
// gcc 12's. Not listed, for they have none: libstdc++ and libgcc_s, shared and static, libatomic,
// libdl, libpthread, librt, libubsan_minimal. Not listed, though they have some: libgomp and
// libitm, which keep their own notion of a thread in them; libtbb; the other sanitizers.
#pragma once

#include <string_view>

namespace weft::executor {

/// Why the module whose file has this basename may use thread-local storage directly; empty: it may
/// not.
[[nodiscard]] std::string_view reason_to_exempt_module(std::string_view basename) noexcept;

/// Likewise for one function of any other module, by its mangled name.
[[nodiscard]] std::string_view reason_to_exempt_function(std::string_view mangled) noexcept;

}  // namespace weft::executor
