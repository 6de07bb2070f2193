// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A context as a sequential object: what one cell of the runtime says, and how changes move it on.
#pragma once

#include <array>
#include <cstdint>

namespace weft::mixed {

inline constexpr unsigned kOperators = 3;

/// What a program sets and sees in a context.
struct Settings {
  std::uint8_t allocator = 0;                        // 0: the system's; k: that of mark k
  std::uint8_t facts = 0;                            // 1: those of the program
  std::uint16_t seed = 0;                            // 0: the default
  std::uint16_t property = 0;                        // 0: not set
  std::array<std::uint8_t, kOperators> operators{};  // which function; 0: none

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// What a call on a context did, and what it saw.
struct ContextCall {
  enum class Kind : std::uint8_t {
    kRead,          // sees `settings`
    kReadOperator,  // sees one operator, settings.operators[which]
    kGeneration,    // sees `generation` alone
    kUpdate,        // sets the fields of `fields` to those of `settings`
    kSwap,          // sees `settings`, leaves `given`
    kRegister,      // sets operator `which` to settings.operators[which]
    kRefused,       // the same, and was told that there is another
  };
  static constexpr std::uint8_t kAllocator = 1, kSeed = 2, kProperty = 4, kFacts = 8;

  Kind kind = Kind::kRead;
  std::uint8_t fields = 0;
  std::uint8_t which = 0;
  bool saw_generation = false;
  std::uint64_t generation = 0;  // for a change, the one it made
  Settings settings{};
  Settings given{};
};

class ContextModel {
 public:
  using Call = ContextCall;

  ContextModel() = default;
  explicit ContextModel(Settings initial, std::uint64_t generation = 0)
      : settings_(initial), generation_(generation) {}

  bool apply(const Call& call);
  [[nodiscard]] std::uint64_t state() const;

 private:
  Settings settings_;
  std::uint64_t generation_ = 0;
};

}  // namespace weft::mixed
