// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "counter.h"

void Counter::add_torn() {
  const int before = value();
  std::lock_guard lock(mutex_);
  value_ = before + 1;
}

void Counter::add() {
  std::lock_guard lock(mutex_);
  ++value_;
}

int Counter::value() {
  std::lock_guard lock(mutex_);
  return value_;
}
