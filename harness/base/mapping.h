// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A range of zeroed memory straight from the kernel. All mutable state of the harness inside a
// worker lives in such ranges: they are outside the subject's heap and outside the writable
// segments that are restored between executions.
//
// Pages are reserved lazily: a generous capacity costs address space, not memory.
// Thread-safety: as for a plain object.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

inline constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t round_up(std::size_t value, std::size_t power_of_two) noexcept {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

class Mapping {
 public:
  Mapping() noexcept = default;
  // At least `bytes` bytes of zeros, anywhere. Zero bytes give an empty mapping. Running out is an
  // internal error.
  explicit Mapping(std::size_t bytes) noexcept;
  // Exactly at `address`, a multiple of the page size; empty when something is mapped there
  // already.
  static Mapping at(void* address, std::size_t bytes) noexcept;

  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool contains(const void* address) const noexcept {
    // One comparison: addresses below the start wrap round to huge offsets.
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(data_) <
           size_;
  }

  // Gives the pages back to the kernel; the range reads as zeros again.
  void discard() noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft
