// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A process image for an executor that is tried out by itself: nothing is restored and no address
// has a name.
#pragma once

#include <span>

#include "harness/engine/process_image.h"

namespace weft::executor {

class NoImage final : public engine::ProcessImage {
 public:
  void snapshot(std::uintptr_t) noexcept override {}
  void restore() noexcept override {}
  void guard() noexcept override {}
  void subject_starts() noexcept override {}
  void subject_stopped() noexcept override {}
  bool absorbs(int, const siginfo_t&, void*) noexcept override { return false; }
  bool may_have_called_system() const noexcept override { return true; }
  void reset_thread_locals() noexcept override {}
  void* allocate(const engine::BlockEvent&, std::uint64_t, std::size_t, std::size_t,
                 AllocationFamily) noexcept override {
    return nullptr;
  }
  engine::FreeVerdict release(void*, const engine::BlockEvent&,
                              AllocationFamily) noexcept override {
    return engine::FreeVerdict::kInvalid;
  }
  bool find_overrun(engine::HeapBlock&) const noexcept override { return false; }
  bool find_block(std::uintptr_t, engine::HeapBlock&) const noexcept override { return false; }
  std::size_t find_leaks(engine::HeapBlock&, std::span<const std::byte>) const noexcept override {
    return 0;
  }
  void modules_changed() noexcept override {}
  bool is_restored(std::uintptr_t) const noexcept override { return false; }
  Site site_of(std::uintptr_t) const noexcept override { return {}; }
  bool find_uninstrumented(std::span<const std::uintptr_t>,
                           engine::UninstrumentedCode&) const noexcept override {
    return false;
  }
  bool find_module(std::uintptr_t, std::uint64_t&, std::uint64_t&) const noexcept override {
    return false;
  }
  std::size_t module_count() const noexcept override { return 0; }
  void describe_module(std::size_t, std::uintptr_t&, std::uint64_t&, char*,
                       std::size_t) const noexcept override {}
};

}  // namespace weft::executor
