// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/fuzzer_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace weft::image {
namespace {

// Sections that the compiler fills for -fsanitize=fuzzer-no-link, and one for a program's own
// counters.
constexpr std::string_view kSections[] = {"__sancov_cntrs", "__sancov_bools", "__sancov_guards",
                                          "__libfuzzer_extra_counters"};

// Mangled: variables, constants, static variables of functions, and their guards.
constexpr std::string_view kPrefixes[] = {"_ZN6fuzzer", "_ZNK6fuzzer", "_ZZN6fuzzer",
                                          "_ZZNK6fuzzer", "_ZGVZN6fuzzer"};

constexpr std::size_t kMaxSections = 256;

template <std::size_t N>
bool starts_with_any(std::string_view name, const std::string_view (&prefixes)[N]) noexcept {
  for (const std::string_view prefix : prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// An ELF file in memory, for as long as this lives.
class File {
 public:
  explicit File(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (::fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* const bytes = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (bytes != MAP_FAILED) bytes_ = static_cast<const std::byte*>(bytes);
    }
    ::close(file);
  }
  ~File() {
    if (bytes_ != nullptr) ::munmap(const_cast<std::byte*>(bytes_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  template <typename T>
  [[nodiscard]] std::span<const T> at(std::uint64_t offset, std::uint64_t count) const noexcept {
    if (bytes_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_ + offset), static_cast<std::size_t>(count)};
  }
  [[nodiscard]] std::string_view text(const Elf64_Shdr& table, std::uint32_t at) const noexcept {
    const auto bytes = this->at<char>(table.sh_offset, table.sh_size);
    if (at >= bytes.size()) return {};
    return {bytes.data() + at, ::strnlen(bytes.data() + at, bytes.size() - at)};
  }

 private:
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// From the first of libFuzzer's variables in a section to the last.
struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
};

void extend(Extent& extent, const Elf64_Sym& symbol) noexcept {
  const std::uint64_t end = symbol.st_value + symbol.st_size;
  if (extent.end == 0 || symbol.st_value < extent.begin) extent.begin = symbol.st_value;
  if (end > extent.end) extent.end = end;
}

}  // namespace

bool find_fuzzer_memory(const LoadedModule& module,
                        void (*visit)(const char* begin, const char* end, void* context),
                        void* context) noexcept {
  const File file(module.executable ? "/proc/self/exe" : module.info->dlpi_name);
  const auto header = file.at<Elf64_Ehdr>(0, 1);
  if (header.empty()) return false;
  const auto sections = file.at<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
  if (header[0].e_shstrndx >= sections.size()) return false;
  const auto tell = [&](std::uint64_t begin, std::uint64_t end) {
    visit(module.address_of(begin), module.address_of(end), context);
  };
  bool has_symbols = false;
  Extent extents[kMaxSections] = {};
  for (const Elf64_Shdr& section : sections) {
    const std::string_view name = file.text(sections[header[0].e_shstrndx], section.sh_name);
    if (starts_with_any(name, kSections)) tell(section.sh_addr, section.sh_addr + section.sh_size);
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    has_symbols = true;
    for (const Elf64_Sym& symbol :
         file.at<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      // The rest is read before it can change, or is a thread's.
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= sections.size() ||
          symbol.st_shndx >= kMaxSections || (sections[symbol.st_shndx].sh_flags & SHF_WRITE) == 0)
        continue;
      if (starts_with_any(file.text(sections[section.sh_link], symbol.st_name), kPrefixes))
        extend(extents[symbol.st_shndx], symbol);
    }
  }
  for (const Extent& extent : extents) {
    if (extent.end != 0) tell(extent.begin, extent.end);
  }
  return has_symbols || !module.executable;
}

}  // namespace weft::image
