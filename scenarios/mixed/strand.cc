// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/strand.h"

#include <weft/weft.h>

#include <utility>

#include "scenarios/mixed/world.h"

namespace weft::mixed {

thread_local Strand* t_strand = nullptr;
thread_local std::array<ContextId, kMostCopies> t_keeps = {kNotRead, kNotRead};

Strand::Strand(World& world, unsigned number) : world_(world), number_(number) {
  for (unsigned copy = 0; copy < kMostCopies; ++copy) copies_[copy].follows = world.unbound(copy);
}

void Strand::run(const std::vector<Node>& block) {
  for (const Node& node : block) {
    world_.copy(node.copy).operations[node.operation].run(*this, node);
    world_.look_around();
  }
}

void Strand::run_to_its_end(const std::vector<Node>& block, bool rethrow) {
  // A pool's thread may be running another strand's work, and helps with ours from inside it.
  Strand* const outer = std::exchange(t_strand, this);
  bool thrown = false;
  try {
    run(block);
  } catch (const ProgramException&) {
    thrown = true;
  }
  world_.leave_behind(*this);
  t_strand = outer;
  if (thrown && rethrow) throw ProgramException();
}

std::uint64_t Strand::now() const { return world_.tick(); }

void Strand::record(ContextId context, std::uint64_t invoked, const ContextCall& call) {
  recorded_.push_back({context, {call, invoked, now()}});
}

ContextId Strand::new_context(const Settings& initial) {
  const auto id = static_cast<ContextId>(kMostCopies + number_ * 256 + begun_.size());
  begun_.push_back({id, initial, 0});
  return id;
}

void Strand::say_initial(ContextId context, const Settings& initial) {
  for (Begun& begun : begun_)
    if (begun.context == context) begun.initial = initial;
}

void Strand::join_one(std::uint32_t which) {
  if (const std::size_t open = threads.size() + submitted.size(); open != 0) {
    const std::size_t i = which % open;
    if (i < threads.size()) {
      threads[i].join();
      threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (!on_pool) {  // a pool's thread that waits for its pool may wait for itself
      await(submitted[i - threads.size()]);
      submitted.erase(submitted.begin() + static_cast<std::ptrdiff_t>(i - threads.size()));
    }
  }
}

void await(std::future<void>& submitted) {
  try {
    submitted.get();
  } catch (const ProgramException&) {
  } catch (const std::future_error& error) {
    always(error.code() == std::future_errc::broken_promise, "work was dropped by cancel() alone");
  }
}

}  // namespace weft::mixed
