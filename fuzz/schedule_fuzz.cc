// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A queue for one producer and one consumer, under schedules that libFuzzer invents. A producer
// that finds it full looks once more; if room has come meanwhile, the buggy one (WEFT_BUGGY)
// announces its item before it has written it. So the consumer must get in twice, at two points:
// coverage tells libFuzzer when it has the first. All is atomic, so that no race tells.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <weft/fuzz.h>

namespace {

class Queue {
 public:
  bool push(int value) {
    const std::size_t tail = tail_.load();
    if (tail - head_.load() == slots_.size()) {
      if (tail - head_.load() == slots_.size()) return false;
#ifdef WEFT_BUGGY
      tail_.store(tail + 1);
      slots_[tail % slots_.size()].store(value);
      return true;
#endif
    }
    slots_[tail % slots_.size()].store(value);
    tail_.store(tail + 1);
    return true;
  }

  bool pop(int& value) {
    const std::size_t head = head_.load();
    if (head == tail_.load()) return false;
    value = slots_[head % slots_.size()].load();
    head_.store(head + 1);
    return true;
  }

 private:
  std::array<std::atomic<int>, 2> slots_ = {};
  std::atomic<std::size_t> head_ = 0;
  std::atomic<std::size_t> tail_ = 0;
};

constexpr int kItems = 4;

/// What has come out, in this execution: variables of the program and what they own are as they
/// were before the first.
std::vector<int> received;

void produce(Queue& queue) {
  for (int item = 1; item <= kItems; ++item) {
    while (!queue.push(item)) std::this_thread::yield();
  }
}

void consume(Queue& queue) {
  for (int item = 1; item <= kItems; ++item) {
    int got = 0;
    while (!queue.pop(got)) std::this_thread::yield();
    received.push_back(got);
    weft::always(received.back() == item, "items come out as they went in");
  }
}

void pass_items() {
  weft::always(received.empty(), "an execution finds nothing of the one before");
  Queue queue;
  std::thread producer([&] { produce(queue); });
  consume(queue);
  producer.join();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::fuzz_one(data, size, &pass_items, {.name = "fuzz/schedule"});
  return 0;
}
