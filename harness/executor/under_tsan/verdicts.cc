// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: what the genuine ThreadSanitizer, with its shared run-time library, says of programs whose
// tasks our executors run is right, and the same under each of them: none of our changes of task
// orders anything.
//
// Method: each program under the same random schedules on the executor that is named; the number of
// schedules with a report must be the expected one. A change of task that does order something must
// hide races: else the programs would prove nothing.
//
// usage: weft_under_tsan alias|baton
#include <dlfcn.h>
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "harness/base/mapped_object.h"
#include "harness/base/prng.h"
#include "harness/base/system_call.h"
#include "harness/engine/task.h"
#include "harness/executor/alias.h"
#include "harness/executor/alias_probe.h"
#include "harness/executor/baton.h"
#include "harness/executor/direct_tls.h"
#include "harness/executor/no_image.h"
#include "harness/executor/under_tsan/programs.h"

extern "C" void __tsan_flush_memory();  // in no header

#define WEFT_INTERPOSE extern "C" __attribute__((visibility("default"), noinline))

namespace under_tsan {
namespace {

using weft::TaskIndex;
using weft::engine::current_task;
using weft::engine::Task;
using weft::engine::TaskState;

constexpr std::size_t kTasks = 3;
constexpr int kSchedules = 1000;
constexpr int kHalfWay = 635;  // of these schedules; both executors must agree

/// For ThreadSanitizer alone: what `word` stands for is handed over.
struct Edge {
  char word = 0;
  void release() noexcept { __tsan_release(&word); }
  void acquire() noexcept { __tsan_acquire(&word); }
};

/// One execution after the other of one program: the least of an engine.
struct Scheduler {
  weft::engine::Executor* executor = nullptr;
  weft::Prng prng{1};
  bool changes_order = false;  // deliberately wrong: an edge at each change of task
  int reports = 0;

  void (*program)() = nullptr;
  Task tasks[kTasks];
  std::size_t count = 0;
  const void* blocked_on[kTasks] = {};
  void* (*start[kTasks])(void*) = {};
  void* argument[kTasks] = {};
  Edge begun[kTasks];
  Edge ended[kTasks];
  Edge all_ended;  // what an execution did comes before the next
  Edge wrong_edge;

  Task& add(void* (*function)(void*), void* given) {
    if (count == kTasks) wrong("too many tasks");
    Task& task = tasks[count];
    task.~Task();
    ::new (&task) Task;
    task.index = static_cast<TaskIndex>(count);
    task.slot = static_cast<std::uint32_t>(count);
    task.main = &Scheduler::live;
    task.record = this;
    blocked_on[count] = nullptr;
    start[count] = function;
    argument[count] = given;
    if (!executor->start(task, count)) wrong("the system refuses a thread");
    ++count;
    return task;
  }

  Task& pick() {
    Task* ready[kTasks];
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (tasks[i].state != TaskState::kEnded && blocked_on[i] == nullptr)
        ready[found++] = &tasks[i];
    }
    if (found == 0) wrong("a deadlock");
    return *ready[prng.below(found)];
  }

  void point(Task& self) {
    Task& next = pick();
    if (&next == &self) return;
    if (changes_order) wrong_edge.release();
    executor->switch_to(self, next);
    if (changes_order) wrong_edge.acquire();
  }
  void wait(Task& self, const void* object) {
    blocked_on[self.index] = object;
    point(self);
  }
  void wake(const void* object) {
    for (const void*& waits : blocked_on) {
      if (waits == object) waits = nullptr;
    }
  }
  void await_end(Task& self, std::size_t other) {
    while (tasks[other].state != TaskState::kEnded) wait(self, &tasks[other]);
    ended[other].acquire();
  }

  static void live(Task& self) { static_cast<Scheduler*>(self.record)->run(self); }
  void run(Task& self) {
    if (changes_order) wrong_edge.acquire();
    if (self.index == 0) {
      all_ended.acquire();
      program();
    } else {
      begun[self.index].acquire();
      start[self.index](argument[self.index]);
    }
    ended[self.index].release();
    all_ended.release();
    if (changes_order) wrong_edge.release();
    current_task = nullptr;
    self.state = TaskState::kEnded;
    wake(&self);
    if (self.index == 0) {
      executor->finish(self);
    } else {
      executor->leave(self, pick());
    }
  }

