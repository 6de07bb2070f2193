// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: lengths and %fs operands are right in every opcode map, under every kind of prefix, and no
// byte behind the end is read. Method: sequences whose meaning an assembler and a disassembler
// agree on; each is decoded with others behind it, and at the end of a page that nothing readable
// follows. function_bounds_test.cc decodes whole libraries.

#include "harness/executor/instruction.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "harness/base/mapping.h"

namespace weft::executor {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes parse(const std::string& hexadecimal) {
  std::istringstream words(hexadecimal);
  Bytes bytes;
  for (unsigned byte = 0; words >> std::hex >> byte;) {
    bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  return bytes;
}

Instruction decode_with_more_behind(Bytes bytes) {
  bytes.resize(bytes.size() + 64, 0xff);
  return decode(bytes.data(), bytes.data() + bytes.size());
}

class Page {
 public:
  Page() { mprotect(pages_.data() + kPageBytes, kPageBytes, PROT_NONE); }
  // The first `size` bytes alone, with the end of the page behind them.
  Instruction decode_at_end(const Bytes& bytes, std::size_t size) {
    auto* const end = reinterpret_cast<std::uint8_t*>(pages_.data()) + kPageBytes;
    std::copy_n(bytes.data(), size, end - size);
    return decode(end - size, end);
  }

