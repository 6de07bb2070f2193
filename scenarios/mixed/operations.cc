// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of operations, and what is in it of contexts and threads.

#include "scenarios/mixed/operations.h"

#include <array>
#include <optional>

#include "lib/threads/spawn.h"
#include "scenarios/mixed/copy.h"

namespace weft::mixed::WEFT_RT {
namespace {

using Kind = ContextCall::Kind;

// ---- strands

// Of a strand that runs on a thread that the runtime gave the state of `parent`.
void begin_inherited(Strand& strand, unsigned copy, const StrandOfCopy& parent) {
  StrandOfCopy& mine = strand.of(copy);
  mine.follows = parent.follows;
  mine.overrides = parent.follows == kNoContext ? 0 : 1;
  mine.stash = inheritable(parent.stash);
}

void spawn_raw(Strand& strand, const Node& node) {
  Strand& child = strand.world().strand(node.strand);
  child.may_bind = true;
  child.on_pool = strand.on_pool;
  strand.world().allow_threads(1);
  strand.threads.push_back(
      rt::spawn_raw([&child, &node] { child.run_to_its_end(node.first, false); }));
}

void spawn_managed(Strand& strand, const Node& node) {
  Strand& child = strand.world().strand(node.strand);
  child.may_bind = true;
  child.on_pool = strand.on_pool;
  strand.world().allow_threads(1);
  // Under early binding, what the child inherits is what binds its parent, if nothing did.
  FirstRead first(strand, node.copy);
  begin_inherited(child, node.copy, strand.of(node.copy));
  strand.threads.push_back(rt::spawn_managed([&child, &node] {
    check_stash(child, node.copy);
    child.run_to_its_end(node.first, false);
  }));
  first.look();
}

// What is queued may still run when the pools are ended, and is then told so.
template <class Use>
void unless_it_ends(Strand& strand, Use use) {
  try {
    use();
  } catch (const rt::PoolShutDown&) {
    always(strand.world().ends_pools(), "a pool takes work until it is ended");
  }
}

void submit(Strand& strand, const Node& node) {
  Strand& child = strand.world().strand(node.strand);
  child.on_pool = true;
  FirstRead first(strand, node.copy);
  begin_inherited(child, node.copy, strand.of(node.copy));
  unless_it_ends(strand, [&] {
    strand.submitted.push_back(state_of(strand, node.copy).pool().submit([&child, &node] {
      child.world().adopt_thread(child);
      child.run_to_its_end(node.first, /*rethrow=*/true);
    }));
  });
  first.look();
}

// Its calls run here and on the pool's threads, all in this strand's state.
void loop(Strand& strand, const Node& node) {
  constexpr std::size_t kCalls = 3;
  State& state = state_of(strand, node.copy);
  FirstRead first(strand, node.copy);
  const ContextId follows = strand.of(node.copy).follows;
  unless_it_ends(strand, [&] {
    std::array<Timed<ContextCall>, kCalls> calls;
    state.pool().parallel_for(0, kCalls, [&](std::size_t i) {
      if (refused(strand, node.copy, [] { (void)rt::current(); })) return;
      calls[i].invoked = strand.now();
      calls[i].call.settings = observe(rt::current(), state);
      calls[i].returned = strand.now();
    });
    if (follows == kNoContext) return;
    for (const Timed<ContextCall>& call : calls) strand.record(follows, call);
  });
  first.look();
}

void join(Strand& strand, const Node& node) { strand.join_one(node.argument); }

// ---- contexts

constexpr std::uint8_t kAnyFields = 15;

std::uint8_t fields_of(const Node& node) {
  const auto fields = static_cast<std::uint8_t>(node.argument >> 28U & kAnyFields);
  return fields == 0 ? ContextCall::kAllocator | ContextCall::kSeed : fields;
}

void look_up(Strand& strand, const Node& node) { look(strand, node.copy); }

/// A copy of what the strand reads; where it has nothing to read, one of what there is without a
/// context.
rt::ContextImpl copied(Strand& strand, unsigned copy) {
  if (refused(strand, copy, [] { (void)rt::current(); })) return {};
  return read(strand, copy);
}

void ask_generation(Strand& strand, const Node& node) {
  const std::uint64_t begin = strand.now();
  const std::uint64_t seen = rt::generation();
  strand.record(node.copy, begin,
                {.kind = Kind::kGeneration, .saw_generation = true, .generation = seen});
}

void update(Strand& strand, const Node& node) {
  const State& state = state_of(strand, node.copy);
  const std::uint8_t fields = fields_of(node);
  const std::uint64_t begin = strand.now();
  const std::uint64_t made =
      rt::update_global([&](rt::ContextImpl& impl) { edit(impl, state, fields, node.argument); });
  strand.record(node.copy, begin,
                {.kind = Kind::kUpdate,
                 .fields = fields,
                 .saw_generation = true,
                 .generation = made,
                 .settings = edited({}, fields, node.argument)});
}

void swap(Strand& strand, const Node& node) {
  const State& state = state_of(strand, node.copy);
  rt::ContextImpl next = copied(strand, node.copy);
  edit(next, state, kAnyFields, node.argument);
  ContextCall call{.kind = Kind::kSwap, .given = observe(next, state)};
  const std::uint64_t begin = strand.now();
  call.settings = observe(rt::swap_global(std::move(next)), state);
  strand.record(node.copy, begin, call);
}

void override_context(Strand& strand, const Node& node) {
  State& state = state_of(strand, node.copy);
  rt::ContextImpl mine = copied(strand, node.copy);
  edit(mine, state, fields_of(node), node.argument);
  const ContextId id = strand.new_context(observe(mine, state));
  state.allow(1);  // for good: others may inherit it
  {
    rt::ContextOverride guard(std::move(mine));
    const Following following(strand.of(node.copy), id, &guard);
    (void)read(strand, node.copy);
    strand.run(node.first);
  }
  look(strand, node.copy);
}

void update_override(Strand& strand, const Node& node) {
  const StrandOfCopy& mine = strand.of(node.copy);
  auto* const guard = static_cast<rt::ContextOverride*>(mine.innermost_override);
  if (guard == nullptr) return update(strand, node);
  const State& state = state_of(strand, node.copy);
  const std::uint8_t fields = fields_of(node);
  const std::uint64_t begin = strand.now();
  const std::uint64_t made =
      guard->update([&](rt::ContextImpl& impl) { edit(impl, state, fields, node.argument); });
  strand.record(mine.follows, begin,
                {.kind = Kind::kUpdate,
                 .fields = fields,
                 .saw_generation = true,
                 .generation = made,
                 .settings = edited({}, fields, node.argument)});
}

// A read that keeps what it got.
void pin(Strand& strand, const Node& node) {
  if (refused(strand, node.copy, [] { (void)rt::pin(); })) return;
  State& state = state_of(strand, node.copy);
  const Allowance allowance(state);
  FirstRead first(strand, node.copy);
  const std::uint64_t begin = strand.now();
  const rt::ContextPin pinned = rt::pin();
  const ContextCall call{.saw_generation = true,
                         .generation = pinned.generation(),
                         .settings = observe(*pinned, state)};
  first.saw(call.settings);
  strand.record(strand.of(node.copy).follows, begin, call);
  strand.run(node.first);
  always(pinned.generation() == call.generation && observe(*pinned, state) == call.settings,
         "what is pinned does not change");
}

void restore_state(Strand& strand, const Node& node) {
  StrandOfCopy& mine = strand.of(node.copy);
  FirstRead first(strand, node.copy);
  const rt::InheritedState captured = rt::capture_inherited_state();
  first.look();
  const ContextId follows = mine.follows;
  always(captured.context.has_nothing() == (follows == kNoContext),
         "who has no context has none to hand on");
  const StashModel stash = inheritable(mine.stash);
  strand.run(node.first);
  {
    const rt::InheritedStateGuard guard(captured);
    std::optional<Following> following;
    if (follows != kNoContext) following.emplace(mine, follows, nullptr);
    const Merged merged(mine, stash);
    check_stash(strand, node.copy);
    look(strand, node.copy);
    strand.run(node.second);
  }
  check_stash(strand, node.copy);
  look(strand, node.copy);
}

// From here on the strand follows what the global context was; or is, where it follows it again.
void bind(Strand& strand, const Node& node) {
  StrandOfCopy& mine = strand.of(node.copy);
  if (!strand.may_bind || mine.overrides != 0) return;
  if (node.argument % 3 == 0) {
    rt::bind_thread(rt::Binding::kFollowGlobal);
    mine.follows = node.copy;
    return look(strand, node.copy);
  }
  State& state = state_of(strand, node.copy);
  state.allow(2);  // for good: others may inherit it
  const std::uint64_t begin = strand.now();
  rt::bind_thread(rt::Binding::kSnapshot);
  const Settings seen = observe(rt::current(), state);
  strand.record(node.copy, begin, {.settings = seen});
  mine.follows = strand.new_context(seen);
}

// ---- exceptions

void attempt(Strand& strand, const Node& node) {
  try {
    strand.run(node.first);
  } catch (const ProgramException&) {
    check_stash(strand, node.copy);
    look(strand, node.copy);
  }
}

void raise(Strand& /*strand*/, const Node& /*node*/) { throw ProgramException(); }

// The first row starts a strand, the last looks something up; see the generator.
constexpr Operation kOperations[] = {
    {"spawn raw thread", 8, Shape::kStrand, &spawn_raw},
    {"spawn managed thread", 8, Shape::kStrand, &spawn_managed},
    {"submit", 6, Shape::kStrand, &submit},
    {"parallel for", 3, Shape::kLeaf, &loop},
    {"join", 6, Shape::kLeaf, &join},
    {"update", 12, Shape::kLeaf, &update},
    {"swap", 8, Shape::kLeaf, &swap},
    {"generation", 3, Shape::kLeaf, &ask_generation},
    {"override", 8, Shape::kScope, &override_context},
    {"update override", 6, Shape::kLeaf, &update_override},
    {"restore state", 6, Shape::kTwoParts, &restore_state},
    {"bind", 4, Shape::kLeaf, &bind},
    {"pin", 8, Shape::kScope, &pin},
    {"allocate", 8, Shape::kScope, &allocate},
    {"ask for facts", 8, Shape::kLeaf, &ask_facts},
    {"register operator", 8, Shape::kLeaf, &register_operator},
    {"open library of operators", 2, Shape::kLeaf, &open_operators},
    {"call operator", 8, Shape::kLeaf, &call_operator},
    {"stash", 8, Shape::kLeaf, &stash_set},
    {"erase", 5, Shape::kLeaf, &stash_erase},
    {"initialise", 8, Shape::kLeaf, &stash_initialise},
    {"restore stash", 6, Shape::kTwoParts, &stash_restore},
    {"try", 5, Shape::kScope, &attempt},
    {"throw", 3, Shape::kLeaf, &raise},
    {"read", 12, Shape::kLeaf, &look_up},
};

}  // namespace

const rt::ContextImpl& read(Strand& strand, unsigned copy) {
  FirstRead first(strand, copy);
  const std::uint64_t begin = strand.now();
  const rt::ContextImpl& impl = rt::current();
  const Settings seen = observe(impl, state_of(strand, copy));
  first.saw(seen);
  strand.record(strand.of(copy).follows, begin, {.settings = seen});
  return impl;
}

void look(Strand& strand, unsigned copy) {
  if (refused(strand, copy, [] { (void)rt::current(); })) return;
  (void)read(strand, copy);
}

FirstRead::FirstRead(Strand& strand, unsigned copy)
    : strand_(strand), copy_(copy), first_(strand.of(copy).follows == kNotRead) {
  if (!first_) return;
  state_of(strand, copy).allow(2);  // for good: others may inherit it
  strand.of(copy).follows = t_keeps[copy] = strand.new_context();
  begin_ = strand.now();
}

void FirstRead::saw(const Settings& settings) {
  if (!first_) return;
  strand_.record(copy_, begin_, {.settings = settings});
  strand_.say_initial(strand_.of(copy_).follows, settings);
}

void FirstRead::look() {
  if (first_) saw(observe(rt::current(), state_of(strand_, copy_)));
}

Copy runtime() {
  return {kOperations, [](World& world, unsigned copy, const Program& program) {
            return std::unique_ptr<CopyState>(std::make_unique<State>(world, copy, program));
          }};
}

}  // namespace weft::mixed::WEFT_RT
