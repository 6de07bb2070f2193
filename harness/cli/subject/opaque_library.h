// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace opaque {

void read_from(int descriptor);
void wait_for(const int* word);
void spin_on(const volatile bool* flag);

}  // namespace opaque
