// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The heap of every execution: what static initialisers allocated is there, with
// its contents, however earlier executions changed, freed or grew it.

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <weft/scenario.h>

namespace {

std::vector<int> numbers = {1, 2, 3};
std::map<std::string, std::string> settings = {{"a name too long for the small buffer", "one"},
                                               {"b", "two"}};
char* const buffer = static_cast<char*>(std::memset(std::malloc(64), 'x', 64));
int* given_away = new int(5);

WEFT_SCENARIO(heap_state, {.name = "facilities/heap_state",
                           .summary = "heap blocks from before the exploration are restored",
                           .expect = weft::must_pass(),
                           .budget = 1000}) {
  assert((numbers == std::vector<int>{1, 2, 3}));
  assert(settings.size() == 2 && settings.at("a name too long for the small buffer") == "one");
  assert(buffer[0] == 'x' && buffer[63] == 'x');
  assert(*given_away == 5);

  std::thread other([] {
    for (int i = 0; i < 100; ++i) numbers.push_back(i);
    std::memset(buffer, 'y', 64);
  });
  settings.clear();
  settings["c"] = std::string(200, 'c');
  delete given_away;
  given_away = nullptr;
  other.join();
  assert(numbers.size() == 103);
}

}  // namespace
