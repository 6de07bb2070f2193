// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/task.h"

namespace weft::engine {

constinit thread_local Task* current_task = nullptr;
constinit int* shared_error_number = nullptr;

void Task::run() {
  current_task = this;
  main(*this);
}

}  // namespace weft::engine
