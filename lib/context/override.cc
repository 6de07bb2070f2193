// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/override.h"

#include "lib/base/check.h"

namespace weftrt {

namespace detail {

OverrideFrame::OverrideFrame(std::shared_ptr<ContextCell> cell)
    : cell_(std::move(cell)), outer_cell_(t_context.cell), outer_(t_context.override_frame) {
  t_context.cell = cell_ == nullptr ? &global_cell() : cell_.get();
  t_context.override_frame = this;
}

OverrideFrame::~OverrideFrame() {
  check(t_context.override_frame == this,
        "a context override ended out of order, or on another thread than it began");
  t_context.override_frame = outer_;
  // What the thread read last stays held, hence valid, until its next current().
  t_context.cell = outer_cell_;
}

}  // namespace detail

CapturedOverride captured_override() {
  const detail::OverrideFrame* frame = detail::t_context.override_frame;
  return frame == nullptr ? CapturedOverride() : CapturedOverride(frame->cell());
}

detail::ContextCell& ContextOverride::checked_cell() const noexcept {
  detail::check(frame_.cell() != nullptr,
                "update() of an override that follows the global context");
  return *frame_.cell();
}

}  // namespace weftrt
