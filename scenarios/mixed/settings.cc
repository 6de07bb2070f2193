// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/marked_memory.h"
#include "scenarios/mixed/copy.h"

namespace weft::mixed::WEFT_RT {
namespace {

// Four allocators that can be told apart by each of their parts.
constexpr unsigned kAllocators = 4;

char g_states[kAllocators];

template <int kOwner>
constexpr rt::Allocator marked() {
  return {.allocate_fn = [](void* /*state*/,
                            std::size_t bytes) { return allocate_marked<kOwner>(bytes); },
          .deallocate_fn = [](void* /*state*/, void* memory,
                              std::size_t /*bytes*/) { deallocate_marked<kOwner>(memory); },
          .state = &g_states[kOwner - 1],
          .flags = static_cast<rt::AllocatorFlags>(kOwner)};
}
const rt::Allocator g_allocators[kAllocators] = {marked<1>(), marked<2>(), marked<3>(),
                                                 marked<4>()};

std::uint8_t mark_of(const rt::Allocator& allocator) {
  for (unsigned i = 0; i < kAllocators; ++i)
    if (allocator == g_allocators[i]) return static_cast<std::uint8_t>(i + 1);
  always(allocator == rt::system_allocator(), "the parts of an allocator belong together");
  return 0;
}

constexpr rt::PropertyKey<std::int64_t> kProperty{"mixed.property"};
constexpr rt::DeviceKind kKinds[] = {rt::DeviceKind::kCpu, rt::DeviceKind::kCuda};

}  // namespace

Settings edited(Settings settings, std::uint8_t fields, std::uint32_t argument) {
  using Call = ContextCall;
  if ((fields & Call::kAllocator) != 0)
    settings.allocator = static_cast<std::uint8_t>(1 + argument % kAllocators);
  if ((fields & Call::kSeed) != 0)
    settings.seed = static_cast<std::uint16_t>(1 + argument / 16 % 1000);
  if ((fields & Call::kProperty) != 0)
    settings.property = static_cast<std::uint16_t>(1 + argument / 256 % 1000);
  if ((fields & Call::kFacts) != 0) settings.facts = 1;
  return settings;
}

void edit(rt::ContextImpl& impl, const State& state, std::uint8_t fields, std::uint32_t argument) {
  using Call = ContextCall;
  const Settings to = edited({}, fields, argument);
  if ((fields & Call::kAllocator) != 0)
    for (const rt::DeviceKind kind : kKinds)
      impl.on(kind).allocator = g_allocators[to.allocator - 1];
  if ((fields & Call::kSeed) != 0) impl.seed_all(to.seed);
  if ((fields & Call::kProperty) != 0) impl.properties.set(kProperty, std::int64_t{to.property});
  if ((fields & Call::kFacts) != 0) impl.on(rt::DeviceKind::kCuda).facts = state.facts;
}

Settings observe(const rt::ContextImpl& impl, const State& state) {
  Settings seen;
  seen.allocator = mark_of(impl.on(rt::DeviceKind::kCpu).allocator);
  always(seen.allocator == mark_of(impl.on(rt::DeviceKind::kCuda).allocator),
         "what was changed as one is seen as one");
  const std::uint64_t seed = impl.seed();
  always(seed == impl.seed(rt::DeviceKind::kCuda), "what was changed as one is seen as one");
  if (seed != rt::RandomGenerator::kDefaultSeed) seen.seed = static_cast<std::uint16_t>(seed);
  seen.property = static_cast<std::uint16_t>(impl.properties.value_or(kProperty, std::int64_t{0}));
  seen.facts = impl.on(rt::DeviceKind::kCuda).facts == state.facts ? 1 : 0;
  for (unsigned which = 0; which < kOperators; ++which)
    seen.operators[which] = operator_in(impl, which);
  return seen;
}

namespace {

constexpr std::size_t kBytes = 8;

struct Memory {
  explicit Memory(const rt::Allocator& from) : from(from), bytes(from.allocate(kBytes)) {}
  ~Memory() { from.deallocate(bytes, kBytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  const rt::Allocator& from;
  void* bytes;
};

}  // namespace

void allocate(Strand& strand, const Node& node) {
  if (refused(strand, node.copy, [] { (void)rt::pin(); })) return;
  const Allowance allowance(state_of(strand, node.copy));
  FirstRead first(strand, node.copy);
  const rt::ContextPin context = rt::pin();
  first.look();
  const Memory memory(context->on(kKinds[node.argument % 2]).allocator);
  strand.run(node.first);
}

}  // namespace weft::mixed::WEFT_RT
