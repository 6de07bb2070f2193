// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which module an address belongs to. Addresses mean nothing in another process; (module, offset)
// does, and traces, tokens and object identities are made of it.
//
// A module keeps its index for the life of the table, also across dlclose and a second dlopen. Its
// id is a hash of its file's basename: the same in every process and on every machine.
//
// Thread-safety: refresh() by one thread at a time. Everything else may be called at any time,
// refresh() in progress included, from signal handlers too: it only reads, and refresh() fills the
// spare half of a double buffer and then switches to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/base/ids.h"
#include "harness/base/mapped_array.h"
#include "harness/image/loaded_module.h"

namespace weft::image {

inline constexpr std::uint32_t kNoModule = 0xffffffff;

struct Location {
  std::uint32_t module = kNoModule;  // index into the table
  std::uint64_t offset = 0;          // from the module's load address, as in its symbol table

  explicit operator bool() const noexcept { return module != kNoModule; }
};

class ModuleTable {
 public:
  static constexpr std::size_t kMaxModules = 512;  // ever seen, not at once
  static constexpr std::uint32_t kExecutable = 0;  // the main program's index

  ModuleTable() noexcept;
  ModuleTable(const ModuleTable&) = delete;
  ModuleTable& operator=(const ModuleTable&) = delete;

  // Reads the dynamic linker's list again. After dlopen and dlclose.
  void refresh() noexcept;

  // False for stacks, heaps and everything else that no module's file maps.
  Location locate(const void* address) const noexcept {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    // Nearly all look-ups are for the code under test, which tends to be the main program.
    if (wanted - executable_.begin < executable_.size) {
      return {kExecutable, wanted - executable_.load_address};
    }
    return locate_elsewhere(wanted);
  }

  // A code address for the trace.
  Site site(const void* program_counter) const noexcept {
    const Location at = locate(program_counter);
    return at ? Site{at.module, static_cast<std::uint32_t>(at.offset)} : Site{};
  }
  // A global variable's identity; space kNone when no module holds `address`.
  ObjectId object(const void* address) const noexcept {
    const Location at = locate(address);
    if (!at) return {};
    return {
        .owner = id(at.module), .offset = at.offset, .ordinal = 0, .space = ObjectSpace::kModule};
  }

  std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }
  std::uint64_t id(std::uint32_t module) const noexcept { return names_[module].id; }
  std::string_view path(std::uint32_t module) const noexcept;
  std::string_view name(std::uint32_t module) const noexcept { return basename_of(path(module)); }
  // For symbolisers: where offset 0 lies in this process; 0 once the module is gone.
  std::uintptr_t load_address(std::uint32_t module) const noexcept;

 private:
  struct Name {
    std::uint64_t id;
    std::uint32_t length;
    char path[500];
  };
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t size;
    std::uintptr_t load_address;
    std::uint32_t module;
  };
  struct Ranges {
    std::size_t count;
    Range sorted[kMaxModules];  // by begin; they do not overlap
  };

  Location locate_elsewhere(std::uintptr_t address) const noexcept;
  std::uint32_t index_of(const LoadedModule& module) noexcept;

  MappedArray<Name> names_;
  MappedArray<Ranges> ranges_;  // two
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint32_t> current_{0};
  Range executable_{};  // never changes after the first refresh()
};

}  // namespace weft::image
