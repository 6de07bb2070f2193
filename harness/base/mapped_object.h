// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One object in a mapping of its own: how the long-lived parts of a worker are kept out of the
// executable's writable segments and out of every heap.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "harness/base/check.h"
#include "harness/base/mapping.h"

namespace weft {

template <typename T>
class MappedObject {
  static_assert(alignof(T) <= kPageBytes);

 public:
  template <typename... Args>
  explicit MappedObject(std::in_place_t, Args&&... args) noexcept
      : memory_(sizeof(T)), object_(::new (memory_.data()) T(std::forward<Args>(args)...)) {}
  MappedObject(MappedObject&& other) noexcept
      : memory_(std::move(other.memory_)), object_(std::exchange(other.object_, nullptr)) {}
  MappedObject& operator=(MappedObject&&) = delete;
  ~MappedObject() {
    if (object_ != nullptr) std::destroy_at(object_);
  }

  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  T* get() const noexcept {
    WEFT_CHECK(object_ != nullptr, "a MappedObject was used after it was moved from");
    return object_;
  }

 private:
  Mapping memory_;
  T* object_;
};

// `MappedObject`'s maker: make_mapped<SubjectHeap>(options).
template <typename T, typename... Args>
MappedObject<T> make_mapped(Args&&... args) noexcept {
  return MappedObject<T>(std::in_place, std::forward<Args>(args)...);
}

}  // namespace weft
