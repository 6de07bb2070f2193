// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/segments.h"

#include <cstdint>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"
#include "harness/image/raw_memory.h"

namespace weft::image {
namespace {

char* page_down(char* address) noexcept {
  return address - reinterpret_cast<std::uintptr_t>(address) % kPageBytes;
}

// The slots of the procedure linkage table (.got.plt), from the module's dynamic section.
struct Slots {
  char* begin = nullptr;
  std::size_t size = 0;
};

Slots linkage_slots(const LoadedModule& module) noexcept {
  const ElfW(Phdr)* dynamic = module.header(PT_DYNAMIC);
  if (dynamic == nullptr) return {};
  ElfW(Addr) table = 0;
  std::size_t relocation_bytes = 0;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(module.address_of(dynamic->p_vaddr));
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_PLTGOT) table = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) relocation_bytes = entry->d_un.d_val;
  }
  if (table == 0 || relocation_bytes == 0) return {};
  // glibc has relocated d_ptr in place on x86-64; a linker that does not leaves a small offset.
  if (table < module.info->dlpi_addr) table += module.info->dlpi_addr;
  // Three reserved words come first: the dynamic section, the link map, the resolver.
  const std::size_t slots = 3 + relocation_bytes / sizeof(ElfW(Rela));
  return {reinterpret_cast<char*>(table), slots * sizeof(ElfW(Addr))};
}

}  // namespace

void SegmentImage::exclude(const void* begin, const void* end) noexcept {
  WEFT_CHECK(!taken(), "a range was excluded after the snapshot");
  WEFT_CHECK(begin <= end, "an excluded range that ends before it begins");
  exclusions_.push_back({const_cast<char*>(static_cast<const char*>(begin)),
                         const_cast<char*>(static_cast<const char*>(end))});
}

void SegmentImage::snapshot() noexcept {
  ranges_.clear();
  for_each_module([this](const LoadedModule& module) {
    if (policy_(module)) collect(module);
  });
  for (const Range& exclusion : exclusions_) subtract(exclusion);
  covered_bytes_ = 0;
  for (const Range& range : ranges_) covered_bytes_ += range.size();
  contents_ = Mapping(covered_bytes_);
  std::byte* next = contents_.data();
  for (const Range& range : ranges_) {
    raw_copy(next, range.begin, range.size());
    next += range.size();
  }
}

std::size_t SegmentImage::restore() noexcept {
  WEFT_CHECK(taken(), "restore before snapshot");
  std::size_t written = 0;
  const std::byte* next = contents_.data();
  for (const Range& range : ranges_) {
    written += restore_changed(range.begin, next, range.size());
    next += range.size();
  }
  return written;
}

bool SegmentImage::covers(const void* address) const noexcept {
  for (const Range& range : ranges_) {
    if (address >= range.begin && address < range.end) return true;
  }
  return false;
}

void SegmentImage::collect(const LoadedModule& module) noexcept {
  for (const auto& header : module) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    char* const begin = const_cast<char*>(module.address_of(header.p_vaddr));
    add({begin, begin + header.p_memsz});
    if (!asan::kEnabled) continue;
    // What the subject poisons in its globals is state of the subject, too.
    auto* const shadow = reinterpret_cast<char*>(asan::shadow_of(begin));
    add({shadow, shadow + round_up(header.p_memsz, asan::kGranule) / asan::kGranule});
  }
  if (const ElfW(Phdr)* relro = module.header(PT_GNU_RELRO)) {
    // The dynamic linker protects whole pages only, from the page of the first byte on.
    char* const begin = const_cast<char*>(module.address_of(relro->p_vaddr));
    char* const end = page_down(begin + relro->p_memsz);
    if (page_down(begin) < end) subtract({page_down(begin), end});
  }
  const Slots slots = linkage_slots(module);
  if (slots.size != 0) subtract({slots.begin, slots.begin + slots.size});
}

void SegmentImage::add(Range range) noexcept {
  if (range.begin < range.end) ranges_.push_back(range);
}

void SegmentImage::subtract(Range hole) noexcept {
  if (hole.begin == hole.end) return;
  // Ranges do not overlap, and pieces appended here lie outside the hole.
  for (std::size_t i = 0, count = ranges_.size(); i < count; ++i) {
    const Range whole = ranges_[i];
    if (hole.end <= whole.begin || whole.end <= hole.begin) continue;
    const Range below{whole.begin, hole.begin > whole.begin ? hole.begin : whole.begin};
    const Range above{hole.end < whole.end ? hole.end : whole.end, whole.end};
    ranges_[i] = below;  // perhaps empty, which restore() and snapshot() pass over
    add(above);
  }
}

}  // namespace weft::image
