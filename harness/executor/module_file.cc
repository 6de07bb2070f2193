// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/module_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstring>

#include "harness/base/system_call.h"

namespace weft::executor {

ModuleFile::~ModuleFile() {
  if (size_ != 0) system_call(SYS_munmap, bytes_, size_);
}

void ModuleFile::map() noexcept {
  if (tried_) return;
  tried_ = true;
  const long fd = system_call(SYS_openat, AT_FDCWD, path_, O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return;
  struct stat facts {};
  if (!is_error(system_call(SYS_fstat, fd, &facts)) && facts.st_size > 0) {
    const long bytes = system_call(SYS_mmap, nullptr, facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (!is_error(bytes)) {
      bytes_ = reinterpret_cast<const std::byte*>(bytes);
      size_ = static_cast<std::size_t>(facts.st_size);
    }
  }
  system_call(SYS_close, fd);
  const auto header = at<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return;
  sections_ = at<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
}

std::string_view ModuleFile::function_at(std::uint64_t address) noexcept {
  map();
  // The full table where the file has one, and what the dynamic linker needs otherwise.
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != type || section.sh_link >= sections_.size()) continue;
      const Elf64_Shdr& strings = sections_[section.sh_link];
      const auto names = at<char>(strings.sh_offset, strings.sh_size);
      const auto symbols = at<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
      for (const Elf64_Sym& symbol : symbols) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            address - symbol.st_value >= symbol.st_size || symbol.st_name >= names.size()) {
          continue;
        }
        const char* const name = names.data() + symbol.st_name;
        return {name, strnlen(name, names.size() - symbol.st_name)};
      }
    }
  }
  return {};
}

bool ModuleFile::is_code(std::uint64_t address) noexcept {
  map();
  for (const Elf64_Shdr& section : sections_) {
    if ((section.sh_flags & SHF_ALLOC) != 0 && address - section.sh_addr < section.sh_size) {
      return (section.sh_flags & SHF_EXECINSTR) != 0;
    }
  }
  return true;
}

}  // namespace weft::executor
