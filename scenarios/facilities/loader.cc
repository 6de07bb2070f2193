// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Libraries that threads load and unload at the same time.

#include <dlfcn.h>
#include <cassert>
#include <thread>

#include <weft/scenario.h>

namespace {

using Next = int (*)();

int load_and_call(void*& library) {
  library = dlopen(WEFT_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  assert(library != nullptr);
  const auto next = reinterpret_cast<Next>(dlsym(library, "weft_plugin_next"));
  assert(next != nullptr);
  return next();
}

WEFT_SCENARIO(loader, {.name = "facilities/loader",
                       .summary = "a library's constructor runs once, before its first use",
                       .expect = weft::must_pass(),
                       .budget = 200}) {
  void* mine = nullptr;
  void* its = nullptr;
  int seen = 0;
  std::thread other([&] { seen = load_and_call(its); });
  const int first = load_and_call(mine);
  assert(first == 42 || first == 43);
  assert(dlclose(mine) == 0);
  other.join();
  // 42 for both where it was unloaded in between.
  assert(seen == 42 || seen == 43);
  weft::sometimes(first == 43, "the other was first");
  weft::sometimes(first == seen, "unloaded in between");
  // Left loaded: the next execution must find it unloaded again.
}

}  // namespace
