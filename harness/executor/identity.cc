// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/executor/identity.h"

#include <link.h>
#include <sys/syscall.h>

#include <cerrno>

#include "harness/base/system_call.h"

namespace weft::executor {
namespace {

// glibc 2.36 keeps the tid at 720 of 2,304 bytes.
constexpr std::size_t kSearchedBytes = 2048;

ControlBlock* block_by_segment() noexcept {
  void* block;
  asm("movq %%fs:0, %0" : "=r"(block));
  return static_cast<ControlBlock*>(block);
}

/// Whether the table of thread-local blocks is where it is thought to be: its entry for a module,
/// two words wide, begins with the address of the calling thread's block of that module.
bool table_is_as_expected(const ControlBlock& block) noexcept {
  struct Search {
    void* const* table;
    std::size_t seen;
    bool equal;
  } search{static_cast<void* const*>(block.dtv), 0, true};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        auto& search = *static_cast<Search*>(context);
        if (info->dlpi_tls_modid == 0 || info->dlpi_tls_data == nullptr) return 0;
        ++search.seen;
        if (search.table[2 * info->dlpi_tls_modid] != info->dlpi_tls_data) search.equal = false;
        return 0;
      },
      &search);
  return search.seen != 0 && search.equal;
}

std::int32_t* word_at(pthread_t thread, std::size_t offset) noexcept {
  return reinterpret_cast<std::int32_t*>(thread + offset);
}

/// Where both threads have their tid; 0: nowhere, or in several places.
std::size_t find_tid(const Identity& own, const Identity& other) noexcept {
  std::size_t found = 0;
  for (std::size_t at = sizeof(ControlBlock); at < kSearchedBytes; at += sizeof(std::int32_t)) {
    if (*word_at(own.thread, at) != own.tid || *word_at(other.thread, at) != other.tid) continue;
    if (found != 0) return 0;
    found = at;
  }
  return found;
}

}  // namespace

Identity identity_of(pthread_t thread, std::int32_t tid) noexcept {
  return {thread, block_of(thread)->dtv, tid};
}

const char* Carrier::discover(const Identity& other) noexcept {
  block_ = block_by_segment();
  const pthread_t self = pthread_self();
  if (block_ != block_of(self) || block_->tcb != block_ || block_->self != block_)
    return "the thread control block does not begin as in the ABI for thread-local storage";
  if (!table_is_as_expected(*block_))
    return "the table of thread-local blocks is not where the ABI has it";
  own_ = identity_of(self, static_cast<std::int32_t>(system_call(SYS_gettid)));
  const std::size_t tid_offset = find_tid(own_, other);
  if (tid_offset == 0) return "libc does not keep a thread's number in its control block";
  tid_ = word_at(self, tid_offset);
  error_number_ = &errno;
  return nullptr;
}

}  // namespace weft::executor
