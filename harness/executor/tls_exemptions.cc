// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/tls_exemptions.h"

#include <span>

namespace weft::executor {
namespace {

struct Exemption {
  std::string_view prefix;
  std::string_view reason;
};

// What glibc 2.36 reaches so, by offset in its struct pthread, that is from %fs. The executor has
// to carry over what a task could tell from its own:
//   2d0  tid: the owner of locks that check theirs
//   2f8  cleanup, 300 cleanup_jmp_buf: pthread_cleanup_push() in C, pthread_exit(), cancellation
//   510  specific[]: values of keys from 32 on (those below are found through %fs:0x10);
//        610 specific_used
// and among its thread-locals, errno, which __errno_location() hands out through %fs:0, so that the
// carrier's and a task's would be different words.
// What is left is one for all tasks: the robust list (2e0), a thread's result (628), its unwinding
// (670), the sizes of stacks (698), priority ceilings (6b0), the processor's number (920); malloc's
// cache and arena; uselocale()'s locale, of which the macros of <ctype.h> see the task's own; what
// dlerror() will say; h_errno, the resolver's and RPC's state; the dynamic linker's list of
// handlers.
constexpr std::string_view kLibc =
    "errno, the tid, keys and cleanup handlers are carried over with a task; malloc's cache, "
    "uselocale(), dlerror() and the resolver's state are the carrier's, one for all tasks";
constexpr std::string_view kErrno = "errno alone, which is carried over with a task";
constexpr std::string_view kResolver =
    "errno, which is carried over with a task; the resolver's state is the carrier's, one for all";
constexpr std::string_view kLeakCheck =
    "where dlopened libraries' thread-locals lie, and the depth of __lsan_disable(): the leak "
    "checker's, which the harness switches off";
constexpr std::string_view kAsan =
    "the fake stack, which is carried over with a task; the leak checker's records, which the "
    "harness switches off; what a glob() or scandir() in progress was given";
constexpr std::string_view kTsan =
    "the state of the current thread, which ThreadSanitizer's own fibers carry over with a task";
constexpr std::string_view kFuzzer =
    "the deepest stack so far, a hint for what to try next; libFuzzer runs on one thread";

// Prefixes of basenames; a version follows.
constexpr Exemption kModules[] = {
    {"libc.so.", kLibc},
    {"ld-linux-x86-64.so.",
     "marks a symbol's look-up in progress, for dlclose() to wait for; the rest starts the "
     "process"},
    {"libm.so.", kErrno},
    {"libnss_", kErrno},
    {"libnsl.so.", kErrno},
    {"libresolv.so.", kResolver},
    {"libasan.so.", kAsan},
    {"libclang_rt.asan-", kAsan},
    {"libubsan.so.", kLeakCheck},
    {"libclang_rt.ubsan_standalone-", kLeakCheck},
    {"liblsan.so.", kLeakCheck},
    {"libtsan.so.", kTsan},
    {"libclang_rt.tsan-", kTsan},
    {"linux-vdso.so.", "the kernel's own code, which knows of no thread-local storage"},
};

// Prefixes of mangled names: `_ZN6fuzzer` is namespace fuzzer.
constexpr Exemption kFunctions[] = {
    {"_ZN11__sanitizer", kLeakCheck},
    {"_ZN6__lsan", kLeakCheck},
    {"_ZN6fuzzer", kFuzzer},
    {"_ZNK6fuzzer", kFuzzer},
};

std::string_view find(std::span<const Exemption> exemptions, std::string_view name) noexcept {
  for (const Exemption& exemption : exemptions) {
    if (name.starts_with(exemption.prefix)) return exemption.reason;
  }
  return {};
}

}  // namespace

std::string_view reason_to_exempt_module(std::string_view basename) noexcept {
  return find(kModules, basename);
}

std::string_view reason_to_exempt_function(std::string_view mangled) noexcept {
  return find(kFunctions, mangled);
}

}  // namespace weft::executor
