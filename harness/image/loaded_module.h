// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A walk over the modules that the dynamic linker has loaded, and the rule that says which of them
// belong to the subject.
#pragma once

#include <link.h>

#include <string_view>

namespace weft::image {

constexpr std::string_view basename_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

struct LoadedModule {
  const dl_phdr_info* info;
  bool executable;  // the main program, which the dynamic linker names ""

  std::string_view path() const noexcept { return info->dlpi_name; }
  const char* address_of(ElfW(Addr) offset) const noexcept {
    return reinterpret_cast<const char*>(info->dlpi_addr + offset);
  }
  const ElfW(Phdr) * begin() const noexcept { return info->dlpi_phdr; }
  const ElfW(Phdr) * end() const noexcept { return info->dlpi_phdr + info->dlpi_phnum; }
  const ElfW(Phdr) * header(ElfW(Word) type) const noexcept {
    for (const auto& header : *this) {
      if (header.p_type == type) return &header;
    }
    return nullptr;
  }
  bool contains(const void* address) const noexcept;
};

// Calls visit(LoadedModule) for each module, the executable first. Takes the dynamic linker's lock.
template <typename Visitor>
void for_each_module(Visitor&& visit) noexcept {
  struct Walk {
    Visitor& visit;
    bool first;
  } walk{visit, true};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        auto& state = *static_cast<Walk*>(context);
        state.visit(LoadedModule{info, state.first});
        state.first = false;
        return 0;
      },
      &walk);
}

// Whether a module's writable memory is part of the state that every execution starts from.
using ModulePolicy = bool (*)(const LoadedModule& module) noexcept;

// The executable, libstdc++, libgcc_s and the user's libraries: yes. No to whatever keeps records
// about the process that outlive an execution: libc and the dynamic linker (heap, stdio, threads),
// sanitizer runtimes (shadow, their own threads), GPU drivers (devices), and the harness itself
// when it is a shared library.
bool belongs_to_subject(const LoadedModule& module) noexcept;

}  // namespace weft::image
