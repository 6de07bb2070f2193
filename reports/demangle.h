// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace weft::reports {

/// The C++ name behind a linker symbol; the symbol itself where it is no mangled name.
[[nodiscard]] std::string demangle(const char* symbol);

/// A demangled function as people speak of it: "std::thread::_Invoker<...>::operator()" instead of
/// three lines of return type, template arguments and parameters. Keeps what tells functions apart
/// at a glance; the full text stays in the trace.
[[nodiscard]] std::string short_function(std::string_view demangled);

}  // namespace weft::reports
