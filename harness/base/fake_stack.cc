// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Empty where the code under test has no AddressSanitizer.
#include "harness/base/fake_stack.h"

#ifdef WEFT_ASAN

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/base/mapping.h"
#include "harness/base/system_call.h"

// The library's, in no header.
extern "C" {
extern int __asan_option_detect_stack_use_after_return;
void* __asan_stack_malloc_0(std::size_t bytes);
void __asan_stack_free_0(void* frame, std::size_t bytes);
}

namespace weft::asan {
namespace {

constexpr std::size_t kClasses = 11;
constexpr std::size_t kSmallestFrameLog = 6;
constexpr std::size_t kFlagsOffset = 4096;
constexpr std::size_t kClassLogOffset = kClasses * sizeof(std::uintptr_t);
constexpr std::size_t kLargestClassLog = 24;

/// What a frame begins with. `real_stack` is never 0 once the frame was handed out.
struct Frame {
  std::uintptr_t magic;
  std::uintptr_t description;
  std::uintptr_t pc;
  std::uintptr_t real_stack;
};

constexpr std::size_t frame_bytes(std::size_t size_class) noexcept {
  return std::size_t{1} << (kSmallestFrameLog + size_class);
}

constexpr std::size_t frame_count(std::size_t class_log, std::size_t size_class) noexcept {
  return std::size_t{1} << (class_log - kSmallestFrameLog - size_class);
}

/// FlagsOffset() of the library: a class's flags lie behind those of all smaller frames, of which
/// there are twice, four times, ... as many.
constexpr std::size_t flags_offset(std::size_t class_log, std::size_t size_class) noexcept {
  std::size_t offset = kFlagsOffset;
  for (std::size_t c = 0; c < size_class; ++c) offset += frame_count(class_log, c);
  return offset;
}

/// Not by memcpy and memset: those names are the library's, which would look into the shadow.
void copy_words(void* to, const void* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    *reinterpret_cast<volatile std::uint64_t*>(static_cast<char*>(to) + at) =
        *reinterpret_cast<const std::uint64_t*>(static_cast<const char*>(from) + at);
  }
}

void clear_words(void* at, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    *reinterpret_cast<volatile std::uint64_t*>(static_cast<char*>(at) + i) = 0;
  }
}

std::size_t class_log_of(const void* fake_stack) noexcept {
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(fake_stack) +
                                               kClassLogOffset);
}

/// The flag by which the library frees a frame of the smallest class; it is in the frame's last
/// word.
unsigned char* flag_of_smallest(const void* frame) noexcept {
  return *reinterpret_cast<unsigned char* const*>(static_cast<const char*>(frame) + frame_bytes(0) -
                                                  sizeof(void*));
}

/// Gives the calling thread `next` for a fake stack; its own goes to `present` or, where that is
/// null, ends. The functions are for a change of stack, and are told that there is none.
void exchange(void** present, void* next, std::uintptr_t low, std::uintptr_t high) noexcept {
  __sanitizer_start_switch_fiber(present, reinterpret_cast<void*>(low), high - low);
  __sanitizer_finish_switch_fiber(next, nullptr, nullptr);
}

}  // namespace

bool has_fake_stacks() noexcept { return __asan_option_detect_stack_use_after_return != 0; }

bool own_fake_stack_is(std::size_t slot) noexcept {
  return reinterpret_cast<std::uintptr_t>(__asan_get_current_fake_stack()) ==
         fake_stack_area(slot).low;
}

unsigned char* FakeStack::flags_of(std::size_t size_class) const noexcept {
  return begin_ + flags_offset(class_bytes_log_, size_class);
}

