// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <memory>

#include "lib/base/device_kind.h"
#include "lib/context/allocator.h"
#include "lib/context/device_facts.h"
#include "lib/context/properties.h"
#include "lib/context/random_generator.h"
#include "lib/dispatch/operator_table.h"

namespace weftrt {

// What a context says about one kind of device.
struct DeviceContext {
  Allocator allocator = system_allocator();
  RandomGenerator generator;                 // the default one
  std::shared_ptr<const DeviceFacts> facts;  // not null in what is published

  friend bool operator==(const DeviceContext&, const DeviceContext&) = default;
};

// Everything that a context says, as one plain value. It is not written once it is published: a
// change copies it, edits the copy and publishes that, so a reader sees all of it or nothing.
//
// `ContextImpl{}` has the defaults, and no operators: to keep those that are registered, begin with
// a copy of current().
//
// What is published must have, for each kind of device, facts and both functions of an allocator:
// readers use them unasked. swap_global(), update_global(), ContextOverride's constructor and its
// update() throw std::invalid_argument for one that lacks any, and change nothing.
// `DeviceContext{}` and what was moved from have no facts.
//
// A new field must keep the type regular (default, copy, compare): publishing relies on copying,
// and tests and oracles on comparing.
struct ContextImpl {
  ContextImpl();

  PerDeviceKind<DeviceContext> devices;
  OperatorTable operators;
  Properties properties;

  [[nodiscard]] const DeviceContext& on(DeviceKind kind) const noexcept { return devices[kind]; }
  [[nodiscard]] DeviceContext& on(DeviceKind kind) noexcept { return devices[kind]; }

  // Gives every kind of device a new generator of that seed, at position 0.
  void seed_all(std::uint64_t seed);
  [[nodiscard]] std::uint64_t seed(DeviceKind kind = DeviceKind::kCpu) const noexcept {
    return devices[kind].generator.seed();
  }

  friend bool operator==(const ContextImpl&, const ContextImpl&) = default;
};

namespace detail {

// Throws std::invalid_argument, which names the kind of device and what it lacks.
void refuse_incomplete(const ContextImpl& impl);

}  // namespace detail

}  // namespace weftrt
