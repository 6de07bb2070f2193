// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/context_model.h"

namespace weft::mixed {

bool ContextModel::apply(const Call& call) {
  using Kind = Call::Kind;
  switch (call.kind) {
    case Kind::kRead:
      if (call.settings != settings_) return false;
      break;
    case Kind::kReadOperator:
      if (call.settings.operators[call.which] != settings_.operators[call.which]) return false;
      break;
    case Kind::kGeneration: break;
    case Kind::kUpdate:
      if ((call.fields & Call::kAllocator) != 0) settings_.allocator = call.settings.allocator;
      if ((call.fields & Call::kSeed) != 0) settings_.seed = call.settings.seed;
      if ((call.fields & Call::kProperty) != 0) settings_.property = call.settings.property;
      if ((call.fields & Call::kFacts) != 0) settings_.facts = call.settings.facts;
      ++generation_;
      break;
    case Kind::kSwap:
      if (call.settings != settings_) return false;
      settings_ = call.given;
      ++generation_;
      break;
    case Kind::kRegister: {
      std::uint8_t& present = settings_.operators[call.which];
      const std::uint8_t wanted = call.settings.operators[call.which];
      if (present != 0 && present != wanted) return false;
      present = wanted;
      ++generation_;
      break;
    }
    case Kind::kRefused: {
      const std::uint8_t present = settings_.operators[call.which];
      if (present == 0 || present == call.settings.operators[call.which]) return false;
      break;
    }
  }
  return !call.saw_generation || call.generation == generation_;
}

std::uint64_t ContextModel::state() const {
  // Each value that a program sets is below 2^8, and the generations of
  // one history are no more than its calls: nothing is mistaken for another.
  std::uint64_t packed = generation_;
  packed = packed << 8U | settings_.allocator;
  packed = packed << 4U | settings_.facts;
  packed = packed << 12U | settings_.seed;
  packed = packed << 12U | settings_.property;
  for (const std::uint8_t function : settings_.operators) packed = packed << 4U | function;
  return packed;
}

}  // namespace weft::mixed
