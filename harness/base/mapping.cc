// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/base/mapping.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <utility>

#include "harness/base/check.h"
#include "harness/base/system_call.h"

namespace weft {
namespace {

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Null when refused.
std::byte* map(void* address, std::size_t bytes, int flags) noexcept {
  const long result = system_call(SYS_mmap, address, bytes, kProtection, flags, -1, 0);
  return is_error(result) ? nullptr : reinterpret_cast<std::byte*>(result);
}

}  // namespace

Mapping::Mapping(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  const std::size_t size = round_up(bytes, kPageBytes);
  std::byte* const memory = map(nullptr, size, kFlags);
  WEFT_CHECK(memory != nullptr,
             "mmap refused: the address space or the container's memory limit is used up");
  data_ = memory;
  size_ = size;
}

Mapping Mapping::at(void* address, std::size_t bytes) noexcept {
  Mapping result;
  const std::size_t size = round_up(bytes, kPageBytes);
  std::byte* const memory = map(address, size, kFlags | MAP_FIXED_NOREPLACE);
  if (memory == nullptr) return result;
  result.data_ = memory;
  result.size_ = size;
  // Kernels before 4.17 take MAP_FIXED_NOREPLACE for a hint.
  return memory == address ? std::move(result) : Mapping();
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (size_ != 0) system_call(SYS_munmap, data_, size_);
}

void Mapping::discard() noexcept {
  if (size_ == 0) return;
  const long result = system_call(SYS_madvise, data_, size_, MADV_DONTNEED);
  WEFT_CHECK(!is_error(result), "madvise refused: the mapping was changed behind our back");
}

}  // namespace weft
