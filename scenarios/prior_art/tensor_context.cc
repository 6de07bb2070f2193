// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where a context travels with each tensor, one line that asks the global getter instead is enough:
// the tensor of before a change gets memory of after it.

#include <thread>

#include <weft/scenario.h>

#include "scenarios/prior_art/tensor_context.h"

namespace weft::prior_art {
namespace {

void compute_beside_a_change(Tensor (*like)(const Tensor&)) {
  std::thread worker([like] {
    const Tensor operand(GlobalContext::get());
    const Tensor result = like(operand);
  });
  GlobalContext::set(std::make_shared<const TensorContext>(TensorContext{kMarked<2>}));
  worker.join();
}

WEFT_SCENARIO(tensor_context_buggy,
              {.name = "prior_art/tensor_context.buggy",
               .summary = "a tensor's context, and memory by the global getter's",
               .expect = must_find("always"),
               .budget = 500}) {
  compute_beside_a_change(&empty_like_by_getter);
}

WEFT_SCENARIO(tensor_context_fixed, {.name = "prior_art/tensor_context.fixed",
                                     .summary = "all of a result comes from its operand's context",
                                     .expect = must_pass(),
                                     .budget = 500}) {
  compute_beside_a_change(&empty_like);
}

}  // namespace
}  // namespace weft::prior_art
