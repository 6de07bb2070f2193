// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A thread's own variables put back to their initial image, so that a pooled thread starts its next
// task as a new thread would: `thread_local` objects unconstructed, counters at their initialisers.
//
// The initial image is what the linker recorded (PT_TLS), not a snapshot: a new thread knows no
// warm-up either. The blocks of the subject's modules are reset; libc's block (errno, locale, the
// allocator's cache) and the sanitizers' are not, nor are variables excluded by the caller.
//
// Destructors are not run: whoever ends the task does that first.
//
// Use: capture() once, then exclude() the harness's own thread_locals, then reset_calling_thread()
// on each pooled thread between tasks. Modules with thread_locals that are loaded later need a new
// capture().
// Thread-safety: reset_calling_thread() may run on several threads at once; the rest is set-up.
#pragma once

#include <cstddef>

#include "harness/base/fixed_vector.h"
#include "harness/base/mapping.h"
#include "harness/image/loaded_module.h"

namespace weft::image {

class ThreadImage {
 public:
  static constexpr std::size_t kMaxPieces = 512;

  // Finds the modules that have thread_locals and copies their initial images. Forgets exclusions.
  void capture(ModulePolicy policy = belongs_to_subject) noexcept;

  // Leaves the calling thread's [address, address + size), and its counterpart in every other
  // thread, alone. An address outside the captured blocks needs no exclusion and is passed over.
  void exclude(const void* address, std::size_t size) noexcept;

  void reset_calling_thread() const noexcept;

  std::size_t covered_bytes() const noexcept;

 private:
  // Zeros up to here are part of the image: one loop is faster than two.
  static constexpr std::size_t kMostZerosKept = 512;

  // A part of a module's block: `copied` bytes of image and then zeros.
  struct Piece {
    std::size_t module;  // the dynamic linker's TLS module number
    std::size_t offset;  // in the module's block
    std::size_t size;
    std::size_t copied;      // <= size
    const std::byte* image;  // of the piece's first byte
    std::ptrdiff_t place;    // of that byte, from the thread pointer; kAsk: not the same everywhere
  };
  static constexpr std::ptrdiff_t kAsk = 0;

  static std::byte* place_in_calling_thread(const Piece& piece) noexcept;
  void find_fixed_places() noexcept;
  void drop_empty_pieces() noexcept;

  FixedVector<Piece, kMaxPieces> pieces_;
  Mapping images_;
};

}  // namespace weft::image
