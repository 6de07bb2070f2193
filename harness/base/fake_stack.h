// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// AddressSanitizer's fake stacks, where ASAN_OPTIONS has detect_stack_use_after_return: there a
// thread's variables lie that are watched beyond their function's return. Nothing at all elsewhere.
//
// The library maps a thread's fake stack where there is room, hands its frames out in turns, and
// never begins anew. Here each slot has one at an address of its own that begins every execution
// empty, so that a variable lies at the same address in every execution and process. It is in the
// library's format and the library's to use, so that reports say whose variable it was.
//
// The format is that of asan_fake_stack.h: a header, a flag for each frame, and the frames, in 11
// classes of 64 bytes to 64 KiB each. adopt() checks it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::asan {

/// Where the fake stack of `slot` lies, if there is one: far from the stacks, heaps and shadow.
struct FakeStackArea {
  std::uintptr_t low;
  std::uintptr_t high;
};
[[nodiscard]] constexpr FakeStackArea fake_stack_area(std::size_t slot) noexcept {
  constexpr std::uintptr_t kBase = 0x5d0000000000;
  // 11 classes of 16 MiB at most, and their flags. Of address space: 256 GiB for 1,024 slots.
  constexpr std::uintptr_t kBytes = std::uintptr_t{256} << 20;
  return {kBase + slot * kBytes, kBase + (slot + 1) * kBytes};
}

#ifdef WEFT_ASAN

/// Zero bytes: none. Thread-safety: one thread at a time.
class FakeStack {
 public:
  /// On the kernel thread of `slot`, whose stack is [low, high), before it runs any code of the
  /// subject: from here on its fake stack is this one, if it is to have any.
  void adopt(std::size_t slot, std::uintptr_t low, std::uintptr_t high) noexcept;
  /// On the same thread, when it runs none any more and is about to end.
  void leave(std::uintptr_t low, std::uintptr_t high) noexcept;

  /// As it was when it was adopted; no function of the subject is running on it any more, or will
  /// go on.
  void reset() noexcept;

  [[nodiscard]] void* address() const noexcept { return begin_; }

 private:
  [[nodiscard]] unsigned char* flags_of(std::size_t size_class) const noexcept;

  // What the library counts with, as a new fake stack has it.
  static constexpr std::size_t kHeaderBytes = 128;

  unsigned char* begin_;
  unsigned char* frames_;
  std::size_t class_bytes_log_;
  unsigned char header_[kHeaderBytes];
};

/// The library's own word for the calling thread's fake stack, or null where there is none to be
/// had. It finds the word by %fs, and so do all that the carrier of the alias executor runs.
[[nodiscard]] void** fake_stack_word() noexcept;

/// Whether fake stacks are in use at all.
[[nodiscard]] bool has_fake_stacks() noexcept;

/// Whether the calling thread is taken for the one of `slot`.
[[nodiscard]] bool own_fake_stack_is(std::size_t slot) noexcept;

/// visit(begin, end, context) for each frame in the calling thread's own fake stack of a function
/// that has not returned.
void for_each_fake_frame(void (*visit)(char* begin, char* end, void* context),
                         void* context) noexcept;

#else

class FakeStack {
 public:
  void adopt(std::size_t, std::uintptr_t, std::uintptr_t) noexcept {}
  void leave(std::uintptr_t, std::uintptr_t) noexcept {}
  void reset() noexcept {}
  [[nodiscard]] void* address() const noexcept { return nullptr; }
};

inline void** fake_stack_word() noexcept { return nullptr; }
inline bool has_fake_stacks() noexcept { return false; }
inline bool own_fake_stack_is(std::size_t) noexcept { return false; }
inline void for_each_fake_frame(void (*)(char*, char*, void*), void*) noexcept {}

#endif

}  // namespace weft::asan
