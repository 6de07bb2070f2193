// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whom a readers-writer lock prefers: the kinds of glibc.

#include <pthread.h>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <thread>

#include <weft/scenario.h>

namespace {

class Lock {
 public:
  explicit Lock(int kind) {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    assert(pthread_rwlockattr_setkind_np(&attributes, kind) == 0);
    assert(pthread_rwlock_init(&lock_, &attributes) == 0);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~Lock() { pthread_rwlock_destroy(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  operator pthread_rwlock_t*() { return &lock_; }

 private:
  pthread_rwlock_t lock_;
};

/// One reads, one waits to write, and another reader comes. Returns nothing until all have gone.
void come_while_a_writer_waits(int kind) {
  Lock lock(kind);
  std::atomic<bool> wrote{false};
  assert(pthread_rwlock_rdlock(lock) == 0);
  std::thread writer([&] {
    assert(pthread_rwlock_wrlock(lock) == 0);
    wrote = true;
    assert(pthread_rwlock_unlock(lock) == 0);
  });
  std::thread reader([&] {
    assert(pthread_rwlock_rdlock(lock) == 0);
    weft::sometimes(wrote, "a reader after the writer");
    assert(pthread_rwlock_unlock(lock) == 0);
  });
  assert(!wrote);
  assert(pthread_rwlock_unlock(lock) == 0);
  writer.join();
  reader.join();
}

WEFT_SCENARIO(rwlock_prefers_readers, {.name = "facilities/rwlock_prefers_readers",
                                       .summary = "a reader may overtake a writer that waits",
                                       .expect = weft::must_pass(),
                                       .budget = 300}) {
  come_while_a_writer_waits(PTHREAD_RWLOCK_PREFER_READER_NP);
}

WEFT_SCENARIO(rwlock_prefers_writers, {.name = "facilities/rwlock_prefers_writers",
                                       .summary = "or may not, and then all go on all the same",
                                       .expect = weft::must_pass(),
                                       .budget = 300}) {
  come_while_a_writer_waits(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
}

/// A reader that reads again while a writer waits.
void read_twice(int kind) {
  Lock lock(kind);
  assert(pthread_rwlock_rdlock(lock) == 0);
  std::thread writer([&] {
    assert(pthread_rwlock_wrlock(lock) == 0);
    assert(pthread_rwlock_unlock(lock) == 0);
  });
  assert(pthread_rwlock_rdlock(lock) == 0);
  assert(pthread_rwlock_unlock(lock) == 0);
  assert(pthread_rwlock_unlock(lock) == 0);
  writer.join();
}

WEFT_SCENARIO(rwlock_read_twice_buggy,
              {.name = "facilities/rwlock_read_twice.buggy",
               .summary = "a reader waits behind a writer, which waits for that reader",
               .expect = weft::must_find("deadlock"),
               .budget = 100}) {
  read_twice(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
}

WEFT_SCENARIO(rwlock_read_twice_fixed, {.name = "facilities/rwlock_read_twice.fixed",
                                        .summary = "the default kind allows for it",
                                        .expect = weft::must_pass(),
                                        .budget = 300}) {
  read_twice(weft::choose(2) == 0 ? PTHREAD_RWLOCK_PREFER_READER_NP
                                  : PTHREAD_RWLOCK_PREFER_WRITER_NP);
}

/// Two readers against one writer that must not be passed over.
void read_often(int kind) {
  Lock lock(kind);
  // A reader that waits is passed over by the writer, once.
  weft::bounded_bypass(static_cast<pthread_rwlock_t*>(lock), 1);
  const auto read = [&] {
    for (int i = 0; i < 3; ++i) {
      assert(pthread_rwlock_rdlock(lock) == 0);
      assert(pthread_rwlock_unlock(lock) == 0);
      const int error = pthread_rwlock_tryrdlock(lock);
      assert(error == 0 || error == EBUSY);
      if (error == 0) assert(pthread_rwlock_unlock(lock) == 0);
    }
  };
  std::thread one(read);
  std::thread other(read);
  assert(pthread_rwlock_wrlock(lock) == 0);
  assert(pthread_rwlock_unlock(lock) == 0);
  one.join();
  other.join();
}

WEFT_SCENARIO(rwlock_overtaken, {.name = "facilities/rwlock_overtaken.buggy",
                                 .summary = "the default kind lets readers pass a waiting writer",
                                 .expect = weft::must_find("starvation"),
                                 .budget = 100}) {
  read_often(PTHREAD_RWLOCK_DEFAULT_NP);
}

WEFT_SCENARIO(rwlock_not_overtaken, {.name = "facilities/rwlock_overtaken.fixed",
                                     .summary = "the writer-preferring kind does not",
                                     .expect = weft::must_pass(),
                                     .budget = 1000}) {
  read_often(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
}

WEFT_SCENARIO(rwlock_writer_gives_up, {.name = "facilities/rwlock_writer_gives_up",
                                       .summary = "a writer whose time is up holds nobody back",
                                       .expect = weft::must_pass(),
                                       .budget = 300}) {
  Lock lock(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  assert(pthread_rwlock_rdlock(lock) == 0);
  std::thread writer([&] {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    assert(pthread_rwlock_timedwrlock(lock, &until) == ETIMEDOUT);
  });
  std::thread reader([&] {
    assert(pthread_rwlock_rdlock(lock) == 0);
    assert(pthread_rwlock_unlock(lock) == 0);
  });
  writer.join();
  reader.join();
  assert(pthread_rwlock_unlock(lock) == 0);
}

}  // namespace
