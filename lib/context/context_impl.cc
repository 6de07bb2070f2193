// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/context_impl.h"

#include <stdexcept>
#include <string>

namespace weftrt {

ContextImpl::ContextImpl() {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda})
    devices[kind].facts = default_device_facts(kind);
}

void ContextImpl::seed_all(std::uint64_t seed) {
  for (DeviceContext& device : devices) device.generator = RandomGenerator(seed);
}

namespace detail {
namespace {

[[noreturn]] void refuse(DeviceKind kind, const char* what) {
  throw std::invalid_argument("a context for device kind '" + std::string(name_of(kind)) +
                              "': null " + what);
}

}  // namespace

void refuse_incomplete(const ContextImpl& impl) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    const DeviceContext& device = impl.on(kind);
    if (device.allocator.allocate_fn == nullptr) refuse(kind, "allocator.allocate_fn");
    if (device.allocator.deallocate_fn == nullptr) refuse(kind, "allocator.deallocate_fn");
    if (device.facts == nullptr) refuse(kind, "facts");
  }
}

}  // namespace detail

}  // namespace weftrt
