// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/probes.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

#include "harness/base/process.h"
#include "harness/engine/explorer_watchdog.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A file mapped for reading; every access is checked against its end.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat facts {};
    if (::fstat(fd, &facts) == 0 && facts.st_size > 0) {
      size_ = static_cast<std::size_t>(facts.st_size);
      bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (bytes_ == MAP_FAILED) size_ = 0;
    }
    ::close(fd);
  }
  ~MappedFile() {
    if (size_ != 0) ::munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` objects at `offset`; an empty span where the file ends before.
  template <typename T>
  [[nodiscard]] std::span<const T> at(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(static_cast<const char*>(bytes_) + offset), count};
  }

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// clang's name for the constructor that calls __tsan_init, and gcc's.
bool is_instrumentation_constructor(std::string_view symbol) {
  return symbol.starts_with("tsan.module_ctor") || symbol.starts_with("_sub_I_00099_0");
}

std::uint64_t count_constructors(const MappedFile& file, const Elf64_Shdr& table,
                                 const Elf64_Shdr& names) {
  const auto text = file.at<char>(names.sh_offset, names.sh_size);
  std::uint64_t count = 0;
  for (const Elf64_Sym& symbol :
       file.at<Elf64_Sym>(table.sh_offset, table.sh_size / sizeof(Elf64_Sym))) {
    if (symbol.st_name >= text.size()) continue;
    const char* name = text.data() + symbol.st_name;
    const std::size_t room = text.size() - symbol.st_name;
    if (is_instrumentation_constructor({name, ::strnlen(name, room)})) ++count;
  }
  return count;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

/// The word says whose turn it is. Both processes run the same loop.
void take_turns(std::atomic<std::uint32_t>& turn, std::uint32_t mine, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    while (turn.load(std::memory_order_acquire) != mine) futex(turn, FUTEX_WAIT, 1 - mine);
    turn.store(1 - mine, std::memory_order_release);
    futex(turn, FUTEX_WAKE, 1);
  }
}

std::string toolkit_in(const std::string& root) {
  std::ifstream header(root + "/include/cuda.h");
  constexpr std::string_view kDefine = "#define CUDA_VERSION ";
  for (std::string line; std::getline(header, line);) {
    if (!line.starts_with(kDefine)) continue;
    const long version = std::strtol(line.c_str() + kDefine.size(), nullptr, 10);
    return fmt::format("{}.{} in {}", version / 1000, version % 1000 / 10, root);
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> instrumented_units() {
  const MappedFile file("/proc/self/exe");
  const auto header = file.at<Elf64_Ehdr>(0, 1);
  if (header.empty()) return {};
  const auto sections = file.at<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    return count_constructors(file, section, sections[section.sh_link]);
  }
  return {};
}

double measure_hand_off() {
  constexpr unsigned kRounds = 20'000;  // some 0.1 s at 3 us each way
  void* memory = ::mmap(nullptr, sizeof(std::atomic<std::uint32_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  auto& turn = *static_cast<std::atomic<std::uint32_t>*>(memory);
  cpu_set_t before;
  ::sched_getaffinity(0, sizeof before, &before);
  pin_to_one_cpu();
  double nanoseconds = 0;
  // Two processes: a hand-off between threads costs the same, less the page tables.
  const pid_t other = ::fork();
  if (other == 0) {
    take_turns(turn, 1, kRounds);
    ::_exit(0);
  }
  if (other > 0) {
    const auto begin = Clock::now();
    take_turns(turn, 0, kRounds);
    ::waitpid(other, nullptr, 0);
    nanoseconds =
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / (2.0 * kRounds);
  }
  ::sched_setaffinity(0, sizeof before, &before);
  ::munmap(memory, sizeof(std::atomic<std::uint32_t>));
  return nanoseconds;
}

double measure_fork() {
  constexpr int kSamples = 7;
  std::array<double, kSamples> samples{};
  for (double& sample : samples) {
    const auto begin = Clock::now();
    const pid_t child = ::fork();
    if (child < 0) return 0;
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    sample = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

unsigned usable_processors() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
             ? static_cast<unsigned>(CPU_COUNT(&allowed))
             : 1;
}

bool can_observe_system_calls() {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    for (;;) ::pause();
  }
  const bool known = engine::observe_thread(child, child).known;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return known;
}

CudaFacts find_cuda() {
  CudaFacts facts;
  for (const char* variable : {"CUDAToolkit_ROOT", "CUDA_HOME", ""}) {
    const char* root = *variable == '\0' ? "/usr/local/cuda" : std::getenv(variable);
    if (root != nullptr && facts.toolkit.empty()) facts.toolkit = toolkit_in(root);
  }
  // Looked for, not loaded: the driver starts threads of its own.
  for (const char* directory : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib",
                                "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"}) {
    std::error_code ignored;
    if (std::filesystem::exists(std::string(directory) + "/libcuda.so.1", ignored)) {
      facts.driver = true;
    }
  }
  return facts;
}

}  // namespace weft::cli