void FakeStack::adopt(std::size_t slot, std::uintptr_t low, std::uintptr_t high) noexcept {
  void* const given = __asan_get_current_fake_stack();
  if (given == nullptr) return;
  const FakeStackArea area = fake_stack_area(slot);
  if (begin_ == nullptr) {
    class_bytes_log_ = class_log_of(given);
    WEFT_CHECK(class_bytes_log_ >= 15 && class_bytes_log_ <= kLargestClassLog,
               "AddressSanitizer's fake stacks have another format, or max_uar_stack_size_log in "
               "ASAN_OPTIONS is above 24; use detect_stack_use_after_return=0");
    const long result =
        system_call(SYS_mmap, area.low, area.high - area.low, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    WEFT_CHECK(result == static_cast<long>(area.low),
               "something else lies where the tasks' fake stacks belong");
    begin_ = reinterpret_cast<unsigned char*>(area.low);
    copy_words(header_, given, kHeaderBytes);
    copy_words(begin_, header_, kHeaderBytes);
  }
  // The one that the library made ends; this takes its place.
  exchange(nullptr, begin_, low, high);
  if (frames_ != nullptr) return;
  auto* const frame = static_cast<unsigned char*>(__asan_stack_malloc_0(frame_bytes(0)));
  WEFT_CHECK(frame > begin_ && flag_of_smallest(frame) == flags_of(0) && *flags_of(0) == 1,
             "AddressSanitizer's fake stacks have another format; use "
             "detect_stack_use_after_return=0 in ASAN_OPTIONS");
  frames_ = frame;
  __asan_stack_free_0(frame, frame_bytes(0));
  reset();
}

void FakeStack::leave(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (begin_ == nullptr) return;
  // Or the library would unmap it with the thread.
  void* ours = nullptr;
  exchange(&ours, nullptr, low, high);
}

void FakeStack::reset() noexcept {
  if (begin_ == nullptr) return;
  copy_words(begin_, header_, kHeaderBytes);
  // Frames are handed out one after the other from the first, so that the first one that never was
  // is behind all that were.
  for (std::size_t c = 0; c < kClasses; ++c) {
    unsigned char* const first = frames_ + (c << class_bytes_log_);
    for (std::size_t i = 0; i < frame_count(class_bytes_log_, c); ++i) {
      auto* const frame = reinterpret_cast<Frame*>(first + i * frame_bytes(c));
      if (frame->real_stack == 0) break;
      clear_words(frame, sizeof *frame);
      clear_words(shadow_of(frame), frame_bytes(c) / kGranule);
      flags_of(c)[i] = 0;
    }
  }
}

void** fake_stack_word() noexcept {
  struct Search {
    void* value;
    void** found;
    std::size_t count;
  } search{__asan_get_current_fake_stack(), nullptr, 0};
  if (search.value == nullptr) return nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        if (info->dlpi_tls_data == nullptr) return 0;
        const auto code = reinterpret_cast<std::uintptr_t>(&__asan_get_current_fake_stack);
        const ElfW(Phdr)* block = nullptr;
        bool is_library = false;
        for (const ElfW(Phdr)* header = info->dlpi_phdr;
             header != info->dlpi_phdr + info->dlpi_phnum; ++header) {
          if (header->p_type == PT_TLS) block = header;
          if (header->p_type == PT_LOAD &&
              code - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)
            is_library = true;
        }
        if (!is_library || block == nullptr) return 0;
        auto& search = *static_cast<Search*>(context);
        auto* const words = static_cast<void**>(info->dlpi_tls_data);
        for (std::size_t i = 0; i < block->p_memsz / sizeof(void*); ++i) {
          if (words[i] != search.value) continue;
          search.found = words + i;
          ++search.count;
        }
        return 1;
      },
      &search);
  return search.count == 1 ? search.found : nullptr;
}

void for_each_fake_frame(void (*visit)(char* begin, char* end, void* context),
                         void* context) noexcept {
  auto* const own = static_cast<char*>(__asan_get_current_fake_stack());
  if (own == nullptr) return;
  const std::size_t class_log = class_log_of(own);
  auto* const flags = reinterpret_cast<unsigned char*>(own) + kFlagsOffset;
  // Any frame tells where the first one is.
  auto* const probe = static_cast<char*>(__asan_stack_malloc_0(frame_bytes(0)));
  if (probe < own) return;  // the smallest are all taken, and so the format cannot be checked
  char* const first = probe - (flag_of_smallest(probe) - flags) * frame_bytes(0);
  __asan_stack_free_0(probe, frame_bytes(0));
  for (std::size_t c = 0; c < kClasses; ++c) {
    const char* const flags_of_class = own + flags_offset(class_log, c);
    for (std::size_t i = 0; i < frame_count(class_log, c); ++i) {
      if (flags_of_class[i] == 0) continue;
      char* const frame = first + (c << class_log) + i * frame_bytes(c);
      visit(frame, frame + frame_bytes(c), context);
    }
  }
}

}  // namespace weft::asan

#endif
