// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What only the file of a loaded module tells: the names of its functions, static ones too, and
// which bytes of an executable segment are code. The file is mapped when it is first asked for, and
// checked at every step: it may have been replaced since it was loaded.
//
// Addresses are as in the file's symbol table: from the module's load address.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::executor {

class ModuleFile {
 public:
  /// `path` must outlive this.
  explicit ModuleFile(const char* path) noexcept : path_(path) {}
  ~ModuleFile();
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  /// The mangled name of the function that holds `address`; empty when the file does not say.
  [[nodiscard]] std::string_view function_at(std::uint64_t address) noexcept;
  /// Whether `address` lies in a section of instructions. True when the file does not say.
  [[nodiscard]] bool is_code(std::uint64_t address) noexcept;

 private:
  void map() noexcept;
  /// `count` objects at `offset`; an empty span where the file ends before.
  template <typename T>
  [[nodiscard]] std::span<const T> at(std::uint64_t offset, std::uint64_t count) const noexcept {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_ + offset), count};
  }

  const char* path_;
  bool tried_ = false;
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::span<const Elf64_Shdr> sections_;
};

}  // namespace weft::executor
