// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The face of a copy of the runtime that is hidden in this shared library.

#include <atomic>

#include "lib/context/operators.h"
#include "lib/stash/stash.h"

namespace {

std::atomic<int> g_stashed{0};

struct Counted {
  Counted() { ++g_stashed; }
  ~Counted() { --g_stashed; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

const weftrt::StashKey<Counted> kStashed("copies_test.stashed", weftrt::StashRule::kPrivate,
                                         [] { return std::make_shared<Counted>(); });
const weftrt::Operator<int()> kWho("copies_test.who");

}  // namespace

extern "C" {
#define WEFT_FACE __attribute__((visibility("default")))

WEFT_FACE unsigned long copy_seed() { return weftrt::current().seed(); }
WEFT_FACE void copy_set_seed(unsigned long seed) {
  weftrt::update_global([seed](weftrt::ContextImpl& impl) { impl.seed_all(seed); });
}
WEFT_FACE unsigned long copy_generation() { return weftrt::generation(); }
WEFT_FACE unsigned long copy_live_implementations() { return weftrt::live_implementations(); }
WEFT_FACE void copy_stash() { (void)weftrt::stash::get_or_init(kStashed); }
WEFT_FACE int copy_stashed() { return g_stashed; }
WEFT_FACE void copy_register(int (*who)()) {
  weftrt::register_operator(kWho, weftrt::DeviceKind::kCpu, who);
}
WEFT_FACE int copy_call() { return weftrt::call(kWho, weftrt::DeviceKind::kCpu); }
}
