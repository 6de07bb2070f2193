// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A hash map from 64-bit keys (addresses, identity hashes) to small values: open addressing with
// linear probing, its memory from the kernel, never malloc.
//
// clear() is O(1): every slot carries the generation in which it was filled. Erasing moves later
// entries back, so there are no tombstones and a long execution does not slow down.
//
// There is deliberately no iteration: its order would depend on the table's size, hence on what
// earlier executions did, and a choice made in that order would not replay. Keep a BoundedVector of
// keys beside the map instead.
//
// Thread-safety: as for a plain object.
// Invariants: 1. The table's size is a power of two, and at most half of it is in use, so a probe
// always ends.
// 2. Between a key's home slot and its slot there is no free slot.
// Pointers to values are valid until the next insertion or erasure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "harness/base/check.h"
#include "harness/base/mapping.h"
#include "harness/base/prng.h"

namespace weft {

template <typename Value>
class FlatMap {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_default_constructible_v<Value>,
                "values are moved as bytes");

 public:
  // Room for `expected` entries before the first growth.
  explicit FlatMap(std::size_t expected = 256) noexcept { allocate(table_size_for(expected)); }

  // Null when absent.
  Value* find(std::uint64_t key) noexcept {
    Slot& slot = slots()[probe(key)];
    return occupied(slot) ? &slot.value : nullptr;
  }
  const Value* find(std::uint64_t key) const noexcept {
    return const_cast<FlatMap*>(this)->find(key);
  }
  bool contains(std::uint64_t key) const noexcept { return find(key) != nullptr; }

  // The value of `key`, value-initialised when it was absent.
  Value& operator[](std::uint64_t key) noexcept {
    Slot& slot = slots()[probe(key)];
    return occupied(slot) ? slot.value : *try_insert(key, Value{}).first;
  }

  // Keeps an existing value; the flag says whether `value` went in.
  std::pair<Value*, bool> try_insert(std::uint64_t key, const Value& value) noexcept {
    std::size_t index = probe(key);
    if (occupied(slots()[index])) return {&slots()[index].value, false};
    if (2 * (size_ + 1) > mask_ + 1) {
      grow();
      index = probe(key);
    }
    slots()[index] = Slot{.key = key, .generation = generation_, .value = value};
    ++size_;
    return {&slots()[index].value, true};
  }

  // Overwrites.
  void insert(std::uint64_t key, const Value& value) noexcept {
    const auto [slot, inserted] = try_insert(key, value);
    if (!inserted) *slot = value;
  }

  bool erase(std::uint64_t key) noexcept {
    std::size_t hole = probe(key);
    if (!occupied(slots()[hole])) return false;
    // Knuth, TAOCP vol. 3, 6.4, algorithm R: move back every entry that the hole would cut off from
    // its home.
    for (std::size_t next = (hole + 1) & mask_; occupied(slots()[next]);
         next = (next + 1) & mask_) {
      const std::size_t home = home_of(slots()[next].key);
      if (((next - home) & mask_) >= ((next - hole) & mask_)) {
        slots()[hole] = slots()[next];
        hole = next;
      }
    }
    slots()[hole].generation = kNever;
    --size_;
    return true;
  }

  void clear() noexcept {
    size_ = 0;
    if (++generation_ != kNever) return;
    // After 2^32 - 1 clears the oldest entries would seem new.
    memory_.discard();
    generation_ = kNever + 1;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  static constexpr std::uint32_t kNever = 0;  // the kernel's zero pages are free slots

  struct Slot {
    std::uint64_t key;
    std::uint32_t generation;
    Value value;
  };

  static std::size_t table_size_for(std::size_t entries) noexcept {
    std::size_t size = 16;
    while (size < 2 * entries) size *= 2;
    return size;
  }

  Slot* slots() const noexcept { return reinterpret_cast<Slot*>(memory_.data()); }
  bool occupied(const Slot& slot) const noexcept { return slot.generation == generation_; }
  // Fibonacci hashing: the high bits of a product depend on all bits of the key. Keys are
  // addresses, of which one near another is welcome to be near it here, or mixed already.
  std::size_t home_of(std::uint64_t key) const noexcept { return key * kGoldenGamma >> shift_; }

  // The slot of `key`, or the free slot where it belongs.
  std::size_t probe(std::uint64_t key) const noexcept {
    std::size_t index = home_of(key);
    while (occupied(slots()[index]) && slots()[index].key != key) index = (index + 1) & mask_;
    return index;
  }

  void allocate(std::size_t table_size) noexcept {
    WEFT_CHECK(table_size <= PTRDIFF_MAX / sizeof(Slot), "a FlatMap larger than the address space");
    memory_ = Mapping(table_size * sizeof(Slot));
    mask_ = table_size - 1;
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(table_size));
    generation_ = kNever + 1;
    size_ = 0;
  }

  void grow() noexcept {
    const Mapping old_memory = std::exchange(memory_, Mapping());
    const std::size_t old_size = mask_ + 1;
    const std::uint32_t old_generation = generation_;
    allocate(2 * old_size);
    const Slot* old_slots = reinterpret_cast<const Slot*>(old_memory.data());
    for (std::size_t i = 0; i < old_size; ++i) {
      if (old_slots[i].generation != old_generation) continue;
      Slot& slot = slots()[probe(old_slots[i].key)];
      slot = old_slots[i];
      slot.generation = generation_;
      ++size_;
    }
  }

  Mapping memory_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::size_t size_ = 0;
  std::uint32_t generation_ = kNever + 1;
};

}  // namespace weft
