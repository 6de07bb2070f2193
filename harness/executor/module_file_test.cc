// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: names and sections come from the file that was loaded, and a file that is missing, no ELF
// file or cut short says nothing and does no harm. Method: this program's own file, and bad copies.

#include "harness/executor/module_file.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace weft::executor {
namespace {

constexpr char kThisProgram[] = "/proc/self/exe";

const int constant_in_memory = 1;
[[gnu::noinline]] int hidden_function(int argument) { return argument + constant_in_memory; }

std::uint64_t address_of(const void* loaded) {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = info->dlpi_addr;
        return 1;  // the first is the program
      },
      &base);
  return reinterpret_cast<std::uintptr_t>(loaded) - base;
}

std::uint64_t address_of_function() {
  return address_of(reinterpret_cast<const void*>(&hidden_function));
}

TEST(ModuleFileTest, NamesStaticFunctions) {
  ModuleFile file(kThisProgram);
  for (int byte = 0; byte < 2; ++byte) {
    EXPECT_NE(file.function_at(address_of_function() + byte).find("hidden_function"),
              std::string_view::npos);
  }
  EXPECT_EQ(file.function_at(address_of(&constant_in_memory)), "") << "no function";
  EXPECT_EQ(file.function_at(0), "");
}

TEST(ModuleFileTest, TellsCodeFromData) {
  ModuleFile file(kThisProgram);
  EXPECT_TRUE(file.is_code(address_of_function()));
  EXPECT_FALSE(file.is_code(address_of(&constant_in_memory)));
}

TEST(ModuleFileTest, AFileThatIsNotThereSaysNothing) {
  ModuleFile file("/nowhere/at/all");
  EXPECT_EQ(file.function_at(address_of_function()), "");
  EXPECT_TRUE(file.is_code(address_of(&constant_in_memory)));
}

class BadFileTest : public testing::Test {
 protected:
  BadFileTest() { close(mkstemp(path_.data())); }
  ~BadFileTest() override { std::filesystem::remove(path_); }
  void expect_that_it_says_nothing() {
    ModuleFile file(path_.c_str());
    EXPECT_EQ(file.function_at(address_of_function()), "");
    EXPECT_TRUE(file.is_code(address_of(&constant_in_memory)));
  }
  std::string path_ = (std::filesystem::temp_directory_path() / "weft_module_file_XXXXXX").string();
};

TEST_F(BadFileTest, Empty) { expect_that_it_says_nothing(); }

TEST_F(BadFileTest, NoElfFile) {
  std::ofstream(path_) << std::string(4096, 'x');
  expect_that_it_says_nothing();
}

TEST_F(BadFileTest, CutShort) {
  std::filesystem::copy_file(kThisProgram, path_,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  expect_that_it_says_nothing();
}

}  // namespace
}  // namespace weft::executor
