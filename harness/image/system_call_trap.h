// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tells of the first system call that the code under test makes, before it happens.
//
// The kernel's own means (prctl(2), PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11 and later): while a
// byte of ours says so, a system call of this thread becomes SIGSYS. Tasks that make none, and most
// make none, pay nothing for it.
//
// Thread-safety: of the thread that called prepare().
#pragma once

#include <signal.h>

namespace weft::image {

class SystemCallTrap {
 public:
  SystemCallTrap() noexcept = default;
  /// The kernel looks at our byte until then.
  ~SystemCallTrap();
  SystemCallTrap(const SystemCallTrap&) = delete;
  SystemCallTrap& operator=(const SystemCallTrap&) = delete;

  /// False where the kernel lacks it.
  bool prepare() noexcept;

  void arm() noexcept { selector_ = kBlock; }
  void disarm() noexcept { selector_ = kAllow; }
  bool armed() const noexcept { return selector_ == kBlock; }

  /// Whether `signal` is the trap's. It is disarmed then, and the system call happens when the
  /// handler returns.
  bool sprang(int signal, const siginfo_t& info, void* context) noexcept;

 private:
  // The kernel's values (linux/prctl.h).
  static constexpr char kAllow = 0;
  static constexpr char kBlock = 1;

  volatile char selector_ = kAllow;
  bool prepared_ = false;
};

}  // namespace weft::image
