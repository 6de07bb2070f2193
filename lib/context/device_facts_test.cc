// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: each fact is asked once, however many threads want to know first, and across changes of
// the context.

#include "lib/context/device_facts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/context/context.h"

namespace weftrt {
namespace {

struct Asked {
  std::atomic<int> count{0};
  std::atomic<int> properties[2] = {0, 0};
};

class CountingProbe : public DeviceProbe {
 public:
  explicit CountingProbe(Asked& asked) : asked_(asked) {}
  [[nodiscard]] int count() const override {
    ++asked_.count;
    std::this_thread::yield();
    return 2;
  }
  [[nodiscard]] DeviceProperties properties(int device) const override {
    ++asked_.properties[device];
    std::this_thread::yield();
    return {.name = "gpu " + std::to_string(device), .memory_bytes = 80, .processors = 132};
  }

 private:
  Asked& asked_;
};

TEST(DeviceFacts, NothingIsAskedBeforeItIsWanted) {
  Asked asked;
  const DeviceFacts facts(std::make_unique<CountingProbe>(asked));
  EXPECT_EQ(asked.count, 0);
  EXPECT_EQ(facts.count(), 2);
  EXPECT_EQ(asked.properties[0], 0);
  const DeviceProperties expected{.name = "gpu 1", .memory_bytes = 80, .processors = 132};
  EXPECT_EQ(facts.properties(1), expected);
  EXPECT_EQ(asked.properties[0], 0);
  EXPECT_EQ(asked.properties[1], 1);
}

TEST(DeviceFacts, EachIsAskedOnceWhenManyWantItFirst) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 50; ++round) {
    Asked asked;
    const DeviceFacts facts(std::make_unique<CountingProbe>(asked));
    std::barrier start(kThreads);
    std::vector<const DeviceProperties*> got(kThreads);
    std::vector<std::thread> threads;
    for (auto& mine : got) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        mine = &facts.properties(0);
        EXPECT_EQ(mine->name, "gpu 0");
        EXPECT_EQ(facts.properties(1).name, "gpu 1");
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(got, std::vector<const DeviceProperties*>(kThreads, got[0]));
    EXPECT_EQ(asked.count, 1);
    EXPECT_EQ(asked.properties[0], 1);
    EXPECT_EQ(asked.properties[1], 1);
  }
}

TEST(DeviceFacts, ADeviceThatIsNotThereIsNamed) {
  Asked asked;
  const DeviceFacts facts(std::make_unique<CountingProbe>(asked));
  try {
    (void)facts.properties(2);
    FAIL() << "no exception";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "no device 2: there are 2");
  }
  EXPECT_THROW((void)facts.properties(-1), std::out_of_range);
}

TEST(DeviceFacts, AQuestionThatFailedIsAskedAgain) {
  static int answers = 0;
  struct Failing : DeviceProbe {
    [[nodiscard]] int count() const override {
      if (++answers == 1) throw std::runtime_error("the driver is not up");
      return answers == 2 ? -1 : 1;
    }
    [[nodiscard]] DeviceProperties properties(int /*device*/) const override { return {}; }
  };
  const DeviceFacts facts(std::make_unique<Failing>());
  EXPECT_THROW((void)facts.count(), std::runtime_error);
  EXPECT_THROW((void)facts.count(), std::logic_error) << "-1 devices";
  EXPECT_EQ(facts.count(), 1);
}

TEST(DeviceFacts, TheDefaultsAreOneCpuAndNoCuda) {
  const ContextImpl defaults;
  EXPECT_EQ(defaults.on(DeviceKind::kCpu).facts->count(), 1);
  const DeviceProperties& cpu = defaults.on(DeviceKind::kCpu).facts->properties(0);
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_GT(cpu.memory_bytes, 0U);
  EXPECT_EQ(cpu.processors, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(defaults.on(DeviceKind::kCuda).facts->count(), 0);
  EXPECT_THROW((void)defaults.on(DeviceKind::kCuda).facts->properties(0), std::out_of_range);
}

TEST(DeviceFacts, AChangeOfTheContextAsksNothingAnew) {
  Asked asked;
  const auto facts = std::make_shared<const DeviceFacts>(std::make_unique<CountingProbe>(asked));
  update_global([&](ContextImpl& impl) { impl.on(DeviceKind::kCuda).facts = facts; });
  EXPECT_EQ(current().on(DeviceKind::kCuda).facts->count(), 2);
  update_global([](ContextImpl& impl) { impl.seed_all(3); });
  std::thread([] { EXPECT_EQ(current().on(DeviceKind::kCuda).facts->count(), 2); }).join();
  EXPECT_EQ(asked.count, 1);
  (void)swap_global(ContextImpl{});
  (void)current();
  EXPECT_EQ(facts.use_count(), 1);
}

}  // namespace
}  // namespace weftrt
