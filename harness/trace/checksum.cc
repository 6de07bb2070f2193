// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/checksum.h"

// In this one file, so that users of the library need not link libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::trace {

std::uint64_t checksum(std::string_view bytes) noexcept {
  return XXH64(bytes.data(), bytes.size(), /*seed=*/0);
}

struct RunningChecksum::State {
  XXH64_state_t hash;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  (void)XXH64_reset(&state_->hash, /*seed=*/0);
}
RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::add(std::string_view bytes) noexcept {
  (void)XXH64_update(&state_->hash, bytes.data(), bytes.size());
}

std::uint64_t RunningChecksum::value() const noexcept { return XXH64_digest(&state_->hash); }

}  // namespace weft::trace
