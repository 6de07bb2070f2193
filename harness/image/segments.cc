// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/segments.h"

#include <cstdint>

#include "harness/base/address_sanitizer.h"
#include "harness/base/check.h"

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
  exclusions_.push_back({static_cast<const char*>(begin), static_cast<const char*>(end)});
}

void SegmentImage::snapshot() noexcept {
  memory_.clear();
  for_each_module([this](const LoadedModule& module) {
    if (policy_(module)) collect(module);
  });
  for (const Exclusion& exclusion : exclusions_) memory_.subtract(exclusion.begin, exclusion.end);
  memory_.take();
}

void SegmentImage::collect(const LoadedModule& module) noexcept {
  for (const auto& header : module) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    char* const begin = const_cast<char*>(module.address_of(header.p_vaddr));
    memory_.add(begin, begin + header.p_memsz);
    if (!asan::kEnabled) continue;
    // What the subject poisons in its globals is state of the subject, too.
    auto* const shadow = reinterpret_cast<char*>(asan::shadow_of(begin));
    memory_.add(shadow, shadow + round_up(header.p_memsz, asan::kGranule) / asan::kGranule);
  }
  if (const ElfW(Phdr)* relro = module.header(PT_GNU_RELRO)) {
    // The dynamic linker protects whole pages only, from the page of the first byte on.
    char* const begin = const_cast<char*>(module.address_of(relro->p_vaddr));
    char* const end = page_down(begin + relro->p_memsz);
    if (page_down(begin) < end) memory_.subtract(page_down(begin), end);
  }
  const Slots slots = linkage_slots(module);
  memory_.subtract(slots.begin, slots.begin + slots.size);
}

}  // namespace weft::image
