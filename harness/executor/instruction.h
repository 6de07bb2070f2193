// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How long an x86-64 instruction is, and whether it touches memory relative to %fs. Nothing else of
// it is decoded.
//
// Covered: what compilers emit for programs: the one-byte, 0F, 0F 38 and 0F 3A maps, VEX, EVEX and
// XOP. Instructions that no program may execute (port input and output, cli, far returns) are taken
// for no instructions at all, which tells data from code sooner. Not covered, and no instructions
// either: APX (REX2, EVEX map 4) and VEX map 7. Of wrong length: SSE4a's extrq and insertq with
// immediates.
#pragma once

#include <cstdint>

namespace weft::executor {

enum class FsOperand : std::uint8_t {
  kNone,      // none, or one that is not accessed: lea, nop, prefetch
  kAbsolute,  // %fs:displacement
  kComputed   // a register takes part
};

struct Instruction {
  std::uint8_t length = 0;  // in bytes, at most 15; 0: these bytes are no instruction
  FsOperand fs = FsOperand::kNone;
  // Of the %fs operand, as encoded: EVEX scales one of 8 bits, and this does not.
  std::int64_t displacement = 0;
};

/// The instruction at `code`. Reads no byte at or behind `end`, and one that ends behind it is
/// none.
[[nodiscard]] Instruction decode(const std::uint8_t* code, const std::uint8_t* end) noexcept;

}  // namespace weft::executor
