// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/symbols.h"

#include <map>
#include <string>
#include <vector>

#include "reports/elf_module.h"

namespace weft::reports {
namespace {

class ElfSymbolizer final : public trace::Symbolizer {
 public:
  std::vector<trace::Frame> code(const std::string& module, std::uint64_t offset) override {
    return open(module).code(offset);
  }
  std::string data(const std::string& module, std::uint64_t offset) override {
    return open(module).data(offset);
  }

 private:
  ElfModule& open(const std::string& path) {
    return modules_.try_emplace(path, path).first->second;
  }

  std::map<std::string, ElfModule> modules_;
};

}  // namespace

std::unique_ptr<trace::Symbolizer> make_symbolizer() { return std::make_unique<ElfSymbolizer>(); }

}  // namespace weft::reports
