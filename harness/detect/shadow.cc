// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/detect/shadow.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "harness/base/check.h"
#include "harness/base/system_call.h"

namespace weft::detect {

Cell* Shadow::make_leaf(std::uintptr_t address) noexcept {
  constexpr std::size_t kBytes = (std::size_t{1} << kLeafBits) / kGranule * sizeof(Cell);
  // Not by libc's function: on a task's thread that is the task's own mapping.
  const long result = system_call(SYS_mmap, nullptr, kBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WEFT_CHECK(!is_error(result), "out of address space for the race detector");
  auto* const memory = reinterpret_cast<void*>(result);
  // Cells are touched here and there: a huge page would cost 2 MiB of zeroing for each.
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  // Lasts as long as the worker.
  return leaves_.data()[(address & kAddressMask) >> kLeafBits] = static_cast<Cell*>(memory);
}

}  // namespace weft::detect
