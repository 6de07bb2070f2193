// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/alias_probe.h"

#include <fenv.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>
#include <exception>
#include <new>

#include "harness/base/fake_stack.h"
#include "harness/base/mapping.h"
#include "harness/base/system_call.h"
#include "harness/base/thread_sanitizer.h"
#include "harness/engine/task.h"
#include "harness/executor/alias.h"
#include "harness/executor/no_image.h"

// libstdc++'s record of the calling thread's exceptions.
extern "C" void* __cxa_get_globals() noexcept;

namespace weft::executor {
namespace {

constexpr std::size_t kTasks = 3;

enum Property : int {
  kHolds,
  kPreparation,
  kSelf,
  kStack,
  kErrorNumber,
  kLibcErrorNumber,
  kThreadLocal,
  kLibraryThreadLocal,
  kKey,
  kMutexOwner,
  kFloatControl,
  kException,
  kUnwinding,
  kForcedUnwind,
  kFakeStack,
  kEnd,
  kProperties
};

constexpr const char* kMeaning[kProperties] = {
    nullptr,
    "it could not be prepared",
    "pthread_self() is not the task's",
    "a task's variables are not on its stack",
    "errno is not the task's own",
    "libc does not write errno where it is read",
    "a thread_local is not the task's own",
    "a thread_local of libstdc++ is not the task's own",
    "a thread-specific key's value is not the task's own",
    "a mutex does not know its owner",
    "the rounding mode is not the task's own",
    "an exception does not outlive a switch in its handler",
    "a stack cannot be unwound across a switch",
    "a thread cannot be ended by unwinding, as pthread_exit() does",
    "AddressSanitizer's fake stack is not the task's own",
    "not every task came to its end",
};

class Probe {
 public:
  Probe() noexcept : alias_(image_) {}

  Property run() noexcept {
    if (alias_.prepare(tid_) != nullptr) return kPreparation;
    if (pthread_key_create(&key_, nullptr) != 0) return kKey;
    make_mutex(recursive_, PTHREAD_MUTEX_RECURSIVE);
    make_mutex(checking_, PTHREAD_MUTEX_ERRORCHECK);
    for (std::size_t i = 0; i < kTasks; ++i) {
      tasks_[i].index = static_cast<TaskIndex>(i);
      tasks_[i].slot = static_cast<std::uint32_t>(i);
      tasks_[i].record = this;
      tasks_[i].main = [](engine::Task& self) { static_cast<Probe*>(self.record)->live(self); };
      if (!alias_.start(tasks_[i], i)) return kPreparation;
    }
    alias_.run(tasks_[0]);
    if (ended_ != kTasks) return kEnd;
    return failed_;
  }

 private:
  static void make_mutex(pthread_mutex_t& mutex, int kind) noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(&mutex, &attributes);
  }

  void expect(bool holds, Property property) noexcept {
    if (!holds && failed_ == kHolds) failed_ = property;
  }

  [[nodiscard]] engine::Task& after(const engine::Task& task) noexcept {
    return tasks_[(task.index + 1) % kTasks];
  }
  void pass(engine::Task& self) noexcept { alias_.switch_to(self, after(self)); }

  void live(engine::Task& self) {
    engine::current_task = nullptr;  // what follows is not the subject's doing
    keep_words(self);
    own_mutexes(self);
    round_differently(self);
    handle_exception(self);
    unwind(self);
    unwind_by_force(self);
    self.state = engine::TaskState::kEnded;
    if (++ended_ == kTasks) {
      alias_.finish(self);
    } else {
      alias_.leave(self, after(self));
    }
  }

  void keep_words(engine::Task& self) noexcept {
    const int number = 100 + self.index;
    errno = number;
    pthread_setspecific(key_, &tasks_[self.index]);
    globals_[self.index] = __cxa_get_globals();
    engine::current_task = &self;
    pass(self);
    expect(engine::current_task == &self, kThreadLocal);
    engine::current_task = nullptr;
    expect(errno == number, kErrorNumber);
    expect(pthread_getspecific(key_) == &tasks_[self.index], kKey);
    expect(pthread_self() == alias_.thread_of(self.slot), kSelf);
    const void* const globals = __cxa_get_globals();
    for (const engine::Task& task : tasks_) {
      expect((globals_[task.index] == globals) == (task.index == self.index), kLibraryThreadLocal);
    }
    const engine::Executor::StackArea area = alias_.stack_area(self.slot);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    expect(here >= area.low && here < area.high, kStack);
    errno = 0;
    expect(::close(-1) == -1 && errno == EBADF, kLibcErrorNumber);
    pass(self);
    expect(errno == EBADF, kErrorNumber);
    expect(!asan::has_fake_stacks() || asan::own_fake_stack_is(self.slot), kFakeStack);
  }

