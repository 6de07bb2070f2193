// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/direct_tls.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "harness/base/system_call.h"
#include "harness/base/text_buffer.h"
#include "harness/executor/function_bounds.h"
#include "harness/executor/instruction.h"
#include "harness/executor/module_file.h"
#include "harness/executor/tls_exemptions.h"

namespace weft::executor {
namespace {

constexpr std::uint8_t kFsPrefix = 0x64;
constexpr char kExecutable[] = "/proc/self/exe";

// Words of the thread control block that code may name: its address, the dynamic thread vector and
// the thread itself, which the executor rewrites; the guards of stack and pointers, the same in
// every thread.
constexpr std::int64_t kServed[] = {0, 8, 0x10, 0x28, 0x30};

bool is_direct_use(const Instruction& instruction) noexcept {
  if (instruction.fs != FsOperand::kAbsolute) return instruction.fs == FsOperand::kComputed;
  return std::find(std::begin(kServed), std::end(kServed), instruction.displacement) ==
         std::end(kServed);
}

// --- From bytes to instructions

/// Decodes functions, and what lies between them, from their start. It goes on where it got to, so
/// that none is decoded twice, however many of its bytes are asked for.
class InstructionWalk {
 public:
  struct Position {
    const std::uint8_t* begin = nullptr;  // null: no instruction that could be believed
    Instruction instruction;
  };

  InstructionWalk(const FunctionBounds& functions, CodeRange segment) noexcept
      : functions_(functions), segment_(segment) {}

  /// The instruction that holds `byte`, which lies behind each that was asked for before.
  Position at(const std::uint8_t* byte) noexcept {
    if (!range_.contains(byte)) enter(functions_.find(byte, segment_));
    // All that is known of what follows a fault in a function is that it is code: rather a false
    // alarm than a thread_local of the wrong task.
    if (lost_) return {byte, decode(byte, range_.end)};
    while (cursor_ <= byte) {
      const Instruction instruction = decode(cursor_, range_.end);
      if (instruction.length == 0) {
        if (range_.is_function) {
          lost_ = true;
          return {byte, decode(byte, range_.end)};
        }
        ++cursor_;
        sound_ = 0;
      } else if (cursor_ + instruction.length > byte) {
        return believed() ? Position{cursor_, instruction} : Position{};
      } else {
        cursor_ += instruction.length;
        ++sound_;
      }
    }
    return {};
  }

  [[nodiscard]] bool in_function() const noexcept { return range_.is_function; }

 private:
  // So many instructions in sequence must decode without a fault. Of random bytes one in six does
  // not (measured: 17%), so 32 of them do in 0.3% of all places, and 64 in 0.001%.
  static constexpr unsigned kSound = 32;

  void enter(CodeRange range) noexcept {
    range_ = range;
    cursor_ = range.begin;
    lost_ = false;
    sound_ = kSound;  // the end of a function is where code may begin
  }

  [[nodiscard]] bool believed() const noexcept {
    if (range_.is_function) return true;
    if (sound_ < kSound) return false;
    const std::uint8_t* ahead = cursor_;
    for (unsigned i = 0; i < kSound && ahead < range_.end; ++i) {
      const unsigned length = decode(ahead, range_.end).length;
      if (length == 0) return false;
      ahead += length;
    }
    return true;
  }

  const FunctionBounds& functions_;
  const CodeRange segment_;
  CodeRange range_;
  const std::uint8_t* cursor_ = nullptr;
  unsigned sound_ = 0;  // instructions since the last fault
  bool lost_ = false;
};

// --- From modules to code

class Module {
 public:
  explicit Module(const dl_phdr_info& info) noexcept
      // The dynamic linker calls the program itself "".
      : info_(info), file_(info.dlpi_name[0] != '\0' ? info.dlpi_name : kExecutable) {
    name_[0] = '\0';
    TextBuffer name(name_);
    if (info.dlpi_name[0] != '\0') {
      name.append(basename_of(info.dlpi_name));
    } else {
      char path[1024];
      const long length = system_call(SYS_readlinkat, AT_FDCWD, kExecutable, path, sizeof path);
      if (!is_error(length)) name.append(basename_of({path, static_cast<std::size_t>(length)}));
    }
  }

  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// Whether the executable segment that holds `byte` is this module's; fills `segment`.
  bool segment_of(const std::uint8_t* byte, CodeRange& segment) const noexcept {
    bool found = false;
    for_each_segment([&](CodeRange candidate) {
      if (candidate.contains(byte)) segment = candidate, found = true;
      return !found;
    });
    return found;
  }

  /// found(offset, instruction) for each direct use in the module's code, until it returns false.
  template <typename Found>
  void for_each_use(Found&& found) noexcept {
    for_each_segment([&](CodeRange segment) { return for_each_use(segment, segment, found); });
  }

