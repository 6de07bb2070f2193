// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/threads/pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/check.h"
#include "lib/base/fork_epoch.h"
#include "lib/threads/parallel_loop.h"

namespace weftrt {

PoolShutDown::PoolShutDown() : std::logic_error("the pool was shut down and takes no more work") {}

PoolLeftBehind::PoolLeftBehind()
    : std::logic_error(
          "this pool's threads stayed in the parent process at fork(): make a new pool") {}

struct ManagedPool::Core {
  const std::uint32_t epoch = detail::fork_epoch();

  std::mutex mutex;
  std::condition_variable changed;  // the queue, `open` or `ended`
  std::deque<std::unique_ptr<Job>> queue;
  bool open = true;
  bool ending = false;  // somebody joins the threads
  bool ended = false;   // they are joined

  std::vector<std::thread> threads;  // whoever sets `ending` takes them

  [[nodiscard]] bool left_behind() const noexcept { return epoch != detail::fork_epoch(); }

  // What a pool's thread does.
  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return !queue.empty() || !open; });
      if (queue.empty()) return;
      std::unique_ptr<Job> job = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      job->run();
      job.reset();
      lock.lock();
    }
  }
};

namespace {

// The pool whose thread this is; identifies it, and is not used otherwise.
constinit thread_local const void* t_served_pool = nullptr;

}  // namespace

ManagedPool::ManagedPool(std::size_t threads) : core_(std::make_unique<Core>()) {
  if (threads == 0) throw std::invalid_argument("a pool of no threads");
  Core& core = *core_;
  try {
    for (std::size_t i = 0; i < threads; ++i) {
      core.threads.emplace_back([&core] {
        t_served_pool = &core;
        core.serve();
      });
    }
  } catch (...) {
    end(true);
    throw;
  }
}

ManagedPool::~ManagedPool() {
  if (core_->left_behind()) {
    // There is nobody to join, and what is queued may be half changed: all of it is left alone.
    [[maybe_unused]] const Core* const abandoned = core_.release();
    return;
  }
  detail::check(t_served_pool != core_.get(), "a pool was destroyed by its own work");
  end(true);
}

ManagedPool::Core& ManagedPool::core_of_this_process() const {
  if (core_->left_behind()) throw PoolLeftBehind();
  return *core_;
}

void ManagedPool::enqueue(std::unique_ptr<Job> job) {
  if (!offer(std::move(job))) throw PoolShutDown();
}

bool ManagedPool::offer(std::unique_ptr<Job> job) {
  Core& core = core_of_this_process();
  const std::lock_guard lock(core.mutex);
  if (!core.open) return false;
  core.queue.push_back(std::move(job));
  core.changed.notify_one();
  return true;
}

void ManagedPool::finish() { end(true); }
void ManagedPool::cancel() { end(false); }

void ManagedPool::end(bool run_queued) {
  Core& core = core_of_this_process();
  if (t_served_pool == &core) throw std::logic_error("work of a pool cannot wait for its end");
  std::deque<std::unique_ptr<Job>> dropped;
  std::vector<std::thread> threads;
  std::unique_lock lock(core.mutex);
  core.open = false;
  if (!run_queued) dropped.swap(core.queue);
  core.changed.notify_all();
  lock.unlock();
  dropped.clear();  // before anything is waited for, and not under the lock: it runs destructors
  lock.lock();
  if (std::exchange(core.ending, true)) {
    core.changed.wait(lock, [&] { return core.ended; });
    return;
  }
  threads.swap(core.threads);
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  lock.lock();
  core.ended = true;
  core.changed.notify_all();
}

// One helper's part in a loop.
class ManagedPool::LoopShare : public Job {
 public:
  explicit LoopShare(std::shared_ptr<detail::ParallelLoop> loop) : loop_(std::move(loop)) {}
  void run() override { loop_->help(); }

 private:
  std::shared_ptr<detail::ParallelLoop> loop_;
};

void ManagedPool::parallel_for_any(std::size_t first, std::size_t last,
                                   const std::function<void(std::size_t)>& body) {
  Core& core = core_of_this_process();
  const std::size_t calls = first < last ? last - first : 0;
  std::unique_lock lock(core.mutex);
  if (!core.open) throw PoolShutDown();
  const std::size_t helpers = std::min(core.threads.size(), calls == 0 ? 0 : calls - 1);
  lock.unlock();

  const auto loop = std::make_shared<detail::ParallelLoop>(first, last, body);
  const detail::ParallelLoop::Ended ended(*loop);
  // Refused when the pool is shut down meanwhile: this thread then makes all calls.
  for (std::size_t i = 0; i < helpers; ++i) (void)offer(std::make_unique<LoopShare>(loop));
  loop->run();
}

}  // namespace weftrt
