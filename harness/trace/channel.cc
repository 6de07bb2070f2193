// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/channel.h"

#include <sys/mman.h>

#include <cerrno>

#include "harness/base/check.h"

namespace weft::trace {

// Both sides of the fork, and a worker killed in the middle of a store, see whole counters only if
// no lock stands behind them.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<WorkerPhase>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

Channel* map_channel() noexcept {
  void* memory = ::mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const channel = static_cast<Channel*>(memory);
  // Not a constructor, which would touch every page.
  channel->choices.open({});
  channel->events.open({});
  return channel;
}

void unmap_channel(Channel* channel) noexcept {
  if (channel == nullptr) return;
  const int saved = errno;
  WEFT_CHECK(::munmap(channel, sizeof(Channel)) == 0, "a channel that map_channel() did not make");
  errno = saved;
}

}  // namespace weft::trace
