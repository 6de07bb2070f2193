// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/dispatch/loaded_library.h"

#include <dlfcn.h>
#include <link.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "lib/base/append_only_list.h"

namespace weftrt::detail {
namespace {

struct KeptLibrary {
  const link_map* library;
  const KeptLibrary* next = nullptr;
};

// What is kept stays where it is, so that its link_map identifies it.
constinit AppendOnlyList<KeptLibrary> g_kept;

}  // namespace

void keep_library_loaded(AnyFunction function) {
  Dl_info info;
  link_map* library = nullptr;
  void* const address = reinterpret_cast<void*>(function);
  if (dladdr1(address, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0) return;
  if (library == nullptr || library->l_name == nullptr || *library->l_name == '\0') return;
  (void)g_kept.find_or_add(
      [&](const KeptLibrary& kept) { return kept.library == library; },
      [&](const KeptLibrary* /*older*/) {
        // Counts one more use of the library, which is never given back. Two threads that come here
        // at once count two, to the same effect.
        if (dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD) == nullptr)
          throw std::runtime_error("cannot keep '" + std::string(library->l_name) + "' loaded");
        return std::make_unique<KeptLibrary>(KeptLibrary{library});
      });
}

}  // namespace weftrt::detail
