// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/elf_module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "reports/demangle.h"

namespace weft::reports {
namespace {

// Debug information is taken from the file itself. libdwfl's standard search would go on to
// debuginfod, that is, ask a server for every library of the system in the middle of a failure.
int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                      GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks = {.find_elf = nullptr,
                                       .find_debuginfo = find_no_debuginfo,
                                       .section_address = dwfl_offline_section_address,
                                       .debuginfo_path = nullptr};

// Deeper than any source; damaged debug information must not exhaust the stack.
constexpr int kMaxDepth = 200;

template <typename Visit>
void for_each_child(Dwarf_Die* parent, Visit&& visit) {
  Dwarf_Die child;
  if (dwarf_child(parent, &child) != 0) return;
  do {
    visit(&child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

template <typename Visit>
void for_each_range(Dwarf_Die* die, Visit&& visit) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  std::ptrdiff_t next = 0;
  while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
    // Functions that the linker dropped begin at 0 or 1.
    if (low > 1 && low < high) visit(low, high);
  }
}

// The item of `sorted` whose [low, high) holds `address`, or null.
template <typename Range>
Range* find_range(std::vector<Range>& sorted, std::uint64_t address) {
  const auto after =
      std::upper_bound(sorted.begin(), sorted.end(), address,
                       [](std::uint64_t wanted, const Range& range) { return wanted < range.low; });
  if (after == sorted.begin() || address >= after[-1].high) return nullptr;
  return &after[-1];
}

template <typename Range>
void sort_by_low(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.low < b.low; });
}

// The calls inlined around `address` in `scope`, outermost first.
void append_inlined(Dwarf_Die* scope, std::uint64_t address, int depth,
                    std::vector<Dwarf_Die>& chain) {
  if (depth == kMaxDepth) return;
  for_each_child(scope, [&](Dwarf_Die* child) {
    const int tag = dwarf_tag(child);
    const bool inlined = tag == DW_TAG_inlined_subroutine;
    const bool block =
        tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    if ((!inlined && !block) || dwarf_haspc(child, address) <= 0) return;
    if (inlined) chain.push_back(*child);
    append_inlined(child, address, depth + 1, chain);
  });
}

// Which of several unnamed namespaces is meant, the name does not say either.
std::string without_anonymous_namespaces(std::string name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kAnonymous)) != std::string::npos;) {
    name.erase(at, kAnonymous.size());
  }
  return name;
}

std::string function_name(Dwarf_Die* die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, name, &attribute) == nullptr) continue;
    if (const char* symbol = dwarf_formstring(&attribute)) return demangle(symbol);
  }
  const char* name = dwarf_diename(die);
  return name == nullptr ? "" : name;
}

struct Place {
  std::string file;
  std::uint32_t line = 0;
};

Place place_of(Dwarf_Die* unit, std::uint64_t address) {
  Place place;
  Dwarf_Line* row = dwarf_getsrc_die(unit, address);
  if (row == nullptr) return place;
  if (const char* file = dwarf_linesrc(row, nullptr, nullptr)) place.file = file;
  int line = 0;
  if (dwarf_lineno(row, &line) == 0 && line > 0) place.line = static_cast<std::uint32_t>(line);
  return place;
}

std::uint64_t number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr) return 0;
  return dwarf_formudata(&attribute, &value) == 0 ? value : 0;
}

Place call_place(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Place place;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) == 0) {
    const std::uint64_t index = number(inlined, DW_AT_call_file);
    const char* file = index < count ? dwarf_filesrc(files, index, nullptr, nullptr) : nullptr;
    if (file != nullptr) place.file = file;
  }
  place.line = static_cast<std::uint32_t>(number(inlined, DW_AT_call_line));
  return place;
}

}  // namespace

