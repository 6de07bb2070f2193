// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/modules.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>

#include "harness/base/check.h"
#include "harness/base/prng.h"
#include "harness/base/system_call.h"
#include "harness/image/raw_memory.h"

namespace weft::image {
namespace {

struct Extent {
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
};

Extent extent_of(const LoadedModule& module) noexcept {
  Extent extent;
  for (const auto& header : module) {
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = module.info->dlpi_addr + header.p_vaddr;
    extent.begin = std::min(extent.begin, begin);
    extent.end = std::max(extent.end, begin + header.p_memsz);
  }
  return extent;
}

}  // namespace

ModuleTable::ModuleTable() noexcept : names_(kMaxModules), ranges_(2) { refresh(); }

void ModuleTable::refresh() noexcept {
  const std::uint32_t spare = 1 - current_.load(std::memory_order_relaxed);
  Ranges& ranges = ranges_[spare];
  ranges.count = 0;
  for_each_module([&](const LoadedModule& module) {
    const Extent extent = extent_of(module);
    if (extent.begin >= extent.end) return;
    const std::uint32_t index = index_of(module);
    const Range range{.begin = extent.begin,
                      .size = extent.end - extent.begin,
                      .load_address = module.info->dlpi_addr,
                      .module = index};
    if (module.executable) executable_ = range;
    WEFT_CHECK(ranges.count < kMaxModules, "more modules than the table holds");
    ranges.sorted[ranges.count++] = range;
  });
  std::sort(ranges.sorted, ranges.sorted + ranges.count,
            [](const Range& left, const Range& right) { return left.begin < right.begin; });
  // release: pairs with the acquire in locate_elsewhere(); a reader must see the whole half.
  current_.store(spare, std::memory_order_release);
}

std::uint32_t ModuleTable::index_of(const LoadedModule& module) noexcept {
  Name fresh{};
  if (module.executable) {
    constexpr char kSelf[] = "/proc/self/exe";
    const long length = system_call(SYS_readlinkat, AT_FDCWD, kSelf, fresh.path, sizeof fresh.path);
    fresh.length = is_error(length) ? 0 : static_cast<std::uint32_t>(length);
  } else {
    // Of a path that is too long, the end tells modules apart.
    std::string_view path = module.path();
    if (path.size() > sizeof fresh.path) path.remove_prefix(path.size() - sizeof fresh.path);
    fresh.length = static_cast<std::uint32_t>(path.size());
    raw_copy(fresh.path, path.data(), path.size());
  }
  const std::string_view path(fresh.path, fresh.length);
  const std::size_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t index = 0; index < count; ++index) {
    if (this->path(index) == path) return index;
  }
  WEFT_CHECK(count < kMaxModules, "more modules were loaded over time than the table holds");
  const std::string_view name = basename_of(path);
  fresh.id = hash_text(name.data(), name.size());
  names_[count] = fresh;
  // release: pairs with the acquire in size(); a reader must see the name.
  count_.store(count + 1, std::memory_order_release);
  return static_cast<std::uint32_t>(count);
}

Location ModuleTable::locate_elsewhere(std::uintptr_t address) const noexcept {
  // acquire: pairs with the release in refresh().
  const Ranges& ranges = ranges_[current_.load(std::memory_order_acquire)];
  const Range* const end = ranges.sorted + ranges.count;
  const Range* after = std::upper_bound(
      ranges.sorted, end, address,
      [](std::uintptr_t wanted, const Range& range) { return wanted < range.begin; });
  if (after == ranges.sorted) return {};
  const Range& range = after[-1];
  if (address - range.begin >= range.size) return {};
  return {range.module, address - range.load_address};
}

std::string_view ModuleTable::path(std::uint32_t module) const noexcept {
  const Name& name = names_[module];
  return {name.path, name.length};
}

std::uintptr_t ModuleTable::load_address(std::uint32_t module) const noexcept {
  const Ranges& ranges = ranges_[current_.load(std::memory_order_acquire)];
  for (std::size_t i = 0; i < ranges.count; ++i) {
    if (ranges.sorted[i].module == module) return ranges.sorted[i].load_address;
  }
  return 0;
}

}  // namespace weft::image
