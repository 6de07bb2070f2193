// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread replaces the global allocator while another allocates and frees. The
// mutant changes the context in place, field by field: the reader may take one
// allocator's allocate and the other's deallocate.

#include <cstddef>
#include <cstdlib>
#include <thread>

#include <weft/weft.h>

#include "lib/context/context.h"
#include "scenarios/runtime_story.h"

namespace {

/// Memory with the mark of the allocator it came from. Two allocators differ in
/// their functions alone, so that nothing but the pair ties them together.
struct alignas(std::max_align_t) Header {
  int owner;
};

template <int kOwner>
void* allocate_marked(void* /*state*/, std::size_t bytes) {
  void* const memory = std::malloc(sizeof(Header) + bytes);
  if (memory == nullptr) return nullptr;
  static_cast<Header*>(memory)->owner = kOwner;
  return static_cast<Header*>(memory) + 1;
}

template <int kOwner>
void deallocate_marked(void* /*state*/, void* memory, std::size_t /*bytes*/) {
  Header* const header = static_cast<Header*>(memory) - 1;
  weft::always(header->owner == kOwner, "memory goes back to the allocator it came from");
  std::free(header);
}

template <int kOwner>
void install_allocator() {
  rt::update_global([](rt::ContextImpl& impl) {
    rt::Allocator& allocator = impl.on(rt::DeviceKind::kCpu).allocator;
    allocator.allocate_fn = allocate_marked<kOwner>;
    allocator.deallocate_fn = deallocate_marked<kOwner>;
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
