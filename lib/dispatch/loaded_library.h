// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "lib/dispatch/operator.h"

namespace weftrt::detail {

// Keeps the shared library that `function` is in loaded from now on, whoever closes it and however
// often, so that a table may hold the function for as long as it likes. Nothing to do where that is
// the program itself, or not known to the dynamic linker. docs/adr/0011 says why.
//
// Thread-safety: any thread, also from a static initialiser of the library itself.
// Throws std::runtime_error where the dynamic linker refuses.
void keep_library_loaded(AnyFunction function);

}  // namespace weftrt::detail
