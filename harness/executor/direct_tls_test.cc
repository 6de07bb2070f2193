// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a direct use of thread-local storage is found with its place and operand, wherever in the
// code it is, and nothing that merely looks like one. Method: pieces of assembly in this program,
// each between two labels and never executed; and the libraries that it has loaded, of which is
// known what they contain.

#include "harness/executor/direct_tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

// DESCRIBED(name, code): a function that the unwinder's table knows. UNDESCRIBED(name, code): bytes
// that it does not, between two functions that it does.
#define LABELLED(name, code) #name ":\n" code #name "_end:\n"
#define DESCRIBED(name, code) \
  ".text\n.type " #name ", @function\n.cfi_startproc\n" LABELLED(name, code) ".cfi_endproc\n" \
  ".size " #name ", " #name "_end - " #name "\n"
#define UNDESCRIBED(name, code) \
  DESCRIBED(name##_before, "ret\n") LABELLED(name, code) DESCRIBED(name##_behind, "ret\n")
#define PIECE(name) extern const std::uint8_t name[], name##_end[]

asm(DESCRIBED(weft_test_absolute, "xorl %ecx, %ecx\n movl %fs:-4, %eax\n ret\n"));
asm(DESCRIBED(weft_test_computed, "movq %fs:16(%rdx,%rcx,8), %rax\n ret\n"));
asm(DESCRIBED(weft_test_prefixed, ".byte 0x66, 0x66\n movl %fs:-8, %eax\n ret\n"));
asm(DESCRIBED(weft_test_late,
              "movl $0x64646464, %eax\n movl $0x64048b64, %ecx\n"
              "incl %fs:-12\n ret\n"));
asm(DESCRIBED(weft_test_two, "movl $0x64, %fs:-16\n movl $0x64, %fs:-20\n ret\n"));
// What the executor serves; and a `lea`, which asks for an address.
asm(DESCRIBED(weft_test_served,
              "movq %fs:0, %rax\n movq %fs:8, %rax\n movq %fs:0x10, %rax\n xorq %fs:0x28, %rax\n"
              "xorq %fs:0x30, %rax\n .byte 0x66, 0x66, 0x66\n movq %fs:0, %rax\n"
              ".byte 0x64\n leaq -4(%rax), %rax\n nopw %fs:(%rax,%rax,1)\n"
              ".byte 0x66\n leaq 0x64(%rip), %rdi\n .byte 0x66, 0x66, 0x48\n call 0x64\n ret\n"));
// The five bytes of `mov %fs:(%rcx),%ecx` and the like, as operands of something else.
asm(DESCRIBED(weft_test_operands,
              "movl $0x90098b64, %eax\n movabsq $0x00098b6400098b64, %rax\n"
              "movl 0x098b6490(%rcx), %eax\n addl $0x90018b64, 0x098b6490(%rcx)\n ret\n"));
// %fs:0x28 is the stack's guard; what lies 0x28 behind an address is not.
asm(DESCRIBED(weft_test_not_the_guard, "movq %fs:0x28(%rax), %rax\n ret\n"));
// D5 00 is a prefix of processors to come: the decoder is lost from there on. Global, because
// function_bounds_test.cc spares it.
asm(".globl weft_test_undecodable\n" DESCRIBED(
    weft_test_undecodable, ".byte 0xd5, 0x00, 0x90\n movl %fs:-24, %eax\n ret\n"));
asm(UNDESCRIBED(weft_test_assembly, "movl %fs:-28, %eax\n ret\n .balign 16, 0xcc\n"));
// `d in` is `and %ch,%fs:0x6e(%rcx)`.
asm(UNDESCRIBED(weft_test_text,
                ".ascii \"A bird in hand, they said, is held in honour; and "
                "indeed a word in old wind is a word in need\"\n"));

extern "C" {
PIECE(weft_test_absolute);
PIECE(weft_test_computed);
PIECE(weft_test_prefixed);
PIECE(weft_test_late);
PIECE(weft_test_two);
PIECE(weft_test_served);
PIECE(weft_test_operands);
PIECE(weft_test_not_the_guard);
PIECE(weft_test_undecodable);
PIECE(weft_test_assembly);
PIECE(weft_test_text);
}

#define FIND_IN(name, first) find_direct_tls(std::span<const std::uint8_t>(name, name##_end), first)

namespace weft::executor {
namespace {

/// Calls visit(dl_phdr_info) for the module whose path contains `part`; false: none does.
template <typename Visit>
bool with_module(std::string_view part, Visit visit) {
  struct Search {
    std::string_view part;
    Visit& visit;
  } search{part, visit};
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* context) {
               auto& wanted = *static_cast<Search*>(context);
               if (std::string_view(info->dlpi_name).find(wanted.part) == std::string_view::npos) {
                 return 0;
               }
               wanted.visit(*info);
               return 1;
             },
             &search) != 0;
}

std::uintptr_t offset_of(const std::uint8_t* in_this_program) {
  std::uintptr_t load_address = 0;
  with_module("", [&](const dl_phdr_info& first) { load_address = first.dlpi_addr; });
  return reinterpret_cast<std::uintptr_t>(in_this_program) - load_address;
}

TEST(DirectTlsTest, FindsAnAbsoluteOperand) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_absolute, first));
  EXPECT_STREQ(first.module, program_invocation_short_name);
  EXPECT_STREQ(first.function, "weft_test_absolute");
  EXPECT_EQ(first.offset, offset_of(weft_test_absolute) + 2);
  EXPECT_EQ(first.displacement, -4);
  EXPECT_FALSE(first.computed);
}