  /// How many of the schedules had a report.
  int verdict(void (*subject)()) {
    program = subject;
    // A thread's clock has 14 bits. When it is full the library forgets all accesses, and with them
    // the race of whatever execution that happens in.
    __tsan_flush_memory();
    int reported = 0;
    for (int i = 1; i <= kSchedules; ++i) {
      prng = weft::Prng(static_cast<std::uint64_t>(i));
      count = 0;
      reports = 0;
      executor->run(add(nullptr, nullptr));
      executor->recycle();
      if (reports != 0) ++reported;
    }
    return reported;
  }
};

Scheduler scheduler;

/// ThreadSanitizer's, or libc's where it has none.
template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) ::under_tsan::real<decltype(&::name)>(#name)

int failures = 0;

void expect(const char* what, int reported, int expected) {
  const bool right = reported == expected;
  std::printf("%-28s %4d of %d schedules with a report%s\n", what, reported, kSchedules,
              right ? "" : ", wrong");
  if (!right) ++failures;
}

int judge(std::string_view name) {
  static weft::executor::NoImage image;
  static weft::executor::Alias alias(image);
  static const auto channel = weft::make_mapped<weft::trace::Channel>();
  static weft::executor::Baton baton(image, *channel, false);
  if (name == "alias") {
    static weft::executor::DirectTls use;
    if (weft::executor::find_direct_tls(use)) wrong(use.module);
    if (const char* const why = weft::executor::probe_alias()) wrong(why);
    if (const char* const why = alias.prepare(channel->running_tid)) wrong(why);
    scheduler.executor = &alias;
  } else {
    scheduler.executor = &baton;
  }
  expect("unordered writes", scheduler.verdict(unordered_writes), kSchedules);
  expect("locked writes", scheduler.verdict(locked_writes), 0);
  expect("relaxed flag", scheduler.verdict(relaxed_flag), kSchedules);
  expect("released flag", scheduler.verdict(released_flag), 0);
  expect("own state", scheduler.verdict(own_state), 0);
  expect("writes half-way", scheduler.verdict(writes_half_way), kHalfWay);
  scheduler.changes_order = true;
  expect("hidden by an edge of ours", scheduler.verdict(unordered_writes), 0);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

void wrong(const char* what) {
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
  weft::system_call(SYS_exit_group, EXIT_FAILURE);
  __builtin_unreachable();
}

}  // namespace under_tsan

using namespace under_tsan;

int main(int argc, char** argv) {
  const int status = judge(argc > 1 ? argv[1] : "alias");
  std::fflush(stdout);
  // The executor's threads use what destructors would take away, and to libc's function
  // ThreadSanitizer adds a status of its own.
  weft::system_call(SYS_exit_group, status);
}

// --- What ThreadSanitizer asks of the program

WEFT_INTERPOSE void __tsan_on_report(void*) { ++scheduler.reports; }

WEFT_INTERPOSE const char* __tsan_default_options() {
  // A report in every schedule, also of what was reported before.
  return "suppress_equal_stacks=0:suppress_equal_addresses=0:symbolize=0:log_path=/dev/null:"
         "atexit_sleep_ms=0:report_thread_leaks=0";
}

// --- What the programs call

WEFT_INTERPOSE int sched_yield() noexcept {
  if (Task* const self = current_task) scheduler.point(*self);
  return 0;
}

WEFT_INTERPOSE int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                  void* (*start)(void*), void* argument) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return REAL(pthread_create)(thread, attributes, start, argument);
  const Task& child = scheduler.add(start, argument);
  scheduler.begun[child.index].release();
  *thread = scheduler.executor->thread_of(child.slot);
  scheduler.point(*self);
  return 0;
}

WEFT_INTERPOSE int pthread_join(pthread_t thread, void** result) {
  Task* const self = current_task;
  if (self == nullptr) return REAL(pthread_join)(thread, result);
  for (std::size_t i = 0; i < scheduler.count; ++i) {
    if (scheduler.executor->thread_of(i) != thread) continue;
    scheduler.await_end(*self, i);
    return 0;
  }
  return ESRCH;
}

WEFT_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return REAL(pthread_mutex_lock)(mutex);
  scheduler.point(*self);
  int error = 0;
  while ((error = pthread_mutex_trylock(mutex)) == EBUSY) scheduler.wait(*self, mutex);
  return error;
}

WEFT_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  Task* const self = current_task;
  if (self != nullptr) scheduler.point(*self);
  const int error = REAL(pthread_mutex_unlock)(mutex);
  if (self != nullptr) scheduler.wake(mutex);
  return error;
}

WEFT_INTERPOSE int* __errno_location() noexcept {
  if (weft::engine::shared_error_number != nullptr) return weft::engine::shared_error_number;
  static int* (*const libc)() = real<int* (*)()>("__errno_location");
  return libc();
}
