// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every execution begins alike: static counters, magic statics, thread_locals and
// globals that the process initialises once are, at the start of each, what they
// were at the start of the first.

#include <sys/mman.h>
#include <time.h>

#include <cassert>
#include <clocale>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <weft/scenario.h>

namespace {

int executions_seen = 0;
int constructions = 0;
std::once_flag configured;
std::unique_ptr<std::string> configuration;  // the lazily initialised global
thread_local int calls_on_this_thread = 0;

struct Registry {
  Registry() { ++constructions; }
  int entries = 0;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

void use() {
  static std::mutex mutex;
  std::call_once(configured,
                 [] { configuration = std::make_unique<std::string>("from the file"); });
  assert(*configuration == "from the file");
  ++calls_on_this_thread;
  assert(calls_on_this_thread == 1);
  const std::lock_guard lock(mutex);
  ++registry().entries;
}

WEFT_SCENARIO(same_state,
              {.name = "facilities/same_state",
               .summary = "what is initialised once per process is so in each execution",
               .expect = weft::must_pass(),
               .budget = 1000}) {
  ++executions_seen;
  assert(executions_seen == 1);
  assert(configuration == nullptr && constructions == 0);
  std::thread other(use);
  use();
  other.join();
  assert(constructions == 1 && registry().entries == 2);
}

/// libc's variables are not restored as the program's are, but what they stand for is.
WEFT_SCENARIO(same_surroundings,
              {.name = "facilities/same_surroundings",
               .summary = "environment, locale and time zone are as before in each execution",
               .expect = weft::must_pass(),
               .budget = 200}) {
  assert(std::getenv("WEFT_SEEN") == nullptr && std::getenv("PATH") != nullptr);
  assert(std::string(std::setlocale(LC_ALL, nullptr)) == "C");
  tzset();
  assert(timezone != -3 * 3600);
  std::thread other([] {
    setenv("WEFT_SEEN", "1", 1);
    unsetenv("PATH");
  });
  other.join();
  assert(std::getenv("WEFT_SEEN") != nullptr && std::getenv("PATH") == nullptr);
  assert(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
  setenv("TZ", "ABC-3", 1);
  tzset();
  assert(timezone == -3 * 3600);
}

/// As a library does that has a heap of its own, and never gives it back.
WEFT_SCENARIO(own_heap, {.name = "facilities/own_heap",
                         .summary = "what tasks map is unmapped after the execution",
                         .expect = weft::must_pass(),
                         .budget = 200}) {
  constexpr std::size_t kBytes = 64 * 4096;
  void* const wanted = reinterpret_cast<void*>(0x3000'0000'0000);
  static char* heap = nullptr;
  assert(heap == nullptr);
  const auto begin = [&] {
    heap = static_cast<char*>(mmap(wanted, kBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    assert(heap == wanted);
    assert(heap[0] == 0 && heap[kBytes - 1] == 0);
    heap[0] = heap[kBytes - 1] = 'x';
  };
  std::thread(begin).join();
  // A hole, and pages that move.
  assert(munmap(heap + 4096, 4096) == 0);
  char* const moved = static_cast<char*>(mremap(heap + 2 * 4096, 4096, 2 * 4096, MREMAP_MAYMOVE));
  assert(moved != MAP_FAILED);
  moved[4096] = 'x';
  static char* first;
  assert(first == nullptr);
  first = moved;
}

}  // namespace
