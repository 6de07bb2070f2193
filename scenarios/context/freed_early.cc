// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread pins the context while another replaces it. The mutant's reader
// learns the address first and counts itself in later: in between, the writer
// sees nobody, and frees what the reader is about to use.

#include <cassert>
#include <thread>

#include "lib/context/context.h"
#include "scenarios/runtime_story.h"

namespace {

#ifdef WEFT_ASAN
constexpr const char* kFirstSign = "memory_error";  // the reader's access, before what comes of it
#else
constexpr const char* kFirstSign = "use_after_free";
#endif

WEFT_SCENARIO(freed_early,
              {.name = "context/freed_early" WEFT_VARIANT,
               .summary = by_variant("a context is freed while a reader pins it",
                                     "a context lives for as long as a reader pins it"),
               .expect = expect_with_mutant(kFirstSign),
               .budget = 2000}) {
  std::thread writer(
      [] { rt::update_global([](rt::ContextImpl& impl) { impl.random_seed = 7; }); });
  {
    const rt::ContextPin pinned = rt::pin();
    writer.join();
    // Either the pin is of the new one, or it keeps the old one alive beside it.
    const bool pinned_new = pinned.generation() == rt::generation();
    assert(rt::live_implementations() == (pinned_new ? 1U : 2U));
  }
  assert(rt::current().random_seed == 7);
}

}  // namespace
