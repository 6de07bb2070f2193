// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/device_kind.h"
#include "lib/base/lazy.h"

namespace weftrt {

struct DeviceProperties {
  std::string name;
  std::uint64_t memory_bytes = 0;
  int processors = 0;  // a GPU's multiprocessors, a CPU's hardware threads

  friend bool operator==(const DeviceProperties&, const DeviceProperties&) = default;
};

// How to find out about the devices of a kind. Asking may be slow, and may start a driver.
class DeviceProbe {
 public:
  virtual ~DeviceProbe() = default;
  // Not negative.
  [[nodiscard]] virtual int count() const = 0;
  // 0 <= device < count().
  [[nodiscard]] virtual DeviceProperties properties(int device) const = 0;
};

// What is known about the devices of one kind, asked of a probe when somebody first wants to know:
// the number of devices once, and the properties of each device once, however many threads want to
// know first. Where the probe throws, nothing is kept and the next who wants to know asks again.
//
// Shared by all contexts that were made from one another, so that a change of context asks nothing
// anew; to ask anew, put new facts in the context.
//
// Thread-safety: any thread. Once known, a fact costs one acquire load.
// After fork(): facts stay known, and questions that other threads were asking are asked anew.
class DeviceFacts {
 public:
  explicit DeviceFacts(std::unique_ptr<const DeviceProbe> probe);

  // Throws what the probe throws, and std::logic_error if it answers with a negative number or asks
  // for these facts itself; so does properties().
  [[nodiscard]] int count() const { return static_cast<int>(devices().size()); }
  // Throws std::out_of_range where there is no such device. Valid as long as the facts.
  [[nodiscard]] const DeviceProperties& properties(int device) const;

 private:
  using Devices = std::vector<detail::Lazy<DeviceProperties>>;
  [[nodiscard]] const Devices& devices() const;

  std::unique_ptr<const DeviceProbe> probe_;
  detail::Lazy<Devices> devices_;
};

// One CPU, by what the operating system says; no CUDA device, until a context is given facts by a
// probe that finds them. Every call gives the same object for a kind; never null.
[[nodiscard]] std::shared_ptr<const DeviceFacts> default_device_facts(DeviceKind kind);

}  // namespace weftrt
