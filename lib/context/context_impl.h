// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>

#include "lib/context/allocator.h"
#include "lib/context/properties.h"

namespace weftrt {

// Everything that a context says, as one plain value. It is not written once it is published: a
// change copies it, edits the copy and publishes that, so a reader sees all of it or nothing.
//
// A new field must keep the type regular (default, copy, compare): publishing relies on copying,
// and tests and oracles on comparing.
struct ContextImpl {
  // The constant is arbitrary and fixed, so that programs that never set a seed are reproducible.
  static constexpr std::uint64_t kDefaultRandomSeed = 0x5745'4654;

  Allocator allocator = system_allocator();
  std::uint64_t random_seed = kDefaultRandomSeed;  // of the default generator of each thread
  Properties properties;

  friend bool operator==(const ContextImpl&, const ContextImpl&) = default;
};

}  // namespace weftrt
