// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/fingerprint.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "harness/base/prng.h"

namespace weft::cli {
namespace {

/// The build-id among the notes at `note`, or nothing.
std::string_view build_id_in(const char* note, std::size_t size) {
  const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const std::size_t name = sizeof header;
    const std::size_t description = name + padded(header.n_namesz);
    const std::size_t next = description + padded(header.n_descsz);
    if (next > size) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(note + name, "GNU", 4) == 0) {
      return {note + description, header.n_descsz};
    }
    note += next;
    size -= next;
  }
  return {};
}

/// dl_iterate_phdr() calls this for the executable first; it looks no further.
int find_build_id(dl_phdr_info* info, std::size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    const std::string_view id = build_id_in(notes, segment.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(result) = id;
  }
  return 1;
}

std::uint64_t compute() {
  std::string identity;
  ::dl_iterate_phdr(find_build_id, &identity);
  if (identity.empty()) {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    identity.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::uint64_t hash = hash_text(identity.data(), identity.size());
  return hash != 0 ? hash : 1;
}

}  // namespace

std::uint64_t build_fingerprint() {
  static const std::uint64_t fingerprint = compute();
  return fingerprint;
}

}  // namespace weft::cli
