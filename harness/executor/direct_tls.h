// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Looks for code that the alias executor cannot serve: what reaches a thread_local through the %fs
// register itself, `mov %fs:-4,%eax` or `mov %fs:(%rax),%ecx`. One kernel thread runs all tasks,
// and %fs is its own; code compiled with -mno-tls-direct-seg-refs asks the words %fs:0, 8 and 16
// where the thread-locals are, or __tls_get_addr(), which does, and those words the executor
// rewrites.
//
// The code is examined as it is loaded. Each byte 0x64 may be the prefix that means %fs. Where an
// instruction that began there would be a direct use, the function around it is decoded from its
// start (function_bounds.h), for the byte may as well be part of an operand. Code between functions
// may be assembly that nobody described, or no code at all: OpenSSL keeps its tables there. There a
// use counts only if the file says that its section holds instructions and what surrounds it
// decodes without a fault.
//
// Blind to rdfsbase, to code that may not be read, and to code that is no part of a loaded file.
//
// Cost: 0.4 to 1 ms for each MB of code (direct_tls_bench.cc), and up to 3.5 ms in LLVM.
//
// Thread-safety: any thread, also when there is only one. Takes the dynamic linker's lock,
// allocates nothing.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::executor {

/// A use of thread-local storage that the alias executor cannot redirect.
struct DirectTls {
  char module[128];           // the file's basename
  char function[512];         // its mangled name; empty when the file has no symbol for it
  std::uintptr_t offset;      // of the instruction, from the module's load address
  std::int64_t displacement;  // as in %fs:displacement(...)
  bool computed;              // a register takes part in the address
};

/// The first such use in any loaded module, exempt ones apart (tls_exemptions.h). False: there is
/// none.
[[nodiscard]] bool find_direct_tls(DirectTls& first) noexcept;

/// Likewise in one module, as dl_iterate_phdr() describes it: for one that was loaded later.
[[nodiscard]] bool find_direct_tls(const dl_phdr_info& module, DirectTls& first) noexcept;

/// Likewise in `code`, which lies in one segment of a loaded module; exempt modules are not spared.
[[nodiscard]] bool find_direct_tls(std::span<const std::uint8_t> code, DirectTls& first) noexcept;

/// What was let pass for one reason in one loaded module.
struct ExemptTls {
  char module[128];
  std::string_view reason;
  std::size_t uses;
};

/// Fills `found`, in the order of loading, and returns how many there are; those that do not fit
/// are left out.
std::size_t find_exempt_tls(std::span<ExemptTls> found) noexcept;

}  // namespace weft::executor
