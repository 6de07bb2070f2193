// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What libraries tell ThreadSanitizer about an order that it does not see. They
// declare these functions themselves where __has_feature(thread_sanitizer), and
// expect the run-time library to define them.
#include "harness/intercept/interpose.h"

using namespace weft::intercept;

namespace {

std::uintptr_t noted(Task& self, const volatile void* object) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  self.execution->memory().synchronises(address);
  return address;
}

}  // namespace

/// What the caller did so far happens before whatever follows an AnnotateHappensAfter(object).
WEFT_INTERPOSE void AnnotateHappensBefore(const char*, int, const volatile void* object) {
  if (Task* const self = current_task) self->execution->release(*self, noted(*self, object));
}

WEFT_INTERPOSE void AnnotateHappensAfter(const char*, int, const volatile void* object) {
  if (Task* const self = current_task) self->execution->acquire(*self, noted(*self, object));
}
