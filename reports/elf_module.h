// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One ELF file with its debug information, for symbols.cc.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/trace/trace.h"

namespace weft::reports {

/// Addresses are the file's own virtual addresses, whether it is position-independent or not.
class ElfModule {
 public:
  explicit ElfModule(const std::string& path);

  [[nodiscard]] std::vector<trace::Frame> code(std::uint64_t address);
  [[nodiscard]] std::string data(std::uint64_t address) const;

 private:
  struct EndSession {
    void operator()(Dwfl* session) const noexcept { dwfl_end(session); }
  };
  struct Function {
    std::uint64_t low;
    std::uint64_t high;
    Dwarf_Die die;
  };
  /// A compilation unit; its functions are listed when somebody first asks about one of them.
  struct Unit {
    Dwarf_Die* die;
    std::uint64_t bias;  // of the DWARF's addresses
    bool indexed = false;
    std::vector<Function> functions = {};  // by low
  };
  struct UnitRange {
    std::uint64_t low;
    std::uint64_t high;
    std::size_t unit;
  };
  struct Variable {
    std::uint64_t address;
    std::uint64_t size;
    std::string name;
  };

  void index_units();
  void index_variables();
  [[nodiscard]] Unit* unit_of(std::uint64_t address);
  [[nodiscard]] static Dwarf_Die* function_of(Unit& unit, std::uint64_t address);

  std::unique_ptr<Dwfl, EndSession> session_;
  Dwfl_Module* module_ = nullptr;  // null: the file cannot be read
  std::vector<Unit> units_;
  std::vector<UnitRange> unit_ranges_;  // by low
  std::vector<Variable> variables_;     // by address
};

}  // namespace weft::reports
