// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/uninstrumented.h"

#include <dlfcn.h>

#include <cstring>
#include <string_view>

namespace weft::image {
namespace {

enum class Owner : std::uint8_t {
  kSystem,  // libc, the dynamic linker, the standard library, or the harness
  kInstrumented,
  kUninstrumented
};

// A function of libc's that the module with this code defines in its place. Those that can wait
// have been in libc since its first version for x86-64.
bool is_interposer(const Dl_info& info) noexcept {
  if (info.dli_sname == nullptr) return false;
  const void* const libc_function = dlvsym(RTLD_NEXT, info.dli_sname, "GLIBC_2.2.5");
  return libc_function != nullptr && libc_function != info.dli_saddr;
}

bool is_standard_library(const LoadedModule& module) noexcept {
  const std::string_view name = basename_of(module.path());
  return name.starts_with("libstdc++.so") || name.starts_with("libc++") ||
         name.starts_with("libgcc_s.so");
}

Owner owner_of(const LoadedModule& module, const Dl_info& info) noexcept {
  if (module.executable) return is_interposer(info) ? Owner::kSystem : Owner::kInstrumented;
  if (!belongs_to_subject(module) || is_standard_library(module)) return Owner::kSystem;
  return is_instrumented(module) ? Owner::kInstrumented : Owner::kUninstrumented;
}

}  // namespace

bool is_instrumented(const LoadedModule& module) noexcept {
  const ElfW(Phdr)* const dynamic = module.header(PT_DYNAMIC);
  if (dynamic == nullptr) return false;
  const char* names = nullptr;
  std::size_t size = 0;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(module.address_of(dynamic->p_vaddr));
  for (; entry->d_tag != DT_NULL; ++entry) {
    // glibc has relocated d_ptr in place.
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRSZ) size = entry->d_un.d_val;
  }
  constexpr std::string_view kPrefix("\0__tsan_", 8);
  return names != nullptr && std::string_view(names, size).find(kPrefix) != std::string_view::npos;
}

bool find_uninstrumented(std::span<const std::uintptr_t> frames,
                         engine::UninstrumentedCode& code) noexcept {
  bool found = false;
  for (const std::uintptr_t pc : frames) {
    const auto* const address = reinterpret_cast<const void*>(pc);
    Dl_info info{};
    if (dladdr(address, &info) == 0) return found;
    Owner owner = Owner::kSystem;
    std::string_view library;
    for_each_module([&](const LoadedModule& module) {
      if (!module.contains(address)) return;
      owner = owner_of(module, info);
      library = basename_of(module.path());
    });
    if (found && library != code.file) return true;
    if (owner == Owner::kInstrumented) return false;
    if (owner == Owner::kSystem) continue;
    // Of the library's frames, the innermost whose name is known.
    found = true;
    code.file = library.data();
    code.function = info.dli_sname == nullptr ? "" : info.dli_sname;
    if (info.dli_sname != nullptr) return true;
  }
  return found;
}

}  // namespace weft::image
