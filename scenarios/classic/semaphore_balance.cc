// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permits to use a scarce connection, out of balance.
//
// lost_permit: an upload that finds itself cancelled returns early and keeps its
// permit.
// lost_count: the same with a std::counting_semaphore, of which permits have been given back
// before, to nobody: no wake is to blame.
// extra_permit: a poller gives back a permit that it did not get, and two use the
// one connection.

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>

#include <weft/scenario.h>

namespace {

class Permits {
 public:
  explicit Permits(int count) : count_(count) {}
  void acquire() {
    std::unique_lock lock(mutex_);
    available_.wait(lock, [this] { return count_ > 0; });
    --count_;
  }
  bool try_acquire() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    ++count_;
    available_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable available_;
  int count_;
};

void upload_and_leak(Permits& permits, const std::atomic<bool>& cancelled) {
  permits.acquire();
  if (cancelled) return;
  permits.release();
}

void upload(Permits& permits, const std::atomic<bool>& cancelled) {
  struct Permit {
    explicit Permit(Permits& of) : permits(of) { permits.acquire(); }
    ~Permit() { permits.release(); }
    Permits& permits;
  };
  const Permit permit(permits);
  if (cancelled) return;
}

void cancel_an_upload(void (*upload)(Permits&, const std::atomic<bool>&)) {
  Permits permits(1);
  std::atomic<bool> cancelled{false};
  std::thread uploader([&] { upload(permits, cancelled); });
  cancelled = true;
  permits.acquire();  // for the notice that it was cancelled
  permits.release();
  uploader.join();
}

WEFT_SCENARIO(lost_permit_buggy, {.name = "classic/lost_permit.buggy",
                                  .summary = "a permit is kept on an early return",
                                  .expect = weft::must_find("deadlock"),
                                  .budget = 500}) {
  cancel_an_upload(upload_and_leak);
}

WEFT_SCENARIO(lost_permit_fixed, {.name = "classic/lost_permit.fixed",
                                  .summary = "a permit is given back by a destructor",
                                  .expect = weft::must_pass(),
                                  .budget = 500}) {
  cancel_an_upload(upload);
}

void count_uploads(bool leaks) {
  std::counting_semaphore<2> permits(1);
  permits.acquire();
  permits.release();
  std::atomic<bool> cancelled{false};
  std::thread uploader([&] {
    permits.acquire();
    if (cancelled && leaks) return;
    permits.release();
  });
  cancelled = true;
  uploader.join();
  permits.acquire();
  permits.release();
}

WEFT_SCENARIO(lost_count_buggy, {.name = "classic/lost_count.buggy",
                                 .summary = "a count that nobody will raise, after some that were",
                                 .expect = weft::must_find("deadlock"),
                                 .budget = 500}) {
  count_uploads(true);
}

WEFT_SCENARIO(lost_count_fixed, {.name = "classic/lost_count.fixed",
                                 .summary = "a count that is raised whatever happens",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  count_uploads(false);
}

class Connection {
 public:
  void use() {
    assert(users_.fetch_add(1) == 0);
    users_.fetch_sub(1);
  }

 private:
  std::atomic<int> users_{0};
};

void poll_and_release(Permits& permits, Connection& connection) {
  if (permits.try_acquire()) connection.use();
  permits.release();
}

void poll(Permits& permits, Connection& connection) {
  if (!permits.try_acquire()) return;
  connection.use();
  permits.release();
}

void poll_twice(void (*poll)(Permits&, Connection&)) {
  Connection connection;
  Permits permits(1);
  std::thread user([&] {
    permits.acquire();
    connection.use();
    permits.release();
  });
  poll(permits, connection);
  poll(permits, connection);
  user.join();
}

WEFT_SCENARIO(extra_permit_buggy, {.name = "classic/extra_permit.buggy",
                                   .summary = "a permit is given back that was never had",
                                   .expect = weft::must_find("assertion"),
                                   .budget = 500}) {
  poll_twice(poll_and_release);
}

WEFT_SCENARIO(extra_permit_fixed, {.name = "classic/extra_permit.fixed",
                                   .summary = "only a permit that was had is given back",
                                   .expect = weft::must_pass(),
                                   .budget = 500}) {
  poll_twice(poll);
}

}  // namespace
