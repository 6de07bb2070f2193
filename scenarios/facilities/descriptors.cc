// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Waits for descriptors: poll, select and epoll take virtual time, and go on when another thread
// has made one ready.

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

#include <weft/scenario.h>

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A pipe for a byte or two.
class Pipe {
 public:
  Pipe() { assert(pipe2(ends_, O_CLOEXEC) == 0); }
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int read_end() const { return ends_[0]; }
  void put() { assert(write(ends_[1], "x", 1) == 1); }
  void take() {
    char byte;
    assert(read(ends_[0], &byte, 1) == 1);
  }

 private:
  int ends_[2];
};

int poll_for(int file, int timeout) {
  pollfd wanted{file, POLLIN, 0};
  const int count = poll(&wanted, 1, timeout);
  assert(count == ((wanted.revents & POLLIN) != 0 ? 1 : 0));
  return count;
}

int ppoll_for(int file, int timeout) {
  pollfd wanted{file, POLLIN, 0};
  const timespec time{timeout / 1000, timeout % 1000 * 1'000'000L};
  return ppoll(&wanted, 1, timeout < 0 ? nullptr : &time, nullptr);
}

int select_for(int file, int timeout) {
  fd_set wanted;
  FD_ZERO(&wanted);
  FD_SET(file, &wanted);
  timeval time{timeout / 1000, timeout % 1000 * 1000L};
  const int count = select(file + 1, &wanted, nullptr, nullptr, timeout < 0 ? nullptr : &time);
  assert(count == (FD_ISSET(file, &wanted) ? 1 : 0));
  if (count == 0) assert(time.tv_sec == 0 && time.tv_usec == 0);
  return count;
}

int pselect_for(int file, int timeout) {
  fd_set wanted;
  FD_ZERO(&wanted);
  FD_SET(file, &wanted);
  const timespec time{timeout / 1000, timeout % 1000 * 1'000'000L};
  return pselect(file + 1, &wanted, nullptr, nullptr, timeout < 0 ? nullptr : &time, nullptr);
}

int epoll_for(int file, int timeout, bool masked) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.fd = file;
  assert(epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event) == 0);
  epoll_event got{};
  const int count =
      masked ? epoll_pwait(epoll, &got, 1, timeout, nullptr) : epoll_wait(epoll, &got, 1, timeout);
  assert(count == 0 || got.data.fd == file);
  // Asked whether there is something, it has not been told of it yet: an edge comes once.
  if (count == 1) assert(epoll_wait(epoll, &got, 1, 0) == 0);
  close(epoll);
  return count;
}

using Wait = int (*)(int file, int timeout);

constexpr Wait kWaits[] = {
    &poll_for,
    &ppoll_for,
    &select_for,
    &pselect_for,
    [](int file, int timeout) { return epoll_for(file, timeout, false); },
    [](int file, int timeout) { return epoll_for(file, timeout, true); },
};

