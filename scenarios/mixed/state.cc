// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/copy.h"

namespace weft::mixed::WEFT_RT {
namespace {

rt::BindingPolicy policy_of(Policy policy) {
  switch (policy) {
    case Policy::kLate: return rt::BindingPolicy::kLate;
    case Policy::kEarly: return rt::BindingPolicy::kEarly;
    case Policy::kExplicitOnly: return rt::BindingPolicy::kExplicitOnly;
  }
  return rt::BindingPolicy::kLate;
}

}  // namespace

rt::ManagedPool& State::pool() {
  const std::lock_guard lock(mutex_);
  if (!pool_.has_value()) {
    if (ended_) throw rt::PoolShutDown();
    world.allow_threads(program_.pool_threads);
    pool_.emplace(program_.pool_threads);
  }
  return *pool_;
}

void State::begin(Strand& main) {
  rt::set_binding_policy(policy_of(program_.policies[copy]));
  if (program_.gives_main_one[copy]) {
    rt::bind_thread(rt::Binding::kFollowGlobal);
    main.of(copy).follows = copy;
  }
  // Under exploration the first use of all is left to the program; natively there was one before.
  if (exploring()) return;
  (void)rt::swap_global({});
  main.begin_context(copy, rt::generation());
}

void State::end_pool(bool cancel) {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!pool_.has_value()) return;
  }
  if (cancel) {
    pool_->cancel();
  } else {
    pool_->finish();
  }
}

void State::check_end(Strand& main) {
  stash_clear(main, copy);
  if (main.of(copy).follows != copy) {
    rt::bind_thread(rt::Binding::kFollowGlobal);
    main.of(copy).follows = copy;
  }
  (void)read(main, copy);
  // That of the global cell, which is the one that this thread holds.
  always(rt::live_implementations() == 1, "a replaced context goes with its last user");
}

bool State::holds() const {
  // The living first: by then they were allowed.
  const std::size_t live = rt::live_implementations();
  return live <= static_cast<std::size_t>(allowed_.load(std::memory_order_relaxed));
}

}  // namespace weft::mixed::WEFT_RT
