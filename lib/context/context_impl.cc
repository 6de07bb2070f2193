// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/context_impl.h"

namespace weftrt {

ContextImpl::ContextImpl() {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda})
    devices[kind].facts = default_device_facts(kind);
}

void ContextImpl::seed_all(std::uint64_t seed) {
  for (DeviceContext& device : devices) device.generator = RandomGenerator(seed);
}

}  // namespace weftrt
