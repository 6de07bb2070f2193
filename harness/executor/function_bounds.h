// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where the functions of a loaded module begin and end, from the table that the unwinder uses: the
// sorted .eh_frame_hdr and the .eh_frame behind it (Linux Standard Base, "Exception Frames"). It
// covers all that compilers emit for x86-64, hidden and static functions too, and needs no symbols.
//
// Trusted as the unwinder trusts it: nothing is checked against the module's size. A table that is
// not of the form that linkers write is taken for an empty one.
//
// Thread-safety: immutable; valid while the module is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::executor {

/// A piece of code: a function that the table knows, or what lies between two such.
struct CodeRange {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;
  bool is_function = false;

  [[nodiscard]] bool contains(const std::uint8_t* byte) const noexcept {
    return byte >= begin && byte < end;
  }
};

class FunctionBounds {
 public:
  /// No functions at all.
  FunctionBounds() noexcept = default;
  /// `header`: what PT_GNU_EH_FRAME says is loaded.
  explicit FunctionBounds(const std::uint8_t* header) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// By address.
  [[nodiscard]] CodeRange operator[](std::size_t index) const noexcept;
  /// What holds `byte`, which lies in `segment`; no more than that of it.
  [[nodiscard]] CodeRange find(const std::uint8_t* byte, CodeRange segment) const noexcept;

 private:
  /// Both relative to the header.
  struct Entry {
    std::int32_t function;
    std::int32_t description;
  };

  const std::uint8_t* header_ = nullptr;
  std::span<const Entry> entries_;
};

}  // namespace weft::executor
