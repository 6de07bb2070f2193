// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: addresses are found in the right module at the offset of its symbol table, across dlopen.
// Method: known symbols of the executable, of libc and of a library loaded by the test, against
// dladdr.

#include "harness/image/modules.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <string>

#include "harness/base/mapped_object.h"
#include "harness/base/prng.h"

namespace weft::image {
namespace {

int global = 1;
int bss_at_the_end[100000];

std::uint64_t hash(std::string_view text) { return hash_text(text.data(), text.size()); }

class ModulesTest : public testing::Test {
 protected:
  MappedObject<ModuleTable> table_ = make_mapped<ModuleTable>();
};

TEST_F(ModulesTest, FindsCodeAndDataOfTheExecutable) {
  Dl_info info;
  ASSERT_NE(dladdr(&global, &info), 0);
  const Location data = table_->locate(&global);
  ASSERT_TRUE(data);
  EXPECT_EQ(data.module, ModuleTable::kExecutable);
  EXPECT_EQ(data.offset,
            reinterpret_cast<std::uintptr_t>(&global) - table_->load_address(data.module));
  EXPECT_TRUE(table_->locate(&bss_at_the_end[99999])) << "zero-initialised data is in no file";
  EXPECT_EQ(table_->name(ModuleTable::kExecutable), basename_of(program_invocation_short_name));
  EXPECT_EQ(table_->id(0), hash(program_invocation_short_name));
}

TEST_F(ModulesTest, FindsLibcByItsBasename) {
  const void* const function = dlsym(RTLD_DEFAULT, "getenv");
  Dl_info info;
  ASSERT_NE(dladdr(function, &info), 0);
  const Location at = table_->locate(function);
  ASSERT_TRUE(at);
  EXPECT_NE(at.module, ModuleTable::kExecutable);
  EXPECT_EQ(table_->name(at.module), "libc.so.6");
  EXPECT_EQ(table_->id(at.module), hash("libc.so.6"));
  EXPECT_EQ(at.offset, static_cast<std::uint64_t>(static_cast<const char*>(function) -
                                                  static_cast<const char*>(info.dli_fbase)));
}

TEST_F(ModulesTest, StackAndHeapBelongToNoModule) {
  int local = 0;
  void* const heap = std::malloc(1);
  EXPECT_FALSE(table_->locate(&local));
  EXPECT_FALSE(table_->locate(heap));
  EXPECT_FALSE(table_->locate(nullptr));
  EXPECT_EQ(table_->site(heap), Site{});
  EXPECT_EQ(table_->object(heap).space, ObjectSpace::kNone);
  std::free(heap);
}

TEST_F(ModulesTest, GlobalsHaveAnIdentity) {
  const ObjectId object = table_->object(&global);
  EXPECT_EQ(object.space, ObjectSpace::kModule);
  EXPECT_EQ(object.owner, table_->id(0));
  EXPECT_EQ(object.offset, table_->locate(&global).offset);
  EXPECT_EQ(table_->object(&bss_at_the_end[1]).offset - table_->object(&bss_at_the_end[0]).offset,
            sizeof(int));
}

TEST_F(ModulesTest, ALoadedLibraryKeepsItsIndexWhenItComesAgain) {
  // Part of glibc, and used by nothing here.
  constexpr char kLibrary[] = "libresolv.so.2";
  ASSERT_EQ(dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD), nullptr);
  const std::size_t before = table_->size();
  std::uint32_t index = kNoModule;
  for (int round = 0; round < 2; ++round) {
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const void* const symbol = dlsym(library, "__b64_ntop");
    ASSERT_NE(symbol, nullptr);
    EXPECT_FALSE(table_->locate(symbol)) << "not before refresh()";
    table_->refresh();
    const Location at = table_->locate(symbol);
    ASSERT_TRUE(at);
    EXPECT_EQ(table_->name(at.module), kLibrary);
    if (round == 0) index = at.module;
    EXPECT_EQ(at.module, index);
    EXPECT_EQ(table_->size(), before + 1);
    dlclose(library);
    table_->refresh();
    EXPECT_FALSE(table_->locate(symbol));
    EXPECT_EQ(table_->load_address(index), 0u);
    EXPECT_EQ(table_->name(index), kLibrary) << "old traces still name it";
  }
}

}  // namespace
}  // namespace weft::image
