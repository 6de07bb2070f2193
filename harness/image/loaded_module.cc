// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/loaded_module.h"

#include <cstdint>

namespace weft::image {
namespace {

// Prefixes of basenames; a version suffix may follow.
constexpr std::string_view kOutsiders[] = {
    // glibc 2.34 and later has all of these in libc.so.6; older ones and preloads do not.
    "libc.so", "libc-2.", "ld-linux", "ld-2.", "ld.so", "libm.so", "libmvec.so", "libpthread",
    "libdl.so", "librt.so", "libutil.so", "libresolv.so", "libanl.so", "libnss_", "libthread_db",
    "linux-vdso", "linux-gate",
    // clang's and gcc's sanitizer runtimes
    "libclang_rt.", "libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libhwasan.so",
    // GPU drivers: what they hold belongs to the device, whatever the subject does
    "libcuda.so", "libnvidia-",
    // the harness, and what it reads symbols with
    "libweft", "libdw.so", "libelf.so"};

// An address in the module that this code was linked into.
const void* own_code() noexcept { return reinterpret_cast<const void*>(&belongs_to_subject); }

}  // namespace

bool LoadedModule::contains(const void* address) const noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (const auto& header : *this) {
    if (header.p_type == PT_LOAD && wanted - (info->dlpi_addr + header.p_vaddr) < header.p_memsz) {
      return true;
    }
  }
  return false;
}

bool belongs_to_subject(const LoadedModule& module) noexcept {
  if (module.executable) return true;
  if (module.contains(own_code())) return false;
  const std::string_view name = basename_of(module.path());
  for (const std::string_view outsider : kOutsiders) {
    if (name.starts_with(outsider)) return false;
  }
  return true;
}

}  // namespace weft::image