ElfModule::ElfModule(const std::string& path) : session_(dwfl_begin(&kCallbacks)) {
  if (session_ == nullptr) return;
  // At base 0, addresses are the file's own.
  module_ = dwfl_report_elf(session_.get(), path.c_str(), path.c_str(), /*fd=*/-1, /*base=*/0,
                            /*add_p_vaddr=*/true);
  if (dwfl_report_end(session_.get(), nullptr, nullptr) != 0) module_ = nullptr;
  if (module_ == nullptr) return;
  index_units();
  index_variables();
}

// clang writes no .debug_aranges, without which libdw finds no unit by address.
void ElfModule::index_units() {
  Dwarf_Die* die = nullptr;
  Dwarf_Addr bias = 0;
  while ((die = dwfl_module_nextcu(module_, die, &bias)) != nullptr) {
    const std::size_t unit = units_.size();
    units_.push_back({.die = die, .bias = bias});
    for_each_range(die, [&](std::uint64_t low, std::uint64_t high) {
      unit_ranges_.push_back({low + bias, high + bias, unit});
    });
  }
  sort_by_low(unit_ranges_);
}

void ElfModule::index_variables() {
  const int count = dwfl_module_getsymtab(module_);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name =
        dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
    const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
    if (name == nullptr || !defined || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
    variables_.push_back({address, symbol.st_size, without_anonymous_namespaces(demangle(name))});
  }
  // Of several names for one address the same one always.
  std::sort(variables_.begin(), variables_.end(), [](const Variable& a, const Variable& b) {
    return std::tie(a.address, a.name) < std::tie(b.address, b.name);
  });
}

ElfModule::Unit* ElfModule::unit_of(std::uint64_t address) {
  const UnitRange* range = find_range(unit_ranges_, address);
  return range == nullptr ? nullptr : &units_[range->unit];
}

// dwarf_getscopes() does not look into namespaces, where clang puts functions.
Dwarf_Die* ElfModule::function_of(Unit& unit, std::uint64_t address) {
  if (!unit.indexed) {
    const auto collect = [&](auto& self, Dwarf_Die* parent, int depth) -> void {
      if (depth == kMaxDepth) return;
      for_each_child(parent, [&](Dwarf_Die* child) {
        if (dwarf_tag(child) == DW_TAG_subprogram) {
          for_each_range(child, [&](std::uint64_t low, std::uint64_t high) {
            unit.functions.push_back({low, high, *child});
          });
        }
        self(self, child, depth + 1);
      });
    };
    collect(collect, unit.die, 0);
    sort_by_low(unit.functions);
    unit.indexed = true;
  }
  Function* function = find_range(unit.functions, address);
  return function == nullptr ? nullptr : &function->die;
}

std::vector<trace::Frame> ElfModule::code(std::uint64_t address) {
  std::vector<trace::Frame> frames;
  if (module_ == nullptr) return frames;
  if (Unit* unit = unit_of(address)) {
    const std::uint64_t pc = address - unit->bias;
    Place place = place_of(unit->die, pc);
    if (Dwarf_Die* function = function_of(*unit, pc)) {
      std::vector<Dwarf_Die> chain = {*function};
      append_inlined(function, pc, 0, chain);
      for (auto die = chain.rbegin(); die != chain.rend(); ++die) {
        frames.push_back(
            {.function = function_name(&*die), .file = place.file, .line = place.line});
        place = call_place(unit->die, &*die);
      }
      return frames;
    }
  }
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name =
      dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
  // Without a size the symbol is merely the last one before the address.
  if (name != nullptr && offset < symbol.st_size) {
    frames.push_back({.function = demangle(name), .file = {}, .line = 0});
  }
  return frames;
}

std::string ElfModule::data(std::uint64_t address) const {
  const auto after =
      std::upper_bound(variables_.begin(), variables_.end(), address,
                       [](std::uint64_t wanted, const Variable& v) { return wanted < v.address; });
  if (after == variables_.begin()) return {};
  const Variable& variable = after[-1];
  const std::uint64_t offset = address - variable.address;
  if (offset >= variable.size) return {};
  return offset == 0 ? variable.name : fmt::format("{}+{}", variable.name, offset);
}

}  // namespace weft::reports
