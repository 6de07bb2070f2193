// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>

namespace weftrt {

// What callers may rely on. Belongs to the functions, so it changes only together with them.
enum class AllocatorFlags : std::uint32_t {
  kNone = 0,
  kZeroFilled = 1U << 0,   // memory comes back zeroed
  kPageLocked = 1U << 1,   // memory may be the source or target of an asynchronous device copy
  kDeviceReady = 1U << 2,  // memory may be dereferenced by a device
};

constexpr AllocatorFlags operator|(AllocatorFlags a, AllocatorFlags b) noexcept {
  return static_cast<AllocatorFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(AllocatorFlags flags, AllocatorFlags wanted) noexcept {
  return (static_cast<std::uint32_t>(flags) & static_cast<std::uint32_t>(wanted)) ==
         static_cast<std::uint32_t>(wanted);
}

// A pair of functions that belong together, with the state they share: memory from `allocate_fn`
// may be returned only to the `deallocate_fn` of the same value. Take both from one ContextImpl
// (one `current()`, or a pin when the memory outlives it), never from two calls.
//
// A value; copying it copies the functions and the pointer, not what `state` points to. Whoever
// installs an allocator keeps its state alive for as long as memory of it is in use.
struct Allocator {
  using AllocateFn = void* (*)(void* state, std::size_t bytes);
  using DeallocateFn = void (*)(void* state, void* memory, std::size_t bytes);

  // Not null in a context that is published (context_impl.h).
  AllocateFn allocate_fn;
  DeallocateFn deallocate_fn;
  void* state = nullptr;
  AllocatorFlags flags = AllocatorFlags::kNone;

  // Returns nullptr when there is no memory, as the functions do.
  [[nodiscard]] void* allocate(std::size_t bytes) const { return allocate_fn(state, bytes); }
  void deallocate(void* memory, std::size_t bytes) const { deallocate_fn(state, memory, bytes); }

  friend bool operator==(const Allocator&, const Allocator&) = default;
};

// std::malloc and std::free.
[[nodiscard]] Allocator system_allocator() noexcept;

}  // namespace weftrt
