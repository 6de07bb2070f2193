// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Atomics beyond the machine word, shared pointers, and waiting on values of each width.

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <thread>

#include <weft/scenario.h>

namespace {

/// A waiter sees the value that its notifier stored; the proxy of libstdc++ serves all
/// widths but four bytes.
template <typename T>
void wait_and_notify() {
  std::atomic<T> word{0};
  int payload = 0;
  std::thread waiter([&] {
    word.wait(0, std::memory_order_acquire);
    assert(word.load() == 1 && payload == 5);
  });
  payload = 5;
  word.store(1, std::memory_order_release);
  word.notify_one();
  waiter.join();
  std::thread many([&] {
    word.store(2);
    word.notify_all();
  });
  word.wait(1);
  assert(word.load() == 2);
  many.join();
}

WEFT_SCENARIO(atomic_wait, {.name = "facilities/atomic_wait",
                            .summary = "wait and notify on atomics of every width",
                            .expect = weft::must_pass(),
                            .budget = 200}) {
  wait_and_notify<std::uint8_t>();
  wait_and_notify<std::uint16_t>();
  wait_and_notify<std::uint32_t>();
  wait_and_notify<std::uint64_t>();
  std::atomic_flag flag;
  std::thread setter([&] {
    flag.test_and_set();
    flag.notify_one();
  });
  flag.wait(false);
  setter.join();
}

template <std::size_t kWords>
struct Block {
  std::uint64_t words[kWords];
};

template <std::size_t kWords>
Block<kWords> filled(std::uint64_t value) {
  Block<kWords> block;
  for (std::uint64_t& word : block.words) word = value;
  return block;
}

template <std::size_t kWords>
void assert_whole(const Block<kWords>& block) {
  for (const std::uint64_t word : block.words) assert(word == block.words[0]);
}

/// Nobody ever sees half a value, and every exchange counts.
template <std::size_t kWords>
void exchange_whole() {
  std::atomic<Block<kWords>> shared(filled<kWords>(0));
  std::thread adder([&] {
    Block<kWords> seen = shared.load();
    assert_whole(seen);
    while (!shared.compare_exchange_weak(seen, filled<kWords>(seen.words[0] + 1))) {
    }
  });
  const Block<kWords> before = shared.exchange(filled<kWords>(10));
  assert_whole(before);
  assert(before.words[0] == 0 || before.words[0] == 1);
  adder.join();
  const Block<kWords> after = shared.load();
  assert_whole(after);
  assert(after.words[0] == 10 + 1 - before.words[0]);
  shared.store(filled<kWords>(3));
  assert(shared.load().words[kWords - 1] == 3);
}

WEFT_SCENARIO(wide_atomics, {.name = "facilities/wide_atomics",
                             .summary = "atomics of 16 and 32 bytes, which libatomic would serve",
                             .expect = weft::must_pass(),
                             .budget = 300}) {
  exchange_whole<2>();
  exchange_whole<4>();
}

WEFT_SCENARIO(wide_release, {.name = "facilities/wide_release",
                             .summary = "a wide store-release hands over what came before it",
                             .expect = weft::must_pass(),
                             .budget = 200}) {
  std::atomic<Block<4>> shared(filled<4>(0));
  int payload = 0;
  std::thread writer([&] {
    payload = 9;
    shared.store(filled<4>(1), std::memory_order_release);
  });
  if (shared.load(std::memory_order_acquire).words[0] == 1) assert(payload == 9);
  writer.join();
}

WEFT_SCENARIO(shared_ptr_functions, {.name = "facilities/atomic_load_shared_ptr",
                                     .summary = "the free functions on shared_ptr, of old",
                                     .expect = weft::must_pass(),
                                     .budget = 300}) {
  std::shared_ptr<int> shared = std::make_shared<int>(1);
  std::thread other([&] { std::atomic_store(&shared, std::make_shared<int>(2)); });
  const std::shared_ptr<int> seen = std::atomic_load(&shared);
  assert(*seen == 1 || *seen == 2);
  other.join();
  assert(*std::atomic_load(&shared) == 2);
  assert(seen.use_count() == (*seen == 2 ? 2 : 1));
}

WEFT_SCENARIO(atomic_shared_ptr, {.name = "facilities/atomic_shared_ptr.fixed",
                                  .summary = "exchanges of an atomic<shared_ptr> lose nothing",
                                  .expect = weft::must_pass(),
                                  .budget = 300}) {
  std::atomic<std::shared_ptr<int>> shared(std::make_shared<int>(1));
  std::shared_ptr<int> its;
  std::thread other([&] { its = shared.exchange(std::make_shared<int>(2)); });
  const std::shared_ptr<int> mine = shared.exchange(std::make_shared<int>(3));
  other.join();
  const std::shared_ptr<int> left = shared.load();
  assert(*mine + *its + *left == 1 + 2 + 3);
  assert(mine.use_count() == 1 && its.use_count() == 1 && left.use_count() == 2);
}

// libstdc++ 12's load() unlocks with a relaxed operation (_Sp_atomic in bits/shared_ptr_atomic.h),
// so that its read of the pointer is not ordered before the next store's write.
WEFT_SCENARIO(atomic_shared_ptr_load, {.name = "facilities/atomic_shared_ptr.buggy",
                                       .summary = "libstdc++ 12's load releases nothing",
                                       .expect = weft::must_find("data_race"),
                                       .budget = 300}) {
  std::atomic<std::shared_ptr<int>> shared(std::make_shared<int>(1));
  std::thread other([&] { shared.store(std::make_shared<int>(2)); });
  const std::shared_ptr<int> seen = shared.load();
  assert(*seen == 1 || *seen == 2);
  other.join();
}

}  // namespace
