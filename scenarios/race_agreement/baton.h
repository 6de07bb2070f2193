// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whose turn it is, in a way that ThreadSanitizer cannot see: compiled without
// instrumentation, system calls without libc. So it orders the threads in time
// and adds nothing to what their own operations order.
#pragma once

#include <cstdint>

namespace race_agreement {

class Baton {
 public:
  /// Returns when everything before `position` has been done.
  void await(std::int32_t position);
  /// `position` has been done.
  void pass(std::int32_t position);
  [[nodiscard]] std::int32_t position() const;

 private:
  std::int32_t next_ = 0;
};

}  // namespace race_agreement
