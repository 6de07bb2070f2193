// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread replaces the global allocator while another allocates and frees. The
// mutant changes the context in place, field by field: the reader may take one
// allocator's allocate and the other's deallocate.

#include <cstddef>
#include <thread>

#include <weft/weft.h>

#include "lib/context/context.h"
#include "scenarios/marked_memory.h"
#include "scenarios/runtime_story.h"

namespace {

// Two allocators differ in their functions alone, so that nothing but the pair ties them together.
template <int kOwner>
void install_allocator() {
  rt::update_global([](rt::ContextImpl& impl) {
    rt::Allocator& allocator = impl.on(rt::DeviceKind::kCpu).allocator;
    allocator.allocate_fn = [](void*, std::size_t bytes) {
      return weft::allocate_marked<kOwner>(bytes);
    };
    allocator.deallocate_fn = [](void*, void* memory, std::size_t) {
      weft::deallocate_marked<kOwner>(memory);
    };
  });
}

WEFT_SCENARIO(torn_pair,
              {.name = "context/torn_pair" WEFT_VARIANT,
               .summary = by_variant("one allocator's allocate with the other's deallocate",
                                     "one context's allocator, both halves"),
               .expect = expect_with_mutant("data_race"),
               .budget = 2000}) {
  constexpr std::size_t kBytes = 64;
  install_allocator<1>();
  std::thread worker([] {
    const rt::ContextPin context = rt::pin();
    const rt::Allocator& allocator = context->on(rt::DeviceKind::kCpu).allocator;
    void* const memory = allocator.allocate(kBytes);
    allocator.deallocate(memory, kBytes);
  });
  install_allocator<2>();
  worker.join();
}

}  // namespace
