// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the harness does for AddressSanitizer, where the code under test has it (WEFT_ASAN); nothing
// at all elsewhere. docs/adr/0006 says who owns which part of the shadow.
//
// The shadow has a byte for each 8 bytes of memory: 0, all may be touched; 1 to 7, so many of the
// first; anything else, none, and why. We write it directly, for the functions of the run-time
// library can only call memory "poisoned by the user", and a report should say what happened.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef WEFT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

extern "C" void __asan_init();  // what the compiler calls; in no header
#endif

namespace weft::asan {

inline constexpr std::size_t kGranule = 8;  // bytes of memory for a byte of shadow

/// Why memory may not be touched: asan_internal.h's kAsanHeapLeftRedzoneMagic and
/// kAsanHeapFreeMagic, of which reports make "heap-buffer-overflow" and "heap-use-after-free".
enum class Poison : unsigned char { kHeapRedZone = 0xfa, kHeapFreed = 0xfd };

#ifdef WEFT_ASAN

inline constexpr bool kEnabled = true;

/// clang compiles the offset into every access: it is part of the x86-64 Linux ABI of
/// AddressSanitizer.
inline unsigned char* shadow_of(const void* address) noexcept {
  constexpr std::uintptr_t kShadowOffset = 0x7fff8000;
  return reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(address) / kGranule +
                                          kShadowOffset);
}

/// Maps the shadow, where nobody has yet: malloc comes before every constructor.
inline void initialise() noexcept { __asan_init(); }

/// Before a jump out of frames of the subject: nobody leaves their scopes any more. What lies
/// between here and the top of the calling thread's stack may be touched again.
inline void drop_frames() noexcept { __asan_handle_no_return(); }

/// For an access that the compiler hands to the harness, and so does not check itself.
inline void check_access(const volatile void* address, std::size_t size, bool is_write,
                         std::uintptr_t pc) noexcept {
  void* const begin = const_cast<void*>(address);
  if (__asan_region_is_poisoned(begin, size) == nullptr) [[likely]]
    return;
  void* const frame = __builtin_frame_address(0);
  __asan_report_error(reinterpret_cast<void*>(pc), frame, frame, begin, is_write ? 1 : 0, size);
}

/// Memory that was a stack's, and is nobody's any more.
inline void forget_stack(std::uintptr_t low, std::uintptr_t high) noexcept {
  __asan_unpoison_memory_region(reinterpret_cast<void*>(low), high - low);
}

#else

inline constexpr bool kEnabled = false;

inline unsigned char* shadow_of(const void*) noexcept { return nullptr; }
inline void initialise() noexcept {}
inline void drop_frames() noexcept {}
inline void check_access(const volatile void*, std::size_t, bool, std::uintptr_t) noexcept {}
inline void forget_stack(std::uintptr_t, std::uintptr_t) noexcept {}

#endif

}  // namespace weft::asan