milliseconds taken_by(auto wait) {
  const auto begin = steady_clock::now();
  wait();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

WEFT_SCENARIO(sleeps_by_descriptors, {.name = "facilities/descriptors.sleeps",
                                      .summary = "a wait for no descriptor at all is a sleep",
                                      .expect = weft::must_pass(),
                                      .budget = 50}) {
  timespec time{3600, 0};
  timeval little{3600, 0};
  assert(taken_by([] { assert(poll(nullptr, 0, 5) == 0); }) == milliseconds(5));
  assert(taken_by([&] { assert(ppoll(nullptr, 0, &time, nullptr) == 0); }) ==
         milliseconds(3600'000));
  assert(taken_by([&] { assert(select(0, nullptr, nullptr, nullptr, &little) == 0); }) ==
         milliseconds(3600'000));
  assert(taken_by([&] { assert(pselect(0, nullptr, nullptr, nullptr, &time, nullptr) == 0); }) ==
         milliseconds(3600'000));
  time.tv_nsec = -1;
  assert(ppoll(nullptr, 0, &time, nullptr) == -1 && errno == EINVAL);
}

WEFT_SCENARIO(descriptor_times_out, {.name = "facilities/descriptors.times_out",
                                     .summary = "what does not become ready takes its whole time",
                                     .expect = weft::must_pass(),
                                     .budget = 50}) {
  Pipe pipe;
  for (const Wait wait : kWaits) {
    assert(taken_by([&] { assert(wait(pipe.read_end(), 0) == 0); }) == milliseconds(0));
    assert(taken_by([&] { assert(wait(pipe.read_end(), 7000) == 0); }) == milliseconds(7000));
    pipe.put();
    assert(taken_by([&] { assert(wait(pipe.read_end(), 7000) == 1); }) == milliseconds(0));
    assert(wait(pipe.read_end(), 0) == 1);
    assert(wait(pipe.read_end(), -1) == 1);
    pipe.take();
  }
  pollfd closed{-1, POLLIN, 0};
  assert(poll(&closed, 1, 1) == 0);
  epoll_event event;
  assert(epoll_wait(-1, &event, 1, 1) == -1 && errno == EBADF);
}

WEFT_SCENARIO(descriptor_made_ready, {.name = "facilities/descriptors.made_ready",
                                      .summary = "one thread waits for ever for another's byte",
                                      .expect = weft::must_pass(),
                                      .budget = 300}) {
  const Wait wait = kWaits[weft::choose(std::size(kWaits))];
  Pipe there;
  Pipe back;
  std::thread other([&] {
    for (int i = 0; i < 2; ++i) {
      assert(wait(there.read_end(), -1) == 1);
      there.take();
      back.put();
    }
  });
  for (int i = 0; i < 2; ++i) {
    there.put();
    assert(wait(back.read_end(), -1) == 1);
    back.take();
  }
  other.join();
}

WEFT_SCENARIO(descriptor_asked_again, {.name = "facilities/descriptors.asked_again",
                                       .summary = "a loop that asks without waiting lets others go",
                                       .expect = weft::must_pass(),
                                       .budget = 300}) {
  const Wait wait = kWaits[weft::choose(std::size(kWaits))];
  Pipe pipe;
  std::thread other([&] { pipe.put(); });
  int asked = 0;
  while (wait(pipe.read_end(), 0) == 0) ++asked;
  weft::sometimes(asked == 0, "it was there");
  weft::sometimes(asked > 0, "it came later");
  other.join();
}

WEFT_SCENARIO(descriptor_in_time, {.name = "facilities/descriptors.in_time",
                                   .summary = "a byte comes before, or after, the time is up",
                                   .expect = weft::must_pass(),
                                   .budget = 300}) {
  Pipe pipe;
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(weft::choose(2) == 0 ? 5 : 20));
    pipe.put();
  });
  const auto begin = steady_clock::now();
  const bool came = poll_for(pipe.read_end(), 10) == 1;
  const auto taken = steady_clock::now() - begin;
  weft::sometimes(came && taken < milliseconds(10), "the byte came in time");
  weft::sometimes(!came, "the time was up");
  assert(came || taken >= milliseconds(10));
  other.join();
}

/// Two that wait for one byte each: who is too late goes on waiting.
WEFT_SCENARIO(descriptor_of_two, {.name = "facilities/descriptors.of_two",
                                  .summary = "each of two threads gets one of two units",
                                  .expect = weft::must_pass(),
                                  .budget = 300}) {
  const int counter = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  const auto take = [&] {
    for (;;) {
      assert(poll_for(counter, -1) == 1);
      std::uint64_t unit = 0;
      if (read(counter, &unit, sizeof unit) == sizeof unit) return;
      assert(errno == EAGAIN);
    }
  };
  std::thread one(take);
  std::thread other(take);
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t unit = 1;
    assert(write(counter, &unit, sizeof unit) == sizeof unit);
    std::this_thread::yield();
  }
  one.join();
  other.join();
  close(counter);
}

/// The event loop of a server that nobody stops.
WEFT_SCENARIO(descriptor_left_waiting, {.name = "facilities/descriptors.left_waiting",
                                        .summary = "a detached thread waits when the test returns",
                                        .expect = weft::must_pass(),
                                        .budget = 100}) {
  std::thread([] {
    pollfd none{-1, POLLIN, 0};
    poll(&none, 1, -1);
  }).detach();
}

}  // namespace
