// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/dispatch/loaded_library.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "lib/base/append_only_list.h"

namespace weftrt::detail {
namespace {

struct KeptLibrary {
  const void* base;  // its address: what is kept stays where it is
  const KeptLibrary* next = nullptr;
};

constinit AppendOnlyList<KeptLibrary> g_kept;

// Whether the library is the program itself, which cannot be opened, and need not.
bool is_the_program(const Dl_info& library) {
  // The program headers are in the program; the kernel says where.
  Dl_info program;
  return dladdr(reinterpret_cast<const void*>(getauxval(AT_PHDR)), &program) != 0 &&
         program.dli_fbase == library.dli_fbase;
}

}  // namespace

void keep_library_loaded(AnyFunction function) {
  Dl_info library;
  if (dladdr(reinterpret_cast<const void*>(function), &library) == 0 || is_the_program(library))
    return;
  (void)g_kept.find_or_add(
      [&](const KeptLibrary& kept) { return kept.base == library.dli_fbase; },
      [&](const KeptLibrary* /*older*/) {
        // Counts one more use of the library, which is never given back. Two threads that come here
        // at once count two, to the same effect.
        if (dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD) == nullptr)
          throw std::runtime_error("cannot keep '" + std::string(library.dli_fname) + "' loaded");
        return std::make_unique<KeptLibrary>(KeptLibrary{library.dli_fbase});
      });
}

}  // namespace weftrt::detail
