// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is loaded into the process, and whether the alias executor can serve it.
//
// Thread-safety: the carrier's alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/fixed_vector.h"
#include "harness/executor/direct_tls.h"

namespace weft::executor {

/// One line about `use`, with the mend; valid until the next call.
[[nodiscard]] const char* describe(const DirectTls& use) noexcept;

class LoadedCode {
 public:
  /// What is there now has been examined.
  void accept() noexcept;
  /// Null, or what is the matter with what was loaded since: looked at once.
  [[nodiscard]] const char* objection() noexcept;

 private:
  static constexpr std::size_t kMaxModules = 512;

  [[nodiscard]] bool is_known(std::uintptr_t base) const noexcept;

  FixedVector<std::uintptr_t, kMaxModules> known_;  // load addresses
};

}  // namespace weft::executor