TEST(DirectTlsTest, FindsAComputedOperand) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_computed, first));
  EXPECT_STREQ(first.function, "weft_test_computed");
  EXPECT_EQ(first.offset, offset_of(weft_test_computed));
  EXPECT_EQ(first.displacement, 16);
  EXPECT_TRUE(first.computed);
  ASSERT_TRUE(FIND_IN(weft_test_not_the_guard, first));
  EXPECT_EQ(first.displacement, 0x28);
  EXPECT_TRUE(first.computed);
}

TEST(DirectTlsTest, OtherPrefixesMayStandBeforeIt) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_prefixed, first));
  EXPECT_EQ(first.offset, offset_of(weft_test_prefixed)) << "where the instruction begins";
  EXPECT_EQ(first.displacement, -8);
}

TEST(DirectTlsTest, FindsOneBehindOperandsThatLookLikeIt) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_late, first));
  EXPECT_EQ(first.displacement, -12);
}

TEST(DirectTlsTest, FindsTheFirstInTheRangeThatIsGiven) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_two, first));
  EXPECT_EQ(first.displacement, -16);
  const std::uint8_t* const second = weft_test_two + 12;
  ASSERT_TRUE(find_direct_tls({second, weft_test_two_end}, first));
  EXPECT_EQ(first.displacement, -20);
}

TEST(DirectTlsTest, LeavesWhatTheExecutorServes) {
  DirectTls first;
  EXPECT_FALSE(FIND_IN(weft_test_served, first)) << first.displacement;
}

TEST(DirectTlsTest, OperandsAreNoInstructions) {
  DirectTls first;
  EXPECT_FALSE(FIND_IN(weft_test_operands, first)) << first.displacement;
}

TEST(DirectTlsTest, WhereItCannotDecodeAFunctionItBelievesTheWorst) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_undecodable, first));
  EXPECT_EQ(first.displacement, -24);
}

TEST(DirectTlsTest, FindsAssemblyThatNobodyDescribed) {
  DirectTls first;
  ASSERT_TRUE(FIND_IN(weft_test_assembly, first));
  EXPECT_STREQ(first.function, "");
  EXPECT_EQ(first.offset, offset_of(weft_test_assembly));
  EXPECT_EQ(first.displacement, -28);
}

TEST(DirectTlsTest, TextBetweenFunctionsIsNoCode) {
  DirectTls first;
  EXPECT_FALSE(FIND_IN(weft_test_text, first)) << first.offset - offset_of(weft_test_text);
}

TEST(DirectTlsTest, MemoryOfNoModuleIsNotLookedAt) {
  const std::vector<std::uint8_t> code(weft_test_absolute, weft_test_absolute_end);
  DirectTls first;
  EXPECT_FALSE(find_direct_tls(code, first));
}

TEST(DirectTlsTest, FindsOneInThisProgramAmongAllModules) {
  DirectTls first;
  ASSERT_TRUE(find_direct_tls(first));
  EXPECT_STREQ(first.module, program_invocation_short_name);
}

TEST(DirectTlsTest, TheStandardLibraryHasNone) {
  ASSERT_TRUE(with_module("libstdc++.so", [](const dl_phdr_info& module) {
    DirectTls first;
    EXPECT_FALSE(find_direct_tls(module, first))
        << first.module << "+0x" << std::hex << first.offset;
  }));
}

TEST(DirectTlsTest, ALibraryThatIsLoadedLater) {
  // libgomp finds its record of the calling thread by a direct use. Never unloaded, here and below:
  // what it allocates at the start would be a leak.
  void* const openmp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (openmp == nullptr) GTEST_SKIP() << "libgomp is not on this machine: " << dlerror();
  EXPECT_TRUE(with_module("libgomp.so", [](const dl_phdr_info& module) {
    DirectTls first;
    EXPECT_TRUE(find_direct_tls(module, first));
    EXPECT_STREQ(first.module, "libgomp.so.1");
  }));
}

TEST(DirectTlsTest, TablesBetweenFunctionsAreNoCode) {
  // OpenSSL's contain what looks like some dozen uses.
  void* const library = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "OpenSSL is not on this machine: " << dlerror();
  EXPECT_TRUE(with_module("libcrypto.so", [](const dl_phdr_info& module) {
    DirectTls first;
    EXPECT_FALSE(find_direct_tls(module, first)) << std::hex << first.offset;
  }));
}

TEST(ExemptTlsTest, LibcIsLetPassForAReason) {
  ExemptTls found[32];
  const std::size_t count = find_exempt_tls(found);
  ASSERT_GT(count, 0u);
  ASSERT_LT(count, std::size(found));
  bool libc_seen = false;
  for (const ExemptTls& exempt : std::span(found, count)) {
    EXPECT_NE(exempt.reason, "") << exempt.module;
    EXPECT_GT(exempt.uses, 0u) << exempt.module;
    if (std::string_view(exempt.module) != "libc.so.6") continue;
    libc_seen = true;
    EXPECT_GT(exempt.uses, 1000u) << "glibc 2.36 has 2,449";
  }
  EXPECT_TRUE(libc_seen);
}

TEST(ExemptTlsTest, WhatDoesNotFitIsLeftOut) {
  ExemptTls found[1];
  EXPECT_EQ(find_exempt_tls(found), 1u);
  EXPECT_EQ(find_exempt_tls({}), 0u);
}

}  // namespace
}  // namespace weft::executor
