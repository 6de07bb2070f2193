// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/context/device_facts.h"

#include <unistd.h>

#include <stdexcept>
#include <thread>
#include <utility>

namespace weftrt {
namespace {

class CpuProbe : public DeviceProbe {
 public:
  [[nodiscard]] int count() const override { return 1; }
  [[nodiscard]] DeviceProperties properties(int /*device*/) const override {
    // sysconf() answers -1 for what it does not know; 0 then, as for hardware_concurrency().
    const auto or_zero = [](long answer) {
      return static_cast<std::uint64_t>(answer < 0 ? 0 : answer);
    };
    return {.name = "cpu",
            .memory_bytes = or_zero(sysconf(_SC_PHYS_PAGES)) * or_zero(sysconf(_SC_PAGESIZE)),
            .processors = static_cast<int>(std::thread::hardware_concurrency())};
  }
};

class NoDevices : public DeviceProbe {
 public:
  [[nodiscard]] int count() const override { return 0; }
  [[nodiscard]] DeviceProperties properties(int /*device*/) const override { return {}; }
};

}  // namespace

DeviceFacts::DeviceFacts(std::unique_ptr<const DeviceProbe> probe) : probe_(std::move(probe)) {}

const DeviceFacts::Devices& DeviceFacts::devices() const {
  return devices_.get([this] {
    const int count = probe_->count();
    if (count < 0) throw std::logic_error("a device probe counts fewer than no devices");
    return Devices(static_cast<std::size_t>(count));
  });
}

const DeviceProperties& DeviceFacts::properties(int device) const {
  const Devices& all = devices();
  if (device < 0 || static_cast<std::size_t>(device) >= all.size())
    throw std::out_of_range("no device " + std::to_string(device) + ": there are " +
                            std::to_string(all.size()));
  return all[static_cast<std::size_t>(device)].get([&] { return probe_->properties(device); });
}

std::shared_ptr<const DeviceFacts> default_device_facts(DeviceKind kind) {
  // Never destroyed, as the global context is not, which holds them. The empty owner keeps the
  // count of who uses them, which all threads would write, out of every copy of a context.
  static const auto* const cpu = new DeviceFacts(std::make_unique<CpuProbe>());
  static const auto* const cuda = new DeviceFacts(std::make_unique<NoDevices>());
  const DeviceFacts* const facts = kind == DeviceKind::kCpu ? cpu : cuda;
  return {std::shared_ptr<const void>(), facts};
}

}  // namespace weftrt
