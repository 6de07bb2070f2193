// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/elf_module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
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

// Scopes as libdw hands them out: a malloc'ed array.
class Scopes {
 public:
  // Those around `address`, inlined calls in the order in which they contain each other.
  Scopes(Dwarf_Die* unit, std::uint64_t address) {
    Dwarf_Die* at_address = nullptr;
    const int count = dwarf_getscopes(unit, address, &at_address);
    // Beyond an inlined call these are the scopes of the callee's definition; those of the caller
    // come from the innermost scope's own ancestors.
    if (count > 0) count_ = dwarf_getscopes_die(&at_address[0], &scopes_);
    if (count >= 0) std::free(at_address);
  }
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;
  ~Scopes() {
    if (count_ >= 0) std::free(scopes_);
  }

  [[nodiscard]] Dwarf_Die* begin() const { return scopes_; }
  [[nodiscard]] Dwarf_Die* end() const { return scopes_ + std::max(count_, 0); }

 private:
  Dwarf_Die* scopes_ = nullptr;
  int count_ = 0;
};

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
  Dwarf_Die* unit = nullptr;
  Dwarf_Addr bias = 0;
  while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr) {
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    std::ptrdiff_t next = 0;
    while ((next = dwarf_ranges(unit, next, &base, &low, &high)) > 0) {
      // Ranges of functions that the linker dropped begin at 0 or 1.
      if (low > 1 && low < high) units_.push_back({low + bias, high + bias, unit, bias});
    }
  }
  std::sort(units_.begin(), units_.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.low < b.low; });
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
    variables_.push_back({address, symbol.st_size, demangle(name)});
  }
  // Of several names for one address the same one always.
  std::sort(variables_.begin(), variables_.end(), [](const Variable& a, const Variable& b) {
    return std::tie(a.address, a.name) < std::tie(b.address, b.name);
  });
}

const ElfModule::UnitRange* ElfModule::unit_of(std::uint64_t address) const {
  const auto after = std::upper_bound(
      units_.begin(), units_.end(), address,
      [](std::uint64_t wanted, const UnitRange& range) { return wanted < range.low; });
  if (after == units_.begin() || address >= after[-1].high) return nullptr;
  return &after[-1];
}

std::vector<trace::Frame> ElfModule::code(std::uint64_t address) {
  std::vector<trace::Frame> frames;
  if (module_ == nullptr) return frames;
  if (const UnitRange* range = unit_of(address)) {
    const std::uint64_t pc = address - range->bias;
    Place place = place_of(range->unit, pc);
    for (Dwarf_Die& scope : Scopes(range->unit, pc)) {
      const int tag = dwarf_tag(&scope);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      frames.push_back({.function = function_name(&scope), .file = place.file, .line = place.line});
      if (tag == DW_TAG_subprogram) break;
      place = call_place(range->unit, &scope);
    }
    if (!frames.empty()) return frames;
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
