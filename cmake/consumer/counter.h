// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <mutex>

class Counter {
 public:
  // Reads and writes under two holdings of the lock: an update between them is lost.
  void add_torn();
  void add();
  int value();

 private:
  std::mutex mutex_;
  int value_ = 0;
};
