// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <weft/weft.h>

#include "harness/cli/json.h"

namespace weft::cli {

/// What one suppressions file did for all scenarios of a command together.
class SuppressionUse {
 public:
  void add(const std::vector<Suppression>& suppressions);

  /// Those that were needed, on standard output.
  void print() const;
  /// Those that were not, on standard error.
  void warn_of_unused() const;
  [[nodiscard]] Json to_json() const;

  [[nodiscard]] const std::vector<Suppression>& all() const { return all_; }

 private:
  std::vector<Suppression> all_;
};

}  // namespace weft::cli