  void own_mutexes(engine::Task& self) noexcept {
    if (self.index == 0) {
      expect(pthread_mutex_trylock(&recursive_) == 0, kMutexOwner);
      expect(pthread_mutex_trylock(&checking_) == 0, kMutexOwner);
    }
    pass(self);
    expect(pthread_mutex_trylock(&recursive_) == (self.index == 0 ? 0 : EBUSY), kMutexOwner);
    if (self.index != 0) expect(pthread_mutex_unlock(&checking_) == EPERM, kMutexOwner);
    pass(self);
    if (self.index == 0) {
      expect(pthread_mutex_unlock(&recursive_) == 0, kMutexOwner);
      expect(pthread_mutex_unlock(&recursive_) == 0, kMutexOwner);
      expect(pthread_mutex_unlock(&checking_) == 0, kMutexOwner);
    }
  }

  void round_differently(engine::Task& self) noexcept {
    constexpr int kModes[kTasks] = {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD};
    fesetround(kModes[self.index]);
    pass(self);
    expect(fegetround() == kModes[self.index], kFloatControl);
  }

  void handle_exception(engine::Task& self) noexcept {
    int caught = -1;
    try {
      try {
        throw int{self.index};
      } catch (...) {
        pass(self);
        throw;
      }
    } catch (int thrown) {
      pass(self);
      caught = thrown;
    }
    expect(caught == self.index && std::current_exception() == nullptr, kException);
  }

  /// Switches when it is destroyed.
  struct Passing {
    Probe& test;
    engine::Task& self;
    int& destroyed;
    ~Passing() {
      test.pass(self);
      ++destroyed;
    }
  };

  void unwind(engine::Task& self) noexcept {
    int destroyed = 0;
    int in_flight = -1;
    try {
      const Passing outer{*this, self, destroyed};
      const Passing inner{*this, self, destroyed};
      throw int{self.index};
    } catch (int thrown) {
      in_flight = thrown;
    }
    expect(destroyed == 2 && in_flight == self.index && std::uncaught_exceptions() == 0,
           kUnwinding);
  }

  struct Stop {
    std::uintptr_t frame;
    void* buffer[5];
  };

  static _Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                  _Unwind_Exception*, _Unwind_Context* context, void* argument) {
    auto& stop = *static_cast<Stop*>(argument);
    if ((actions & _UA_END_OF_STACK) != 0 || _Unwind_GetCFA(context) > stop.frame)
      __builtin_longjmp(stop.buffer, 1);
    return _URC_NO_REASON;
  }

  __attribute__((noinline)) void leave_by_force(engine::Task& self, Stop& where, int& destroyed) {
    const Passing passing{*this, self, destroyed};
    _Unwind_Exception exception{};
    _Unwind_ForcedUnwind(&exception, &stop, &where);
    std::terminate();
  }

  __attribute__((noinline)) void unwind_by_force(engine::Task& self) {
    volatile int destroyed = 0;
    Stop where{reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), {}};
    if (__builtin_setjmp(where.buffer) == 0)
      leave_by_force(self, where, const_cast<int&>(destroyed));
    expect(destroyed == 1, kForcedUnwind);
  }

  NoImage image_;
  Alias alias_;
  std::atomic<std::int32_t> tid_{0};
  engine::Task tasks_[kTasks];
  pthread_key_t key_ = 0;
  pthread_mutex_t recursive_;
  pthread_mutex_t checking_;
  void* globals_[kTasks] = {};
  std::size_t ended_ = 0;
  Property failed_ = kHolds;
};

}  // namespace

const char* probe_alias() noexcept {
  const pid_t child = ::fork();
  if (child < 0) return "the system refuses a process to test it in";
  if (child == 0) {
    // ThreadSanitizer would report the mutexes that are tried here, and have the last word on the
    // exit status.
    tsan::mute();
    const Mapping memory(sizeof(Probe));
    system_call(SYS_exit_group, (::new (memory.data()) Probe)->run());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status)) return "its test crashed";
  const int property = WEXITSTATUS(status);
  return property < kProperties ? kMeaning[property] : "its test did not come to its end";
}

}  // namespace weft::executor
