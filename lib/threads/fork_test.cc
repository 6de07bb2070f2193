// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: docs/cases.md 7: a process that has threads forks, and its child goes on with what it
// inherited, or is told clearly why not. Method: each test forks and asserts in the child, whose
// exit status is the number of the first assertion that failed. GoogleTest's own assertions would
// report in the wrong process.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/fork_epoch.h"
#include "lib/context/binding.h"
#include "lib/context/operators.h"
#include "lib/stash/stash.h"
#include "lib/threads/pool.h"
#include "lib/threads/spawn.h"

namespace weftrt {
namespace {

// The line of the first `expect` in the child that does not hold; 0 if all do.
class InChild {
 public:
  void expect(bool holds, int line) noexcept {
    if (!holds && failed_line_ == 0) failed_line_ = line;
  }
  [[nodiscard]] int failed_line() const noexcept { return failed_line_; }

 private:
  int failed_line_ = 0;
};
#define EXPECT_IN_CHILD(condition) child.expect((condition), __LINE__)

// The result of `run(InChild&)` in a child; -1 if it did not end by itself within a minute.
template <class Run>
int first_failure_in_child(Run run) {
  int to_parent[2];
  if (pipe(to_parent) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    InChild child;
    run(child);
    const int line = child.failed_line();
    if (write(to_parent[1], &line, sizeof line) != sizeof line) _exit(1);
    _exit(0);
  }
  close(to_parent[1]);
  int line = -1;
  if (read(to_parent[0], &line, sizeof line) != sizeof line) line = -1;
  close(to_parent[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? line : -1;
}

// The sanitizers of g++ 12 do not expect a child of fork() to go on where other threads were: a
// lock of their malloc may be held by one that is gone, and a new thread may get the name of one.
#if (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)) && !defined(__clang__)
constexpr bool kSanitizedByGcc = true;
#else
constexpr bool kSanitizedByGcc = false;
#endif

const StashKey<int> kObject("fork_test.object", StashRule::kReplace,
                            [] { return std::make_shared<int>(3); });

ContextImpl with_seed(std::uint64_t seed) {
  ContextImpl impl;
  impl.seed_all(seed);
  return impl;
}

TEST(Fork, TheEpochCountsForks) {
  const std::uint32_t epoch = detail::fork_epoch();
  EXPECT_EQ(first_failure_in_child(
                [&](InChild& child) { EXPECT_IN_CHILD(detail::fork_epoch() == epoch + 1); }),
            0);
  EXPECT_EQ(detail::fork_epoch(), epoch);
}

TEST(Fork, TheChildReadsAndChangesWhatItsThreadHad) {
  (void)swap_global(with_seed(1));
  const ContextPin pinned = pin();
  const ContextOverride mine(with_seed(2));
  stash::set(kObject, std::make_shared<int>(7));
  EXPECT_EQ(first_failure_in_child([&](InChild& child) {
              EXPECT_IN_CHILD(current().seed() == 2);
              EXPECT_IN_CHILD(pinned->seed() == 1);
              EXPECT_IN_CHILD(*stash::get(kObject) == 7);
              update_global([](ContextImpl& impl) { impl.seed_all(5); });
              EXPECT_IN_CHILD(current().seed() == 2);
              std::uint64_t raw = 0;
              std::uint64_t managed = 0;
              spawn_raw([&] { raw = current().seed(); }).join();
              spawn_managed([&] { managed = current().seed(); }).join();
              EXPECT_IN_CHILD(raw == 5);
              EXPECT_IN_CHILD(managed == 2);
            }),
            0);
  EXPECT_EQ(pinned->seed(), 1U);
  spawn_raw([] { EXPECT_EQ(current().seed(), 1U); }).join();
  (void)stash::erase(kObject);
}

// Threads change and read the context, define keys and operators, while another forks, again and
// again: none of them can leave the child a lock that is held, or a list in disorder.
TEST(Fork, TheChildIsWellWhateverOtherThreadsWereDoing) {
  if (kSanitizedByGcc) GTEST_SKIP() << "see kSanitizedByGcc";
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int t = 0; t < 2; ++t) {
    busy.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        update_global([&](ContextImpl& impl) { impl.seed_all(static_cast<std::uint64_t>(i)); });
        (void)current();
        const std::string name = "fork_test." + std::to_string(t) + "." + std::to_string(i % 500);
        (void)StashKey<int>(name);
        (void)Operator<int()>(name);
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(first_failure_in_child([&](InChild& child) {
                const ContextImpl& now = current();
                EXPECT_IN_CHILD(now.seed(DeviceKind::kCpu) == now.seed(DeviceKind::kCuda));
                update_global([](ContextImpl& impl) { impl.seed_all(1'000'000); });
                EXPECT_IN_CHILD(current().seed() == 1'000'000);
                const Operator<int()> op("fork_test.of_child");
                register_operator(
                    op, DeviceKind::kCpu, +[] { return 4; });
                EXPECT_IN_CHILD(call(op, DeviceKind::kCpu) == 4);
                EXPECT_IN_CHILD(*stash::get_or_init(
                                    StashKey<int>("fork_test.of_child", StashRule::kPrivate,
                                                  [] { return std::make_shared<int>(6); })) == 6);
              }),
              0);
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

// The founding form of docs/cases.md 7: a thread was asking the driver when the process forked. The
// child must neither wait for that thread nor use what it left half done.
TEST(Fork, AFactThatAnotherThreadWasAskingForIsAskedAnew) {
  static std::latch* asking = nullptr;
  static std::latch* answer = nullptr;
  static pid_t slow_process = 0;
  struct Probe : DeviceProbe {
    [[nodiscard]] int count() const override {
      if (getpid() != slow_process) return 2;
      asking->count_down();
      answer->wait();
      return 3;
    }
    [[nodiscard]] DeviceProperties properties(int device) const override {
      return {.name = "device " + std::to_string(device)};
    }
  };
  std::latch asking_here(1);
  std::latch answer_here(1);
  asking = &asking_here;
  answer = &answer_here;
  slow_process = getpid();
  const DeviceFacts facts(std::make_unique<Probe>());
  std::thread asker([&] { EXPECT_EQ(facts.count(), 3); });
  asking_here.wait();
  EXPECT_EQ(first_failure_in_child([&](InChild& child) {
              EXPECT_IN_CHILD(facts.count() == 2);
              EXPECT_IN_CHILD(facts.properties(1).name == "device 1");
            }),
            0);
  answer_here.count_down();
  asker.join();
  EXPECT_EQ(facts.count(), 3);
}

TEST(Fork, FactsThatWereKnownStayKnown) {
  const auto facts = default_device_facts(DeviceKind::kCpu);
  const DeviceProperties& known = facts->properties(0);
  EXPECT_EQ(first_failure_in_child(
                [&](InChild& child) { EXPECT_IN_CHILD(&facts->properties(0) == &known); }),
            0);
}

TEST(Fork, APoolThatWasLeftBehindSaysSoAndANewOneWorks) {
  auto pool = std::make_unique<ManagedPool>(2);
  std::latch go(1);
  auto blocked = pool->submit([&] { go.wait(); });
  auto queued = pool->submit([] { return 1; });
  EXPECT_EQ(first_failure_in_child([&](InChild& child) {
              try {
                (void)pool->submit([] {});
                EXPECT_IN_CHILD(false);
              } catch (const PoolLeftBehind& error) {
                EXPECT_IN_CHILD(std::string(error.what()) ==
                                "this pool's threads stayed in the parent process at fork(): make "
                                "a new pool");
              }
              try {
                pool->finish();
                EXPECT_IN_CHILD(false);
              } catch (const PoolLeftBehind&) {
              }
              if (kSanitizedByGcc) return;
              pool = std::make_unique<ManagedPool>(1);
              EXPECT_IN_CHILD(pool->submit([] { return 9; }).get() == 9);
              pool.reset();
            }),
            0);
  go.count_down();
  blocked.get();  // `go` is its, until then
  EXPECT_EQ(queued.get(), 1);
}

}  // namespace
}  // namespace weftrt
