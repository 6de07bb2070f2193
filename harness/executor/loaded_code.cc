// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/loaded_code.h"

#include <link.h>

#include <algorithm>

#include "harness/base/text_buffer.h"

namespace weft::executor {
namespace {

/// Calls visit(module) for each; true ends the walk.
template <typename Visit>
void for_each_module(Visit visit) noexcept {
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                     void* context) { return (*static_cast<Visit*>(context))(*info) ? 1 : 0; },
                  &visit);
}

}  // namespace

const char* describe(const DirectTls& use) noexcept {
  static char storage[1024];
  TextBuffer text(storage);
  text.append(use.module).append(": ");
  if (use.function[0] != '\0') {
    text.append(use.function);
  } else {
    text.append("the code at ").append_hex(use.offset);
  }
  text.append(
      " reaches thread-local storage by %fs itself; compile it with -mno-tls-direct-seg-refs, as "
      "weft_instrument() and weft-c++ do");
  return storage;
}

bool LoadedCode::is_known(std::uintptr_t base) const noexcept {
  return std::find(known_.begin(), known_.end(), base) != known_.end();
}

void LoadedCode::accept() noexcept {
  known_.clear();
  for_each_module([this](const dl_phdr_info& module) {
    known_.try_push_back(module.dlpi_addr);
    return false;
  });
}

const char* LoadedCode::objection() noexcept {
  static DirectTls use;
  bool found = false;
  for_each_module([&](const dl_phdr_info& module) {
    if (is_known(module.dlpi_addr)) return false;
    found = find_direct_tls(module, use);
    if (!found) known_.try_push_back(module.dlpi_addr);
    return found;
  });
  return found ? describe(use) : nullptr;
}

}  // namespace weft::executor
