// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/thread_image.h"

#include <pthread.h>

#include <algorithm>
#include <cstdint>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/image/raw_memory.h"

// The dynamic linker's own interface (Drepper, "ELF Handling For Thread-Local Storage", 3.4.6).
// Unlike an offset from the thread pointer, it also reaches blocks of modules loaded by dlopen,
// which each thread gets on first use; it allocates them then, with the dynamic linker's own
// malloc.
struct tls_index {  // NOLINT(readability-identifier-naming)
  unsigned long module;
  unsigned long offset;
};
extern "C" void* __tls_get_addr(tls_index* index);

namespace weft::image {
namespace {

std::byte* block_of_calling_thread(std::size_t module, std::size_t offset) noexcept {
  tls_index index{module, offset};
  return static_cast<std::byte*>(__tls_get_addr(&index));
}

std::byte* thread_pointer() noexcept { return static_cast<std::byte*>(__builtin_thread_pointer()); }

}  // namespace

std::byte* ThreadImage::place_in_calling_thread(const Piece& piece) noexcept {
  return piece.place != kAsk ? thread_pointer() + piece.place
                             : block_of_calling_thread(piece.module, piece.offset);
}

/// The blocks of the modules that the process began with lie at the same distance from the thread
/// pointer in all threads (Drepper, 3.4.2: the static TLS block); which these are only the dynamic
/// linker knows. So what another thread has elsewhere is not of them.
void ThreadImage::find_fixed_places() noexcept {
  for (Piece& piece : pieces_) piece.place = place_in_calling_thread(piece) - thread_pointer();
  const auto compare = [](void* argument) -> void* {
    for (Piece& piece : static_cast<ThreadImage*>(argument)->pieces_) {
      if (thread_pointer() + piece.place != block_of_calling_thread(piece.module, piece.offset))
        piece.place = kAsk;
    }
    return argument;
  };
  pthread_t other;
  if (pthread_create(&other, nullptr, compare, this) == 0) {
    pthread_join(other, nullptr);
  } else {
    for (Piece& piece : pieces_) piece.place = kAsk;
  }
}

void ThreadImage::capture(ModulePolicy policy) noexcept {
  pieces_.clear();
  std::size_t image_bytes = 0;
  for_each_module([&](const LoadedModule& module) {
    const ElfW(Phdr)* tls = module.header(PT_TLS);
    if (tls != nullptr && policy(module)) image_bytes += tls->p_filesz + kMostZerosKept;
  });
  images_ = Mapping(image_bytes);
  std::byte* image = images_.data();
  for_each_module([&](const LoadedModule& module) {
    const ElfW(Phdr)* tls = module.header(PT_TLS);
    if (tls == nullptr || tls->p_memsz == 0 || !policy(module)) return;
    raw_copy(image, module.address_of(tls->p_vaddr), tls->p_filesz);
    const std::size_t zeros = tls->p_memsz - tls->p_filesz;
    pieces_.push_back({.module = module.info->dlpi_tls_modid,
                       .offset = 0,
                       .size = tls->p_memsz,
                       .copied = zeros <= kMostZerosKept ? tls->p_memsz : tls->p_filesz,
                       .image = image,
                       .place = kAsk});
    image += pieces_[pieces_.size() - 1].copied;
  });
  // A thread more would change the numbers by which AddressSanitizer's reports name threads.
  if (!asan::kEnabled) find_fixed_places();
}

void ThreadImage::exclude(const void* address, std::size_t size) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0, count = pieces_.size(); i < count; ++i) {
    const Piece piece = pieces_[i];
    const auto start = reinterpret_cast<std::uintptr_t>(place_in_calling_thread(piece));
    if (begin + size <= start || start + piece.size <= begin) continue;
    const std::size_t hole_begin = begin > start ? begin - start : 0;
    const std::size_t hole_end = std::min(piece.size, begin + size - start);
    Piece& below = pieces_[i];
    below.size = hole_begin;
    below.copied = std::min(piece.copied, hole_begin);
    if (hole_end == piece.size) continue;
    pieces_.push_back({.module = piece.module,
                       .offset = piece.offset + hole_end,
                       .size = piece.size - hole_end,
                       .copied = piece.copied > hole_end ? piece.copied - hole_end : 0,
                       .image = piece.image + hole_end,
                       .place = piece.place == kAsk
                                    ? kAsk
                                    : piece.place + static_cast<std::ptrdiff_t>(hole_end)});
  }
  drop_empty_pieces();
}

void ThreadImage::drop_empty_pieces() noexcept {
  std::size_t kept = 0;
  for (const Piece& piece : pieces_) {
    if (piece.size != 0) pieces_[kept++] = piece;
  }
  while (pieces_.size() != kept) pieces_.pop_back();
}

void ThreadImage::reset_calling_thread() const noexcept {
  for (const Piece& piece : pieces_) {
    std::byte* const block = place_in_calling_thread(piece);
    raw_copy(block, piece.image, piece.copied);
    if (piece.copied != piece.size) raw_fill(block + piece.copied, 0, piece.size - piece.copied);
  }
}

std::size_t ThreadImage::covered_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces_) bytes += piece.size;
  return bytes;
}

}  // namespace weft::image
