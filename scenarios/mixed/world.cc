// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/world.h"

#include <weft/weft.h>

#include <map>
#include <utility>

namespace weft::mixed {
namespace {

/// For the invariant, which outlives the world.
constinit World* running = nullptr;

constexpr const char* kInvariant =
    "no more objects destroyed than created, no more contexts alive than are in use";

}  // namespace

World::World(const Program& program, std::span<const Copy> copies)
    : program_(program), copies_(copies) {
  for (unsigned i = 0; i < program.copies; ++i)
    states_[i] = copies[i].make_state(*this, i, program);
}

ContextId World::unbound(unsigned copy) const {
  switch (program_.policies[copy]) {
    case Policy::kLate: return copy;
    case Policy::kEarly: return kNotRead;
    case Policy::kExplicitOnly: return kNoContext;
  }
  return copy;
}

Strand& World::strand(unsigned number) {
  strands_[number] = std::make_unique<Strand>(*this, number);
  return *strands_[number];
}

void World::allow_threads(unsigned n) {
  for (unsigned i = 0; i < program_.copies; ++i) states_[i]->allow(2 * static_cast<int>(n));
}

void World::adopt_thread(Strand& strand) {
  for (unsigned i = 0; i < program_.copies; ++i) states_[i]->adopt_thread(strand);
}

void World::leave_behind(Strand& strand) {
  if (strand.threads.empty() && strand.submitted.empty()) return;
  const std::lock_guard lock(mutex_);
  for (std::thread& thread : strand.threads) threads_.push_back(std::move(thread));
  for (auto& submitted : strand.submitted) submitted_.push_back(std::move(submitted));
  strand.threads.clear();
  strand.submitted.clear();
}

void World::run() {
  Strand& main = strand(0);
  main.may_bind = true;
  t_strand = &main;
  running = this;
  invariant([] { return running == nullptr || running->holds(); }, kInvariant);
  for (unsigned i = 0; i < program_.copies; ++i) states_[i]->begin(main);
  try {
    main.run(program_.main);
  } catch (const ProgramException&) {
  }
  leave_behind(main);
  join_all();
  for (unsigned i = 0; i < program_.copies; ++i) states_[i]->check_end(main);
  const std::uint64_t created = created_.load(std::memory_order_relaxed);
  always(created == destroyed_.load(std::memory_order_relaxed),
         "every object that was stashed is destroyed, once");
  check_histories();
  running = nullptr;
  t_strand = nullptr;
}

// Who is joined may have left others behind, and work that is queued may start threads.
void World::join_all() {
  bool ended = false;
  for (;;) {
    std::vector<std::thread> threads;
    std::vector<std::future<void>> submitted;
    {
      const std::lock_guard lock(mutex_);
      threads.swap(threads_);
      submitted.swap(submitted_);
    }
    for (std::thread& thread : threads) thread.join();
    if (threads.empty() && !ended) {
      ends_pools_.store(true, std::memory_order_relaxed);
      for (unsigned i = 0; i < program_.copies; ++i) states_[i]->end_pool(program_.cancel_pools);
      ended = true;
    } else if (threads.empty() && submitted.empty()) {
      return;
    }
    // Not before the pools end: those that are cancelled are to have something to drop.
    if (ended) {
      for (auto& work : submitted) await(work);
    } else {
      const std::lock_guard lock(mutex_);
      for (auto& work : submitted) submitted_.push_back(std::move(work));
    }
  }
}

void World::check_histories() const {
  std::map<ContextId, std::pair<ContextModel, std::vector<Timed<ContextCall>>>> histories;
  for (const auto& strand : strands_) {
    if (strand == nullptr) continue;
    for (const Strand::Begun& begun : strand->begun())
      histories[begun.context].first = ContextModel(begun.initial, begun.generation);
    for (const Strand::Recorded& recorded : strand->recorded())
      histories[recorded.context].second.push_back(recorded.timed);
  }
  for (auto& [context, history] : histories) {
    always(linearizable(std::move(history.first), std::move(history.second)),
           context < kMostCopies ? "what threads saw of the global context is linearizable"
                                 : "what threads saw of an override is linearizable");
  }
}

bool World::holds() const {
  // The destroyed first: it may only be what was created before.
  const std::uint64_t destroyed = destroyed_.load(std::memory_order_relaxed);
  if (destroyed > created_.load(std::memory_order_relaxed)) return false;
  for (unsigned i = 0; i < program_.copies; ++i)
    if (!states_[i]->holds()) return false;
  return true;
}

void World::look_around() const {
  if (!exploring()) always(holds(), kInvariant);
}

void run_program(std::uint64_t number, std::span<const Copy> copies) {
  const Program program =
      generate(number, copies[0].operations, static_cast<unsigned>(copies.size()));
  World(program, copies).run();
}

}  // namespace weft::mixed
