// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// docs/cases.md 15: an operator is registered late, by a library that another thread loads. A
// context that was taken before does not have it, one that was taken after does. The mutant adds to
// the table that contexts share.

#include <cassert>
#include <thread>

#include "lib/context/operators.h"
#include "scenarios/runtime_story.h"

namespace {

int add_one(int x) { return x + 1; }

WEFT_SCENARIO(late_registration,
              {.name = "dispatch/late_registration" WEFT_VARIANT,
               .summary = by_variant("an operator appears in a context that is in use",
                                     "an operator is in the contexts taken after it, and no other"),
               .expect = expect_with_mutant("data_race", "assertion"),
               .budget = 1000}) {
  const rt::Operator<int(int)> op("scenarios.late_registration.add_one");
  const auto in = [&op](const rt::ContextImpl& context) {
    return context.operators.find(op, rt::DeviceKind::kCpu) != nullptr;
  };
  std::thread late([&op] { rt::register_operator(op, rt::DeviceKind::kCpu, &add_one); });
  {
    const rt::ContextPin context = rt::pin();
    const bool planned = in(*context);
    assert(in(*context) == planned);
    late.join();
    assert(in(*context) == planned);
  }
  assert(rt::call(op, rt::DeviceKind::kCpu, 1) == 2);
}

}  // namespace
