// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: functions are found where the compiler put them, and the instruction decoder knows every
// instruction in them. Method: functions of this file in assembly, with labels to compare with; and
// each function of each module loaded here (this program, libstdc++, libm and libc with their
// variants for every processor) decoded from its start, which must arrive at its end exactly.

#include "harness/executor/function_bounds.h"

#include <gtest/gtest.h>
#include <link.h>

#include <string_view>

#include "harness/executor/instruction.h"

// Two functions with something between them that the table does not know.
asm(R"(
  .text
  .balign 16
  .type weft_test_first, @function
weft_test_first:
  .cfi_startproc
  movl $1, %eax
  ret
  .cfi_endproc
weft_test_first_end:
  .size weft_test_first, . - weft_test_first
  .fill 5, 1, 0x90
weft_test_second:
  .cfi_startproc
  movl $2, %eax
  ret
  .cfi_endproc
weft_test_second_end:
  .balign 16, 0xcc
)");

extern "C" {
extern const std::uint8_t weft_test_first[];
extern const std::uint8_t weft_test_first_end[];
extern const std::uint8_t weft_test_second[];
extern const std::uint8_t weft_test_second_end[];
extern const std::uint8_t weft_test_undecodable[];  // direct_tls_test.cc's
}

namespace weft::executor {
namespace {

template <typename Visit>
void for_each_module(Visit visit) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        (*static_cast<Visit*>(context))(*info);
        return 0;
      },
      &visit);
}

FunctionBounds functions_of(const dl_phdr_info& module) {
  for (const ElfW(Phdr) & header : std::span(module.dlpi_phdr, module.dlpi_phnum)) {
    if (header.p_type != PT_GNU_EH_FRAME) continue;
    return FunctionBounds(reinterpret_cast<const std::uint8_t*>(module.dlpi_addr + header.p_vaddr));
  }
  return {};
}

FunctionBounds functions_of_this_program() {
  FunctionBounds result;
  for_each_module([&](const dl_phdr_info& module) {
    if (module.dlpi_name[0] == '\0') result = functions_of(module);
  });
  return result;
}

class FunctionBoundsTest : public testing::Test {
 protected:
  CodeRange find(const std::uint8_t* byte) const { return functions_.find(byte, segment_); }

  const FunctionBounds functions_ = functions_of_this_program();
  // Generous, and no more than this file's assembly is looked for in it.
  // By way of numbers: to the compiler there is nothing around an array.
  static const std::uint8_t* at(const std::uint8_t* place, std::ptrdiff_t bytes) {
    return reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::intptr_t>(place) + bytes);
  }

  const CodeRange segment_{at(weft_test_first, -4096), at(weft_test_second_end, 4096), false};
};

TEST_F(FunctionBoundsTest, FindsAFunctionByEachOfItsBytes) {
  for (const std::uint8_t* byte = weft_test_first; byte < weft_test_first_end; ++byte) {
    const CodeRange range = find(byte);
    EXPECT_TRUE(range.is_function);
    EXPECT_EQ(range.begin, weft_test_first);
    EXPECT_EQ(range.end, weft_test_first_end);
  }
  EXPECT_EQ(find(at(weft_test_second_end, -1)).begin, weft_test_second);
}

TEST_F(FunctionBoundsTest, FindsWhatLiesBetweenFunctions) {
  const CodeRange range = find(weft_test_first_end + 2);
  EXPECT_FALSE(range.is_function);
  EXPECT_EQ(range.begin, weft_test_first_end);
  EXPECT_EQ(range.end, weft_test_second);
}

TEST_F(FunctionBoundsTest, ReachesNoFurtherThanTheSegment) {
  const CodeRange all = functions_.find(weft_test_first_end + 2,
                                        {weft_test_first_end + 1, weft_test_first_end + 3, false});
  EXPECT_EQ(all.begin, weft_test_first_end + 1);
  EXPECT_EQ(all.end, weft_test_first_end + 3);
  const CodeRange function = functions_.find(
      weft_test_first + 1, {weft_test_first + 1, at(weft_test_first_end, -1), false});
  EXPECT_TRUE(function.is_function);
  EXPECT_EQ(function.begin, weft_test_first + 1);
  EXPECT_EQ(function.end, at(weft_test_first_end, -1));
}

TEST_F(FunctionBoundsTest, WithoutATableTheSegmentIsOneRange) {
  const FunctionBounds none;
  EXPECT_EQ(none.size(), 0u);
  const CodeRange range = none.find(weft_test_first, segment_);
  EXPECT_FALSE(range.is_function);
  EXPECT_EQ(range.begin, segment_.begin);
  EXPECT_EQ(range.end, segment_.end);
}

TEST_F(FunctionBoundsTest, ATableOfAnotherFormIsNoTable) {
  std::uint8_t header[32] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 1};
  EXPECT_EQ(FunctionBounds(header).size(), 1u);
  header[3] = 0x3c;  // of 64 bits
  EXPECT_EQ(FunctionBounds(header).size(), 0u);
  header[3] = 0xff;  // omitted
  EXPECT_EQ(FunctionBounds(header).size(), 0u);
}

// Where decoding from `range.begin` goes wrong; null: it arrives at the end.
const std::uint8_t* first_fault(const CodeRange& range) {
  const std::uint8_t* at = range.begin;
  while (at < range.end) {
    const unsigned length = decode(at, range.end).length;
    if (length == 0) return at;
    at += length;
  }
  return nullptr;
}

TEST(EveryFunctionTest, DecodesFromItsStartToItsEnd) {
  std::size_t functions_seen = 0;
  bool standard_library_seen = false;
  for_each_module([&](const dl_phdr_info& module) {
    const std::string_view name = module.dlpi_name;
    if (name.starts_with("linux-vdso")) return;  // the kernel may use what programs may not
    standard_library_seen |= name.find("libstdc++") != name.npos;
    const FunctionBounds functions = functions_of(module);
    functions_seen += functions.size();
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const std::uint8_t* const fault = first_fault(functions[i]);
      if (fault == nullptr || functions[i].begin == weft_test_undecodable) continue;
      ADD_FAILURE() << module.dlpi_name << "+0x" << std::hex
                    << reinterpret_cast<std::uintptr_t>(fault) - module.dlpi_addr
                    << ", in the function at +0x"
                    << reinterpret_cast<std::uintptr_t>(functions[i].begin) - module.dlpi_addr;
    }
  });
  EXPECT_TRUE(standard_library_seen);
  EXPECT_GT(functions_seen, 5000u) << "libstdc++ alone has as many";
}

}  // namespace
}  // namespace weft::executor
