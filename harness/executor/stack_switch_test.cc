// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a context goes on where it stopped, with its own registers and control words, and its stack
// can be unwound to its beginning and no further. Method: two stacks of our own that call each
// other.

#include "harness/executor/stack_switch.h"

#include <fenv.h>
#include <gtest/gtest.h>
#include <unwind.h>

#include <cstddef>

#include "harness/base/mapping.h"

namespace weft::executor {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

struct Pair {
  Mapping stack{kStackBytes};
  void* here = nullptr;
  void* there = nullptr;
  int calls = 0;
  int rounding = -1;
  std::size_t frames = 0;

  [[nodiscard]] std::uintptr_t top() const {
    return reinterpret_cast<std::uintptr_t>(stack.data()) + stack.size();
  }
  void begin(void (*function)(void*)) { there = make_context(top(), function, this); }
  void visit() { weft_switch_stack(&here, there); }
  void leave() { weft_switch_stack(&there, here); }
};

_Unwind_Reason_Code count_frame(_Unwind_Context* context, void* frames) {
  if (_Unwind_GetIP(context) == 0) return _URC_END_OF_STACK;
  ++*static_cast<std::size_t*>(frames);
  return _URC_NO_REASON;
}

TEST(StackSwitchTest, AContextGoesOnWhereItStopped) {
  Pair pair;
  pair.begin([](void* argument) {
    auto& self = *static_cast<Pair*>(argument);
    for (;;) {
      ++self.calls;
      self.leave();
    }
  });
  for (int i = 1; i <= 3; ++i) {
    pair.visit();
    EXPECT_EQ(pair.calls, i);
  }
}

TEST(StackSwitchTest, EachSideKeepsItsRoundingMode) {
  Pair pair;
  pair.begin([](void* argument) {
    auto& self = *static_cast<Pair*>(argument);
    fesetround(FE_UPWARD);
    for (;;) {
      self.leave();
      self.rounding = fegetround();
    }
  });
  fesetround(FE_DOWNWARD);
  pair.visit();
  EXPECT_EQ(fegetround(), FE_DOWNWARD);
  pair.visit();
  EXPECT_EQ(pair.rounding, FE_UPWARD);
  EXPECT_EQ(fegetround(), FE_DOWNWARD);
  fesetround(FE_TONEAREST);
}

TEST(StackSwitchTest, ANewContextInheritsTheRoundingMode) {
  Pair pair;
  fesetround(FE_TOWARDZERO);
  pair.begin([](void* argument) {
    auto& self = *static_cast<Pair*>(argument);
    self.rounding = fegetround();
    self.leave();
  });
  fesetround(FE_TONEAREST);
  pair.visit();
  EXPECT_EQ(pair.rounding, FE_TOWARDZERO);
}

TEST(StackSwitchTest, UnwindingEndsWhereTheStackBegins) {
  Pair pair;
  pair.begin([](void* argument) {
    auto& self = *static_cast<Pair*>(argument);
    _Unwind_Backtrace(&count_frame, &self.frames);
    self.leave();
  });
  pair.visit();
  EXPECT_EQ(pair.frames, 2u) << "this function, and where a stack begins";
}

TEST(StackSwitchTest, BothWaysOfBeginningLeaveTheSameStack) {
  Pair pair;
  static std::uintptr_t frame;
  const auto note = [](void*) {
    frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  };
  weft_call_on_stack(pair.top(), note, nullptr);
  const std::uintptr_t called = frame;
  static Pair* current;
  current = &pair;
  pair.begin([](void*) {
    frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    current->leave();
  });
  pair.visit();
  EXPECT_EQ(frame, called);
}

}  // namespace
}  // namespace weft::executor
