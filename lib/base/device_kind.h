// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weftrt {

enum class DeviceKind : std::uint8_t { kCpu, kCuda };

inline constexpr std::size_t kDeviceKinds = 2;

// 'cpu', 'cuda'.
constexpr const char* name_of(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::kCpu: return "cpu";
    case DeviceKind::kCuda: return "cuda";
  }
  return "unknown";
}

// One T for each kind of device.
template <class T>
class PerDeviceKind {
 public:
  constexpr T& operator[](DeviceKind kind) noexcept { return all_[static_cast<std::size_t>(kind)]; }
  constexpr const T& operator[](DeviceKind kind) const noexcept {
    return all_[static_cast<std::size_t>(kind)];
  }

  constexpr auto begin() noexcept { return all_.begin(); }
  constexpr auto begin() const noexcept { return all_.begin(); }
  constexpr auto end() noexcept { return all_.end(); }
  constexpr auto end() const noexcept { return all_.end(); }

  friend bool operator==(const PerDeviceKind&, const PerDeviceKind&) = default;

 private:
  std::array<T, kDeviceKinds> all_{};
};

}  // namespace weftrt
