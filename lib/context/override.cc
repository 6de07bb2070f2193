// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/override.h"

#include "lib/base/check.h"

namespace weftrt {

namespace detail {

OverrideFrame::OverrideFrame(CapturedContext target)
    : target_(std::move(target)),
      cell_(target_.follows_global() ? &global_cell() : target_.cell_.get()),
      outer_(t_context.override_frame) {
  t_context.override_frame = this;
  nothing_usable(t_context);
}

OverrideFrame::~OverrideFrame() {
  check(t_context.override_frame == this,
        "a context override ended out of order, or on another thread than it began");
  t_context.override_frame = outer_;
  // What the thread read last stays held, hence valid, until its next current().
  nothing_usable(t_context);
}

const OverrideFrame* innermost_that_says() noexcept {
  const OverrideFrame* frame = t_context.override_frame;
  while (frame != nullptr && frame->target().has_nothing()) frame = frame->outer();
  return frame;
}

}  // namespace detail

CapturedContext capture_context() {
  using Says = CapturedContext::Says;
  if (const detail::OverrideFrame* frame = detail::innermost_that_says()) return frame->target();
  if (!thread_has_context()) return CapturedContext(Says::kNothing);
  (void)detail::base_cell();
  auto snapshot = detail::shared_snapshot();
  return snapshot == nullptr ? CapturedContext(Says::kGlobal)
                             : CapturedContext(std::move(snapshot));
}

detail::ContextCell& ContextOverride::checked_cell() const noexcept {
  detail::check(frame_.target().cell_ != nullptr,
                "update() of an override that follows the global context");
  return frame_.cell();
}

}  // namespace weftrt
