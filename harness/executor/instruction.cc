// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/instruction.h"

#include <cstddef>
#include <cstring>

namespace weft::executor {
namespace {

constexpr std::size_t kMaxLength = 15;

// More than decoding looks at: 14 prefixes, 4 bytes of EVEX or opcode, ModRM, SIB, 4 of
// displacement or 8 of moffs.
constexpr std::size_t kWindow = 40;

// What follows each opcode, after the opcode maps of Intel's Software Developer's Manual, volume 2,
// appendix A, tables, in 64-bit mode:
//   .  nothing                      M  ModRM
//   b  8 bits of immediate          B  ModRM and 8 bits
//   w  16 bits                      e  16 bits and 8 (enter)
//   z  16 or 32 bits                Z  ModRM and 16 or 32 bits
//   v  16, 32 or 64 bits (mov)      d  a branch's 32 bits: 64-bit mode ignores the 66 prefix there
//   o  an absolute address          s  nothing, and memory is read through %rsi or %rbx
//   n  ModRM whose memory operand is not accessed: lea, nop, prefetch
//   g  ModRM, and 8 bits for test   G  ModRM, and 16 or 32 bits for test
//   p  a prefix or an escape        x  no instruction of a program
constexpr char kOneByteMap[] =
    "MMMMbzxxMMMMbzxp"  // 00: add, or
    "MMMMbzxxMMMMbzxx"  // 10: adc, sbb
    "MMMMbzpxMMMMbzpx"  // 20: and, sub
    "MMMMbzpxMMMMbzpx"  // 30: xor, cmp
    "pppppppppppppppp"  // 40: REX
    "................"  // 50: push, pop
    "xxpMppppzZbBxxxx"  // 60: EVEX, movslq, prefixes, push, imul
    "bbbbbbbbbbbbbbbb"  // 70: jcc
    "BZxBMMMMMMMMMnMM"  // 80: group 1, test, xchg, mov, lea, pop
    "..........x....."  // 90: xchg, cwde, cdq, wait, pushf, popf
    "oooossssbz..ss.."  // A0: mov, movs, cmps, test, stos, lods, scas
    "bbbbbbbbvvvvvvvv"  // B0: mov
    "BBw.ppBZe.xx.bxx"  // C0: shifts, ret, VEX, mov, enter, leave, int
    "MMMMxxxsMMMMMMMM"  // D0: shifts, xlat, x87
    "bbbbxxxxddxbxxxx"  // E0: loop, call, jmp
    "p.pp..gG..xx..MM"  // F0: prefixes, hlt, cmc, groups 3, 4 and 5
    ;

constexpr char kTwoByteMap[] =
    "MMMMx.....x.xn.B"  // 00: groups 6 and 7, lar, lsl, syscall, ud2, prefetch, 3DNow!
    "MMMMMMMMnnnnnnnn"  // 10: movups; prefetches and nops
    "MMMMxxxxMMMMMMMM"  // 20: mov of control registers; movaps
    "......x.pxpxxxxx"  // 30: rdtsc, rdpmc; escapes
    "MMMMMMMMMMMMMMMM"  // 40: cmovcc
    "MMMMMMMMMMMMMMMM"  // 50
    "MMMMMMMMMMMMMMMM"  // 60
    "BBBBMMM.MMMMMMMM"  // 70: pshuf, shifts, emms; 7A and 7B exist with EVEX alone
    "dddddddddddddddd"  // 80: jcc
    "MMMMMMMMMMMMMMMM"  // 90: setcc
    "...MBMMM...MBMMM"  // A0: push, pop, cpuid, bt, shld; rsm, bts, shrd, group 15, imul
    "MMMMMMMMMMBMMMMM"  // B0: cmpxchg, movzx; popcnt, group 8, bsf, movsx
    "MMBMBBBM........"  // C0: xadd, cmpps, movnti, pinsrw, pextrw, shufps, group 9; bswap
    "MMMMMMMMMMMMMMMM"  // D0
    "MMMMMMMMMMMMMMMM"  // E0
    "MMMMMMMMMMMMMMMM"  // F0
    ;

static_assert(sizeof kOneByteMap == 257 && sizeof kTwoByteMap == 257);

std::int64_t read_signed32(const std::uint8_t* at) noexcept {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

class Decoder {
 public:
  explicit Decoder(const std::uint8_t* code) noexcept : begin_(code), at_(code) {}

  Instruction decode() noexcept {
    read_prefixes();
    const char form = read_opcode();
    if (form == 'x' || form == 'p') return {};
    read_operands(form);
    const auto length = static_cast<std::size_t>(at_ - begin_);
    if (length > kMaxLength) return {};
    result_.length = static_cast<std::uint8_t>(length);
    return result_;
  }

 private:
  void read_prefixes() noexcept {
    for (; at_ < begin_ + kMaxLength - 1; ++at_) {
      switch (*at_) {
        case 0x64: fs_ = true; break;
        case 0x65: fs_ = false; break;  // %gs: the last of the two holds
        case 0x66: short_operand_ = true; break;
        case 0x67: short_address_ = true; break;
        // %cs, %ds, %es, %ss mean nothing in 64-bit mode; lock, repne, rep.
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0xf0:
        case 0xf2:
        case 0xf3: break;
        default:
          if ((*at_ & 0xf0) != 0x40) return;
          rex_ = *at_;
          continue;
      }
      rex_ = 0;  // REX counts right before the opcode alone
    }
  }

  // Returns the opcode's form.
  char read_opcode() noexcept {
    const std::uint8_t opcode = *at_++;
    switch (opcode) {
      case 0x0f: return read_escaped_opcode();
      case 0x62: return read_vector_opcode(at_[0] & 7, at_[0], 3);
      case 0xc4: return read_vector_opcode(at_[0] & 0x1f, at_[0], 2);
      case 0xc5: return read_vector_opcode(1, 0xff, 1);
      case 0x8f:
        // XOP where pop would have a register that it cannot have.
        if ((at_[0] & 0x1f) >= 8) return read_vector_opcode(at_[0] & 0x1f, at_[0], 2);
        break;
      default: break;
    }
    return kOneByteMap[opcode];
  }

  char read_escaped_opcode() noexcept {
    const std::uint8_t opcode = *at_++;
    if (opcode != 0x38 && opcode != 0x3a) return kTwoByteMap[opcode];
    ++at_;
    return opcode == 0x38 ? 'M' : 'B';
  }

  // VEX, EVEX and XOP: `payload` bytes, then the opcode in `map`. Bit 6 of `inverted` is REX.X's
  // opposite.
  char read_vector_opcode(unsigned map, std::uint8_t inverted, unsigned payload) noexcept {
    rex_ = (inverted & 0x40) != 0 ? 0 : 2;
    short_operand_ = false;
    at_ += payload;
    const std::uint8_t opcode = *at_++;
    switch (map) {
      case 1: return kTwoByteMap[opcode];
      case 3:
      case 8: return 'B';
      case 2:
      case 5:
      case 6:
      case 9: return 'M';
      case 10: return 'Z';
      default: return 'x';
    }
  }

  void read_operands(char form) noexcept {
    switch (form) {
      case 'M': read_memory(true); break;
      case 'n': read_memory(false); break;
      case 'b': at_ += 1; break;
      case 'B': read_memory(true), at_ += 1; break;
      case 'w': at_ += 2; break;
      case 'e': at_ += 3; break;
      case 'd': at_ += 4; break;
      case 'z': at_ += immediate_size(); break;
      case 'Z': read_memory(true), at_ += immediate_size(); break;
      case 'v': at_ += (rex_ & 8) != 0 ? 8 : immediate_size(); break;
      case 'g': at_ += (read_memory(true) < 2 ? 1 : 0); break;
      case 'G': at_ += (read_memory(true) < 2 ? immediate_size() : 0); break;
      case 's':
        if (fs_) result_.fs = FsOperand::kComputed;
        break;
      case 'o': read_absolute_address(); break;
      default: break;  // '.'
    }
  }

  [[nodiscard]] unsigned immediate_size() const noexcept {
    return short_operand_ && (rex_ & 8) == 0 ? 2 : 4;
  }

  // ModRM, SIB and displacement (the manual's tables 2-2 and 2-3). Returns ModRM's reg field.
  unsigned read_memory(bool accessed) noexcept {
    const unsigned modrm = *at_++;
    const unsigned reg = modrm >> 3 & 7;
    const unsigned mod = modrm >> 6;
    if (mod == 3) return reg;
    unsigned base = modrm & 7;
    bool absolute = false;
    if (base == 4) {
      const unsigned sib = *at_++;
      base = sib & 7;
      const bool has_index = (sib >> 3 & 7) != 4 || (rex_ & 2) != 0;
      absolute = mod == 0 && base == 5 && !has_index;
    }
    std::int64_t displacement = 0;
    if (mod == 2 || (mod == 0 && base == 5)) {
      displacement = read_signed32(at_);
      at_ += 4;
    } else if (mod == 1) {
      displacement = (int{*at_} ^ 0x80) - 0x80;  // 8 bits, signed
      at_ += 1;
    }
    if (absolute && short_address_) displacement &= 0xffffffff;
    if (fs_ && accessed) {
      result_.fs = absolute ? FsOperand::kAbsolute : FsOperand::kComputed;
      result_.displacement = displacement;
    }
    return reg;
  }

  void read_absolute_address() noexcept {
    const std::size_t size = short_address_ ? 4 : 8;
    if (fs_) {
      result_.fs = FsOperand::kAbsolute;
      std::memcpy(&result_.displacement, at_, size);
    }
    at_ += size;
  }

  const std::uint8_t* const begin_;
  const std::uint8_t* at_;
  bool fs_ = false;
  bool short_operand_ = false;  // 16 bits
  bool short_address_ = false;  // 32 bits
  std::uint8_t rex_ = 0;        // 8: W, 2: X
  Instruction result_;
};

}  // namespace

Instruction decode(const std::uint8_t* code, const std::uint8_t* end) noexcept {
  const auto available = static_cast<std::size_t>(end - code);
  if (available >= kWindow) return Decoder(code).decode();
  std::uint8_t padded[kWindow] = {};
  std::memcpy(padded, code, available);
  const Instruction instruction = Decoder(padded).decode();
  return instruction.length <= available ? instruction : Instruction{};
}

}  // namespace weft::executor
