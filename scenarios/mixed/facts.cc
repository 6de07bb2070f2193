// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/copy.h"

namespace weft::mixed::WEFT_RT {

int CountingProbe::count() const {
  // relaxed, here and below: the runtime is what orders one after the other.
  always(asking_.fetch_add(1, std::memory_order_relaxed) == 0,
         "one thread at a time asks for a lazily filled fact");
  const int before = counted_.fetch_add(1, std::memory_order_relaxed);
  always(before == 0, "a lazily filled fact is asked for once");
  asking_.fetch_sub(1, std::memory_order_relaxed);
  return kDevices;
}

rt::DeviceProperties CountingProbe::properties(int device) const {
  const int before = described_[device].fetch_add(1, std::memory_order_relaxed);
  // The first answer is lost, so that the next who wants to know asks again.
  if (before == 0) throw ProgramException();
  always(before == 1, "a fact is asked for again only where there was no answer");
  return {.name = "device", .memory_bytes = 4096, .processors = 1 + device};
}

void ask_facts(Strand& strand, const Node& node) {
  if (refused(strand, node.copy, [] { (void)rt::pin(); })) return;
  const Allowance allowance(state_of(strand, node.copy));
  FirstRead first(strand, node.copy);
  const rt::ContextPin context = rt::pin();
  first.look();
  const rt::DeviceFacts& facts = *context->on(rt::DeviceKind::kCuda).facts;
  if (&facts != state_of(strand, node.copy).facts.get()) {
    always(facts.count() == 0, "there is no device by default");
    return;
  }
  always(facts.count() == CountingProbe::kDevices, "a lazily filled fact is what was found out");
  const int device = static_cast<int>(node.argument % CountingProbe::kDevices);
  try {
    const rt::DeviceProperties& properties = facts.properties(device);
    always(properties.processors == 1 + device, "a lazily filled fact is what was found out");
    always(properties.memory_bytes == 4096, "a lazily filled fact is whole");
  } catch (const ProgramException&) {
  }
}

}  // namespace weft::mixed::WEFT_RT
