// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names and source lines from a module's DWARF and symbol tables, by elfutils' libdw.
#pragma once

#include <memory>

#include "harness/trace/symbolizer.h"

namespace weft::reports {

/// Opens each module at its first question and keeps it open. Modules that cannot be read, and
/// those without debug information, give what their symbol tables know.
[[nodiscard]] std::unique_ptr<trace::Symbolizer> make_symbolizer();

}  // namespace weft::reports
