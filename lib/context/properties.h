// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weftrt {

template <class T>
concept PropertyType = std::same_as<T, bool> || std::same_as<T, std::int64_t> ||
    std::same_as<T, double> || std::same_as<T, std::string>;

// Names a property and its type: `inline constexpr PropertyKey<bool> kTf32{"math.tf32"};`
// The name must outlive the key; a string literal does.
template <PropertyType T>
struct PropertyKey {
  std::string_view name;
};

// A small set of named, typed values; part of a ContextImpl and copied with it.
//
// Thread-safety: that of a std::vector; in a published ContextImpl it is const, hence free to read.
// Costs: look-up is a binary search over names; a copy copies every name and value.
class Properties {
 public:
  // Adds the value, or replaces what the name held, whatever its type was. The key alone says the
  // type: `value` is converted to it, as an argument is.
  template <PropertyType T>
  void set(PropertyKey<T> key, std::type_identity_t<T> value) {
    put(key.name, Value(std::move(value)));
  }
  // Else "off" would be true.
  template <class Pointee>
  void set(PropertyKey<bool> key, const Pointee* value) = delete;

  // nullptr when the name is absent or holds another type.
  template <PropertyType T>
  [[nodiscard]] const T* find(PropertyKey<T> key) const noexcept {
    const Value* value = look_up(key.name);
    return value == nullptr ? nullptr : std::get_if<T>(value);
  }

  // The type is the key's here too.
  template <PropertyType T>
  [[nodiscard]] T value_or(PropertyKey<T> key, std::type_identity_t<T> fallback) const {
    if (const T* const value = find(key)) return *value;
    return fallback;
  }
  template <class Pointee>
  [[nodiscard]] bool value_or(PropertyKey<bool> key, const Pointee* fallback) const = delete;

  // False when there was nothing of that name.
  bool erase(std::string_view name);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  friend bool operator==(const Properties&, const Properties&) = default;

 private:
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  struct Entry {
    std::string name;
    Value value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  void put(std::string_view name, Value value);
  [[nodiscard]] const Value* look_up(std::string_view name) const noexcept;

  std::vector<Entry> entries_;  // sorted by name, names unique
};

}  // namespace weftrt
