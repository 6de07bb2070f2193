// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What programs ask the system: pinned, so that the same token brings the same answers.

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <unistd.h>
#include <x86intrin.h>
#include <cassert>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <thread>

#include <weft/scenario.h>

extern "C" unsigned long long time_stamp_in_c();

namespace {

WEFT_SCENARIO(randomness, {.name = "facilities/randomness",
                           .summary = "random numbers from outside are choices",
                           .expect = weft::must_pass(),
                           .budget = 200}) {
  unsigned mine = 0;
  unsigned its = 0;
  std::thread other([&] {
    std::random_device device;
    its = device();
  });
  std::random_device device("/dev/urandom");
  mine = device();
  other.join();
  assert(mine != its);
  assert(device() != mine);
  unsigned char bytes[20] = {};
  unsigned char more[20] = {};
  assert(getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  assert(getentropy(more, sizeof more) == 0);
  assert(std::memcmp(bytes, more, sizeof bytes) != 0);
  const int file = open("/dev/urandom", O_RDONLY);
  assert(read(file, bytes, sizeof bytes) == sizeof bytes);
  assert(std::memcmp(bytes, more, sizeof bytes) != 0);
  close(file);
  weft::sometimes(mine % 2 == 0, "an even number");
  weft::sometimes(mine % 2 == 1, "an odd number");
}

WEFT_SCENARIO(machine, {.name = "facilities/machine",
                        .summary = "one process number, four processors, virtual time",
                        .expect = weft::must_pass(),
                        .budget = 50}) {
  assert(std::thread::hardware_concurrency() == 4);
  assert(get_nprocs() == 4 && get_nprocs_conf() == 4);
  assert(sysconf(_SC_NPROCESSORS_ONLN) == 4 && sysconf(_SC_NPROCESSORS_CONF) == 4);
  assert(sysconf(_SC_PAGESIZE) == 4096);
  cpu_set_t set;
  assert(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 4);
  assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) == 4);
  assert(getpid() == 1 << 22 && gettid() == getpid());
  std::thread([] { assert(gettid() == getpid() + 2); }).join();
  timeval day;
  assert(gettimeofday(&day, nullptr) == 0);
  assert(day.tv_sec == 1'700'000'001 && time(nullptr) == day.tv_sec);
  assert(clock() < CLOCKS_PER_SEC);
}

WEFT_SCENARIO(time_stamps, {.name = "facilities/time_stamps",
                            .summary = "rdtsc is virtual time, by whichever intrinsic",
                            .expect = weft::must_pass(),
                            .budget = 50}) {
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<unsigned long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  const auto first = now();
  const auto stamp = __rdtsc();
  unsigned processor = 99;
  const auto another = __rdtscp(&processor);
  // Each reading is a hundred nanoseconds after the one before.
  assert(stamp == first + 100 && another == first + 200 && processor == 0);
  assert(time_stamp_in_c() == first + 300);
#ifdef __clang__
  assert(__builtin_readcyclecounter() == first + 400);
#endif
  std::this_thread::sleep_for(std::chrono::seconds(5));
  assert(_rdtsc() >= stamp + 5'000'000'000);
  // A loop that waits for the counter ends.
  const auto until = __rdtsc() + 1000;
  while (__rdtsc() < until) {
  }
}

std::string name_of(pthread_t thread) {
  char name[16];
  assert(pthread_getname_np(thread, name, sizeof name) == 0);
  return name;
}

WEFT_SCENARIO(thread_names, {.name = "facilities/thread_names",
                             .summary = "names and attributes of threads are theirs alone",
                             .expect = weft::must_pass(),
                             .budget = 100}) {
  const std::string inherited = name_of(pthread_self());
  assert(!inherited.empty());
  pthread_attr_t wanted;
  assert(pthread_attr_init(&wanted) == 0);
  assert(pthread_attr_setstacksize(&wanted, 256 * 1024) == 0);
  pthread_t thread;
  static bool named;
  named = false;
  assert(pthread_create(
             &thread, &wanted,
             [](void* argument) -> void* {
               assert(name_of(pthread_self()) == *static_cast<const std::string*>(argument));
               assert(pthread_setname_np(pthread_self(), "weaver") == 0);
               named = name_of(pthread_self()) == "weaver";
               assert(pthread_setname_np(pthread_self(), "a name of sixteen") != 0);
               pthread_attr_t has;
               assert(pthread_getattr_np(pthread_self(), &has) == 0);
               void* stack = nullptr;
               std::size_t size = 0;
               assert(pthread_attr_getstack(&has, &stack, &size) == 0 && size >= 256 * 1024);
               int detached = -1;
               assert(pthread_attr_getdetachstate(&has, &detached) == 0);
               assert(detached == PTHREAD_CREATE_JOINABLE);
               char here = 0;
               assert(&here > stack && &here < static_cast<char*>(stack) + size);
               pthread_attr_destroy(&has);
               return nullptr;
             },
             const_cast<std::string*>(&inherited)) == 0);
  assert(pthread_join(thread, nullptr) == 0);
  assert(named && name_of(pthread_self()) == inherited);
  pthread_attr_destroy(&wanted);
}

}  // namespace
