// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the harness does for the genuine ThreadSanitizer, where the code under test has it
// (WEFT_TSAN); nothing at all elsewhere. docs/adr/0009 has what was measured.
//
// The run-time library keeps whom it takes the running code for in a thread_local that it reads by
// %fs itself: the carrier's, whichever task runs. A task is a fiber to it, and a change of task a
// change of fiber, without the edge that the library makes of one unless it is told not to: that
// would order everything, and no race were left.
#pragma once

#ifdef WEFT_TSAN
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::tsan {

#ifdef WEFT_TSAN

inline constexpr bool kEnabled = true;

/// From here on this process prints no report.
inline void mute() noexcept { __sanitizer_set_report_path("/dev/null"); }

/// Whom the library takes the running code for. Zero bytes: nobody.
class Fiber {
 public:
  /// Whom it takes it for now.
  void adopt() noexcept { fiber_ = __tsan_get_current_fiber(); }
  /// Somebody new, where there is nobody. Reports say that the running code created it.
  void create_once() noexcept {
    if (fiber_ == nullptr) fiber_ = __tsan_create_fiber(0);
  }
  /// From here on.
  void enter() const noexcept { __tsan_switch_to_fiber(fiber_, __tsan_switch_to_fiber_no_sync); }
  /// After a task that was dropped where it stood: its frames and locks are nobody's any more. Not
  /// while it is entered.
  void destroy() noexcept {
    __tsan_destroy_fiber(fiber_);
    fiber_ = nullptr;
  }

 private:
  void* fiber_;
};

#else

inline constexpr bool kEnabled = false;

inline void mute() noexcept {}

class Fiber {
 public:
  void adopt() noexcept {}
  void create_once() noexcept {}
  void enter() const noexcept {}
  void destroy() noexcept {}
};

#endif

}  // namespace weft::tsan