 private:
  Mapping pages_{2 * kPageBytes};
};

struct Case {
  const char* assembly;
  const char* bytes;
  FsOperand fs = FsOperand::kNone;
  std::int64_t displacement = 0;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.assembly; }

class InstructionTest : public testing::TestWithParam<Case> {};

TEST_P(InstructionTest, LengthAndOperand) {
  const Bytes bytes = parse(GetParam().bytes);
  Page page;
  for (const Instruction& instruction :
       {decode_with_more_behind(bytes), page.decode_at_end(bytes, bytes.size())}) {
    EXPECT_EQ(instruction.length, bytes.size());
    EXPECT_EQ(instruction.fs, GetParam().fs);
    EXPECT_EQ(instruction.displacement, GetParam().displacement);
  }
}

TEST_P(InstructionTest, CutShortItIsNone) {
  const Bytes bytes = parse(GetParam().bytes);
  Page page;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(page.decode_at_end(bytes, size).length, 0) << size << " bytes of it";
  }
}

constexpr FsOperand kAbsolute = FsOperand::kAbsolute;
constexpr FsOperand kComputed = FsOperand::kComputed;

INSTANTIATE_TEST_SUITE_P(
    OneByteMap, InstructionTest,
    testing::Values(
        Case{"mov %fs:-4,%eax", "64 8b 04 25 fc ff ff ff", kAbsolute, -4},
        Case{"mov %fs:0,%rax", "64 48 8b 04 25 00 00 00 00", kAbsolute, 0},
        Case{"data16 data16 data16 mov %fs:0,%rax", "66 66 66 64 48 8b 04 25 00 00 00 00",
             kAbsolute, 0},
        Case{"mov %fs:-2,%ax", "64 66 8b 04 25 fe ff ff ff", kAbsolute, -2},
        Case{"mov %fs:(%rax),%rcx", "64 48 8b 08", kComputed, 0},
        Case{"mov %fs:0x10(%rax,%rcx,8),%rcx", "64 48 8b 4c c8 10", kComputed, 0x10},
        Case{"mov %fs:8(,%r12,8),%rax", "64 4a 8b 04 e5 08 00 00 00", kComputed, 8},
        Case{"mov %fs:-8(%rip),%rcx", "64 48 8b 0d f8 ff ff ff", kComputed, -8},
        Case{"mov %fs:(%eax),%eax", "64 67 8b 00", kComputed, 0},
        Case{"mov %esp,%fs:0x64646464(%rsp)", "64 89 a4 24 64 64 64 64", kComputed, 0x64646464},
        Case{"addr32 mov %fs:0xfffffffc,%eax", "67 64 8b 04 25 fc ff ff ff", kAbsolute, 0xfffffffc},
        Case{"movabs %fs:0x1122334455667788,%eax", "64 a1 88 77 66 55 44 33 22 11", kAbsolute,
             0x1122334455667788},
        Case{"addr32 mov %al,%fs:0x64", "64 67 a2 64 00 00 00", kAbsolute, 0x64},
        Case{"movb $0x64,%fs:-1", "64 c6 04 25 ff ff ff ff 64", kAbsolute, -1},
        Case{"movw $0x6464,%fs:-2", "64 66 c7 04 25 fe ff ff ff 64 64", kAbsolute, -2},
        Case{"movl $0x64646464,%fs:-4", "64 c7 04 25 fc ff ff ff 64 64 64 64", kAbsolute, -4},
        Case{"xchg %rax,%fs:(%r12)", "64 49 87 04 24", kComputed, 0},
        Case{"incl %fs:0(%r13)", "64 41 ff 45 00", kComputed, 0},
        Case{"testb $1,%fs:-1", "64 f6 04 25 ff ff ff ff 01", kAbsolute, -1},
        Case{"testl $1,%fs:-4", "64 f7 04 25 fc ff ff ff 01 00 00 00", kAbsolute, -4},
        Case{"notl %fs:-4", "64 f7 14 25 fc ff ff ff", kAbsolute, -4},
        Case{"jmp *%fs:-8", "64 ff 24 25 f8 ff ff ff", kAbsolute, -8},
        Case{"pop %fs:-8", "64 8f 04 25 f8 ff ff ff", kAbsolute, -8},
        Case{"fldl %fs:-8", "64 dd 04 25 f8 ff ff ff", kAbsolute, -8},
        Case{"imul $1000,%fs:-4,%eax", "64 69 04 25 fc ff ff ff e8 03 00 00", kAbsolute, -4},
        Case{"imul $10,%fs:-4,%eax", "64 6b 04 25 fc ff ff ff 0a", kAbsolute, -4},
        Case{"lods %fs:(%rsi),%al", "64 ac", kComputed, 0},
        Case{"rep movsb %fs:(%rsi),%es:(%rdi)", "64 f3 a4", kComputed, 0},
        Case{"xlat %fs:(%rbx)", "64 d7", kComputed, 0}));

INSTANTIATE_TEST_SUITE_P(
    OtherMaps, InstructionTest,
    testing::Values(
        Case{"lock cmpxchg16b %fs:-16", "64 f0 48 0f c7 0c 25 f0 ff ff ff", kAbsolute, -16},
        Case{"movss %fs:-4,%xmm0", "64 f3 0f 10 04 25 fc ff ff ff", kAbsolute, -4},
        Case{"shld $4,%eax,%fs:-4", "64 0f a4 04 25 fc ff ff ff 04", kAbsolute, -4},
        Case{"btl $4,%fs:-4", "64 0f ba 24 25 fc ff ff ff 04", kAbsolute, -4},
        Case{"popcnt %fs:-8,%rax", "64 f3 48 0f b8 04 25 f8 ff ff ff", kAbsolute, -8},
        Case{"pfadd %fs:-8,%mm0", "64 0f 0f 04 25 f8 ff ff ff 9e", kAbsolute, -8},
        Case{"pshufb %fs:-16,%xmm0", "64 66 0f 38 00 04 25 f0 ff ff ff", kAbsolute, -16},
        Case{"crc32b %fs:-1,%eax", "64 f2 0f 38 f0 04 25 ff ff ff ff", kAbsolute, -1},
        Case{"palignr $5,%fs:-16,%xmm0", "64 66 0f 3a 0f 04 25 f0 ff ff ff 05", kAbsolute, -16},
        Case{"vmovdqu %fs:-32,%ymm0", "64 c5 fe 6f 04 25 e0 ff ff ff", kAbsolute, -32},
        Case{"vmovaps %fs:(%r8),%xmm0", "64 c4 c1 78 28 00", kComputed, 0},
        Case{"vmovdqu %fs:(,%r12,1),%ymm0", "64 c4 a1 7e 6f 04 25 00 00 00 00", kComputed, 0},
        Case{"vpshufb %fs:-32,%ymm1,%ymm0", "64 c4 e2 75 00 04 25 e0 ff ff ff", kAbsolute, -32},
        Case{"vpalignr $5,%fs:-32,%ymm1,%ymm0", "64 c4 e3 75 0f 04 25 e0 ff ff ff 05", kAbsolute,
             -32},
        Case{"kmovq %fs:-8,%k1", "64 c4 e1 f8 90 0c 25 f8 ff ff ff", kAbsolute, -8},
        Case{"vmovdqu64 %fs:-64,%zmm0", "64 62 f1 fe 48 6f 04 25 c0 ff ff ff", kAbsolute, -64},
        Case{"vmovdqu64 %fs:0x40(%rax),%zmm0: scaled", "64 62 f1 fe 48 6f 40 01", kComputed, 1},
        Case{"vcvttps2qq %fs:-32,%zmm0", "64 62 f1 7d 48 7a 04 25 e0 ff ff ff", kAbsolute, -32},
        Case{"vpermb %fs:-64,%zmm1,%zmm17", "64 62 e2 75 48 8d 0c 25 c0 ff ff ff", kAbsolute, -64},
        Case{"vpternlogd $0x64,%fs:-64,%zmm1,%zmm0", "64 62 f3 75 48 25 04 25 c0 ff ff ff 64",
             kAbsolute, -64},
        Case{"vaddph %fs:-64,%zmm1,%zmm0", "64 62 f5 74 48 58 04 25 c0 ff ff ff", kAbsolute, -64},
        Case{"vfmadd213ph %fs:-64,%zmm1,%zmm0", "64 62 f6 75 48 a8 04 25 c0 ff ff ff", kAbsolute,
             -64},
        Case{"vprotd $5,%fs:-16,%xmm0", "64 8f e8 78 c2 04 25 f0 ff ff ff 05", kAbsolute, -16},
        Case{"bextr $0x1234,%fs:-4,%eax", "64 8f ea 78 10 04 25 fc ff ff ff 34 12 00 00", kAbsolute,
             -4}));

INSTANTIATE_TEST_SUITE_P(
    NoOperandInFs, InstructionTest,
    testing::Values(Case{"lea %fs:-4(%rax),%rcx", "64 48 8d 48 fc"},
                    Case{"nopw %fs:(%rax,%rax,1)", "64 66 0f 1f 04 00"},
                    Case{"cs nopw 0(%rax,%rax,1)", "2e 66 0f 1f 84 00 00 00 00 00"},
                    Case{"fs nop", "64 90"},  //
                    Case{"prefetcht0 %fs:(%rax)", "64 0f 18 08"},
                    Case{"fs je: a prefix that means nothing", "64 74 64"},
                    Case{"mov %gs:-4,%eax", "65 8b 04 25 fc ff ff ff"},
                    Case{"fs mov %gs:-4,%eax", "64 65 8b 04 25 fc ff ff ff"},
                    Case{"fs mov %eax,%ecx", "64 89 c1"}, Case{"fs stos %al,%es:(%rdi)", "64 aa"},
                    Case{"mov 0x64(%rsp),%rax", "48 8b 44 24 64"},
                    Case{"mov $0x64,%eax", "b8 64 00 00 00"},
                    Case{"mov $0x6464,%ax", "66 b8 64 64"},
                    Case{"movabs $0x6464646464646464,%rax", "48 b8 64 64 64 64 64 64 64 64"},
                    Case{"enter $0x64,$1", "c8 64 00 01"},  //
                    Case{"ret $0x64", "c2 64 00"},          //
                    Case{"jmp", "e9 64 00 00 00"},          //
                    Case{"data16 jmp: still 32 bits", "66 e9 64 00 00 00"},
                    Case{"je", "0f 84 64 00 00 00"},
                    Case{"data16 lea 0x64(%rip),%rdi", "66 48 8d 3d 64 00 00 00"},
                    Case{"data16 data16 rex.W call", "66 66 48 e8 64 00 00 00"},
                    Case{"test $1,%al by group 3", "f6 c0 01"},                                   //
                    Case{"not %al", "f6 d0"},                                                     //
                    Case{"testw $1,(%rax)", "66 f7 00 01 00"}, Case{"xabort $0x64", "c6 f8 64"},  //
                    Case{"endbr64", "f3 0f 1e fa"},                                               //
                    Case{"vzeroupper", "c5 f8 77"},                                               //
                    Case{"ud1 %eax,%eax", "0f b9 c0"}, Case{"int3", "cc"}));

TEST(InstructionLimitTest, FifteenBytesAreTheLongest) {
  Bytes bytes(14, 0x66);
  bytes.push_back(0x90);
  EXPECT_EQ(decode_with_more_behind(bytes).length, 15);
  bytes.insert(bytes.begin(), 0x66);
  EXPECT_EQ(decode_with_more_behind(bytes).length, 0);
  EXPECT_EQ(decode_with_more_behind(parse("66 66 66 66 66 66 66 66 66 b8 64 64")).length, 12);
  EXPECT_EQ(
      decode_with_more_behind(parse("3e 3e 3e 3e 3e 3e 3e 3e 3e 3e 3e b8 64 64 64 64")).length, 0);
}

TEST(InstructionLimitTest, RexCountsRightBeforeTheOpcodeAlone) {
  EXPECT_EQ(decode_with_more_behind(parse("48 66 b8 64 64")).length, 5) << "%ax, not %rax";
  EXPECT_EQ(decode_with_more_behind(parse("66 48 b8 64 64 64 64 64 64 64 64")).length, 11);
}

TEST(InstructionLimitTest, WhatNoProgramExecutesIsNoInstruction) {
  for (const char* const bytes : {"06",
                                  "27",
                                  "60",
                                  "82 c0 64",
                                  "9a",
                                  "ce",
                                  "d4",
                                  "d6",
                                  "ea",
                                  "0f 04",
                                  "0f 0a",
                                  "0f 24 c0",
                                  "0f 3f",
                                  "6c",
                                  "6f",
                                  "e4 64",
                                  "ed",
                                  "cb",
                                  "cf",
                                  "fa",
                                  "d5 10 8b 00",         // REX2
                                  "62 f4 7c 08 01 00"})  // EVEX's map 4
  {
    EXPECT_EQ(decode_with_more_behind(parse(bytes)).length, 0) << bytes;
  }
}

}  // namespace
}  // namespace weft::executor
