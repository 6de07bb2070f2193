// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/detect/shadow.h"

#include <sys/mman.h>

#include "harness/base/check.h"

namespace weft::detect {

Cell* Shadow::make_leaf(std::uintptr_t address) noexcept {
  constexpr std::size_t kBytes = (std::size_t{1} << kLeafBits) / kGranule * sizeof(Cell);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WEFT_CHECK(memory != MAP_FAILED, "out of address space for the race detector");
  // Cells are touched here and there: a huge page would cost 2 MiB of zeroing for each.
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  // Lasts as long as the worker.
  return leaves_.data()[(address & kAddressMask) >> kLeafBits] = static_cast<Cell*>(memory);
}

}  // namespace weft::detect
