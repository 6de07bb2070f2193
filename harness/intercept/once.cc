// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One-time initialisation: pthread_once and call_once, and the guards of magic statics.
//
// While an initialiser runs, its word counts as a lock held by the initialising
// task: a task that needs the result is not enabled, and a cycle is a deadlock.
#include "harness/model/once.h"

#include "harness/intercept/locks.h"

namespace weft::intercept {
namespace {

void begin_initialiser(Task& self, const void* word, std::uintptr_t pc) noexcept {
  self.execution->locks().acquired(reinterpret_cast<std::uintptr_t>(word), self.index, pc,
                                   model::LockKind::kInitialiser);
  self.execution->refresh(reinterpret_cast<std::uintptr_t>(word));
}

void end_initialiser(Task& self, const void* word) noexcept {
  self.execution->release(self, reinterpret_cast<std::uintptr_t>(word));
  self.execution->locks().released(reinterpret_cast<std::uintptr_t>(word));
  self.execution->refresh(reinterpret_cast<std::uintptr_t>(word));
}

/// Runs the initialiser; an exception leaves the word as if nothing had been tried.
class OnceRun {
 public:
  OnceRun(Task& self, pthread_once_t* word, std::uintptr_t pc) noexcept
      : self_(self), word_(word), pc_(pc) {
    model::once::store(word_, model::once::kInProgress);
    begin_initialiser(self_, word_, pc_);
  }
  ~OnceRun() {
    if (done_) announce(self_, operation_on(OpKind::kOnceDone, word_, pc_));
    model::once::store(word_, done_ ? model::once::kDone : 0);
    end_initialiser(self_, word_);
  }
  OnceRun(const OnceRun&) = delete;
  OnceRun& operator=(const OnceRun&) = delete;
  void done() noexcept { done_ = true; }

 private:
  Task& self_;
  pthread_once_t* word_;
  std::uintptr_t pc_;
  bool done_ = false;
};

}  // namespace

void run_once(Task& self, pthread_once_t* word, void (*initialise)(), std::uintptr_t pc) {
  announce(self, operation_on(OpKind::kOnce, word, pc));
  self.execution->acquire(self, reinterpret_cast<std::uintptr_t>(word));
  if ((model::once::load(word) & model::once::kDone) != 0) return;
  OnceRun run(self, word, pc);
  initialise();
  run.done();
}

}  // namespace weft::intercept

using namespace weft::intercept;
namespace guard = weft::model::guard;

WEFT_INTERPOSE int pthread_once(pthread_once_t* word, void (*initialise)()) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(pthread_once)(word, initialise);
  run_once(*self, word, initialise, WEFT_CALLER);
  return 0;
}

// Declared by the ABI, not by a header that all compilers have.
extern "C" int __cxa_guard_acquire(char* word);
extern "C" void __cxa_guard_release(char* word) noexcept;
extern "C" void __cxa_guard_abort(char* word) noexcept;

WEFT_INTERPOSE int __cxa_guard_acquire(char* word) {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(__cxa_guard_acquire)(word);
  const std::uintptr_t pc = WEFT_CALLER;
  announce(*self, operation_on(OpKind::kGuardAcquire, word, pc));
  self->execution->acquire(*self, reinterpret_cast<std::uintptr_t>(word));
  if (guard::is_done(word)) return 0;
  guard::set_in_progress(word, true);
  begin_initialiser(*self, word, pc);
  return 1;
}

WEFT_INTERPOSE void __cxa_guard_release(char* word) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(__cxa_guard_release)(word);
  announce(*self, operation_on(OpKind::kGuardRelease, word, WEFT_CALLER));
  guard::set_done(word);
  end_initialiser(*self, word);
}

WEFT_INTERPOSE void __cxa_guard_abort(char* word) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(__cxa_guard_abort)(word);
  announce(*self, operation_on(OpKind::kGuardRelease, word, WEFT_CALLER));
  guard::set_in_progress(word, false);
  end_initialiser(*self, word);
}
