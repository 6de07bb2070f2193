// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: exemptions are for what they name and for nothing that looks like it.

#include "harness/executor/tls_exemptions.h"

#include <gtest/gtest.h>

namespace weft::executor {
namespace {

TEST(TlsExemptionsTest, LibrariesOfTheSystem) {
  for (const char* const name :
       {"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libresolv.so.2", "libnss_compat.so.2",
        "linux-vdso.so.1", "libclang_rt.asan-x86_64.so", "libasan.so.8", "libtsan.so.2"}) {
    EXPECT_NE(reason_to_exempt_module(name), "") << name;
  }
}

TEST(TlsExemptionsTest, NothingElse) {
  for (const char* const name : {"", "libcrypto.so.3", "libcuda.so.1", "libmine.so", "libc++.so.1",
                                 "libgomp.so.1", "libc.sorted.so", "my_program"}) {
    EXPECT_EQ(reason_to_exempt_module(name), "") << name;
  }
}

TEST(TlsExemptionsTest, FunctionsOfLinkedRuntimes) {
  EXPECT_NE(reason_to_exempt_function("_ZN11__sanitizer12DTLS_DestroyEv"), "");
  EXPECT_NE(reason_to_exempt_function("_ZN6fuzzer7TracePC18RecordInitialStackEv"), "");
  EXPECT_NE(reason_to_exempt_function("_ZNK6fuzzer7TracePC17GetMaxStackOffsetEv"), "");
  for (const char* const name : {"", "main", "_ZN6fuzzy4testEv", "_ZN4weft3runEv"}) {
    EXPECT_EQ(reason_to_exempt_function(name), "") << name;
  }
}

}  // namespace
}  // namespace weft::executor
