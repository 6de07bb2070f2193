// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A shared library that registers operators while it is loaded. Compiled twice: WEFT_RIVAL
// implements the same operator another way.

#include "lib/context/operators.h"

namespace {

#ifdef WEFT_RIVAL
int scaled(int x) { return 1000 * x; }
#else
int scaled(int x) { return 10 * x; }
#endif

const weftrt::Operator<int(int)> kScale("plugin_for_test.scale");
const weftrt::OperatorRegistration g_scale(kScale, weftrt::DeviceKind::kCpu, &scaled);

}  // namespace

extern "C" {
bool plugin_registered() { return g_scale.registered(); }
}
