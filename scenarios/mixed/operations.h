// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The copy of the runtime that WEFT_RT names, as programs use it.
#pragma once

#include "scenarios/mixed/operation.h"

namespace weft::mixed::WEFT_RT {

[[nodiscard]] Copy runtime();

}  // namespace weft::mixed::WEFT_RT