  /// Likewise in `code`, a part of `segment`. Returns whether it was not stopped.
  template <typename Found>
  bool for_each_use(CodeRange code, CodeRange segment, Found&& found) noexcept {
    const FunctionBounds functions = function_bounds();
    InstructionWalk walk(functions, segment);
    const std::uint8_t* at = code.begin;
    while (at < code.end) {
      at = static_cast<const std::uint8_t*>(
          std::memchr(at, kFsPrefix, static_cast<std::size_t>(code.end - at)));
      if (at == nullptr) break;
      const std::uint8_t* const candidate = at++;
      if (!is_direct_use(decode(candidate, segment.end))) continue;
      const auto [begin, instruction] = walk.at(candidate);
      if (begin == nullptr || !is_direct_use(instruction)) continue;
      at = begin + instruction.length;
      const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(begin) - info_.dlpi_addr;
      if (!walk.in_function() && !file_.is_code(offset)) continue;
      if (!found(offset, instruction)) return false;
    }
    return true;
  }

  /// The first use in `code` that its function is not exempt for.
  bool find_first(CodeRange code, CodeRange segment, DirectTls& first) noexcept {
    return !for_each_use(code, segment, [&](std::uintptr_t offset, const Instruction& use) {
      const std::string_view function = file_.function_at(offset);
      if (!reason_to_exempt_function(function).empty()) return true;
      first.offset = offset;
      first.displacement = use.displacement;
      first.computed = use.fs == FsOperand::kComputed;
      TextBuffer(first.module).append(name());
      TextBuffer(first.function).append(function);
      return false;
    });
  }
  bool find_first(DirectTls& first) noexcept {
    bool found = false;
    for_each_segment([&](CodeRange segment) {
      found = find_first(segment, segment, first);
      return !found;
    });
    return found;
  }

  /// Why the use at `offset` is let pass; empty: it is not.
  [[nodiscard]] std::string_view exemption(std::uintptr_t offset) noexcept {
    const std::string_view reason = reason_to_exempt_module(name());
    return reason.empty() ? reason_to_exempt_function(file_.function_at(offset)) : reason;
  }

 private:
  static std::string_view basename_of(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  }

  // Of code, and readable: x86-64's always are, unless a linker was asked for something else. Stops
  // when visit(segment) returns false.
  template <typename Visit>
  void for_each_segment(Visit&& visit) const noexcept {
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info_.dlpi_phdr[i];
      constexpr ElfW(Word) kCode = PF_R | PF_X;
      if (header.p_type != PT_LOAD || (header.p_flags & kCode) != kCode) continue;
      const std::uint8_t* const begin = loaded(header);
      if (!visit(CodeRange{begin, begin + header.p_filesz, false})) return;
    }
  }

  [[nodiscard]] FunctionBounds function_bounds() const noexcept {
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info_.dlpi_phdr[i];
      if (header.p_type == PT_GNU_EH_FRAME) return FunctionBounds(loaded(header));
    }
    return {};
  }

  [[nodiscard]] const std::uint8_t* loaded(const ElfW(Phdr) & header) const noexcept {
    return reinterpret_cast<const std::uint8_t*>(info_.dlpi_addr + header.p_vaddr);
  }

  const dl_phdr_info& info_;
  ModuleFile file_;
  char name_[sizeof DirectTls::module];
};

/// visit(dl_phdr_info) for each loaded module, until it returns false.
template <typename Visit>
void for_each_module(Visit visit) noexcept {
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                     void* context) { return (*static_cast<Visit*>(context))(*info) ? 0 : 1; },
                  &visit);
}

/// Counts a use in what was found in one module so far, which begins at `first`.
void count_use(std::span<ExemptTls> found, std::size_t first, std::size_t& count,
               std::string_view module, std::string_view reason) noexcept {
  std::size_t i = first;
  while (i < count && found[i].reason != reason) ++i;
  if (i == found.size()) return;
  if (i == count) {
    ++count;
    found[i].reason = reason;
    found[i].uses = 0;
    TextBuffer(found[i].module).append(module);
  }
  ++found[i].uses;
}

}  // namespace

bool find_direct_tls(const dl_phdr_info& info, DirectTls& first) noexcept {
  Module module(info);
  return reason_to_exempt_module(module.name()).empty() && module.find_first(first);
}

bool find_direct_tls(DirectTls& first) noexcept {
  bool found = false;
  for_each_module([&](const dl_phdr_info& info) {
    found = find_direct_tls(info, first);
    return !found;
  });
  return found;
}

bool find_direct_tls(std::span<const std::uint8_t> code, DirectTls& first) noexcept {
  bool found = false;
  for_each_module([&](const dl_phdr_info& info) {
    Module module(info);
    CodeRange segment;
    if (!module.segment_of(code.data(), segment)) return true;
    found = module.find_first({code.data(), code.data() + code.size(), false}, segment, first);
    return false;
  });
  return found;
}

std::size_t find_exempt_tls(std::span<ExemptTls> found) noexcept {
  std::size_t count = 0;
  for_each_module([&](const dl_phdr_info& info) {
    Module module(info);
    const std::size_t first = count;
    module.for_each_use([&](std::uintptr_t offset, const Instruction&) {
      const std::string_view reason = module.exemption(offset);
      if (!reason.empty()) count_use(found, first, count, module.name(), reason);
      return true;
    });
    return true;
  });
  return count;
}

}  // namespace weft::executor
