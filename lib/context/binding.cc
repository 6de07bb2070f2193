// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/binding.h"

#include <atomic>
#include <utility>

#include "lib/context/override.h"
#include "lib/context/slot.h"

namespace weftrt {

namespace detail {

struct Snapshot {
  std::shared_ptr<ContextCell> cell;
};

namespace {

constinit std::atomic<BindingPolicy> g_policy{BindingPolicy::kLate};

void bind_to(ContextCell& cell, Snapshot* snapshot) noexcept {
  t_context.base = &cell;
  nothing_usable(t_context);
  delete std::exchange(t_context.snapshot, snapshot);
}

std::shared_ptr<ContextCell> copy_of_global() {
  const NodeReference now(global_cell().acquire());
  return std::make_shared<ContextCell>(now->impl);
}

}  // namespace

ContextCell& base_cell() {
  if (t_context.base == nullptr) {
    switch (binding_policy()) {
      case BindingPolicy::kLate: bind_thread(Binding::kFollowGlobal); break;
      case BindingPolicy::kEarly: bind_thread(Binding::kSnapshot); break;
      case BindingPolicy::kExplicitOnly: throw NoContext();
    }
  }
  return *t_context.base;
}

std::shared_ptr<ContextCell> shared_snapshot() noexcept {
  return t_context.snapshot == nullptr ? nullptr : t_context.snapshot->cell;
}

void drop_snapshot() noexcept {
  // Who has a snapshot took it from the global cell, which therefore exists.
  if (t_context.snapshot != nullptr) bind_to(global_cell(), nullptr);
}

}  // namespace detail

// relaxed: a setting; what orders it against the start of threads is their creation.
void set_binding_policy(BindingPolicy policy) noexcept {
  detail::g_policy.store(policy, std::memory_order_relaxed);
}
BindingPolicy binding_policy() noexcept { return detail::g_policy.load(std::memory_order_relaxed); }

void bind_thread(Binding binding) {
  detail::attach_slot();
  switch (binding) {
    case Binding::kFollowGlobal: detail::bind_to(detail::global_cell(), nullptr); break;
    case Binding::kSnapshot: {
      auto snapshot = std::make_unique<detail::Snapshot>(detail::copy_of_global());
      detail::ContextCell& cell = *snapshot->cell;
      detail::bind_to(cell, snapshot.release());
      break;
    }
  }
}

bool thread_has_context() noexcept {
  return binding_policy() != BindingPolicy::kExplicitOnly || detail::t_context.base != nullptr ||
         detail::innermost_that_says() != nullptr;
}

NoContext::NoContext()
    : std::logic_error(
          "this thread was never given a context, and the policy is kExplicitOnly: start it by "
          "spawn_managed() on a thread that has one, or call bind_thread()") {}

}  // namespace weftrt
