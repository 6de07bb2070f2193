// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which thread the running code takes itself for.
//
// %fs stays that of the kernel thread that runs everything, the carrier. What code and libc read
// through it lies in the carrier's thread control block, and there another thread's words are put:
//
//   %fs:0     the block's own address, to which code adds a thread_local's offset
//   %fs:8     the table of thread-local blocks of modules (dtv), which __tls_get_addr() goes by
//   %fs:16    the same as %fs:0, for libc: pthread_self()
//   tid       for libc: whose a mutex is
//
// The first three are those of the x86-64 ABI for thread-local storage (Drepper, "ELF Handling For
// Thread-Local Storage", 4.3.4) and of glibc's tcbhead_t; where glibc keeps the tid is found out.
// Code that adds no offset but reads %fs:OFFSET sees the carrier's thread_locals: code under test
// and the harness are compiled with -mno-tls-direct-seg-refs, and direct_tls.h looks for what is
// not.
//
// Thread-safety: the carrier's alone.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace weft::executor {

/// A thread, as the carrier can take itself for it.
struct Identity {
  pthread_t thread = 0;
  void* dtv = nullptr;
  std::int32_t tid = 0;
};

/// The beginning of glibc's struct pthread.
struct ControlBlock {
  void* tcb;
  void* dtv;
  void* self;
};

[[nodiscard]] inline ControlBlock* block_of(pthread_t thread) noexcept {
  return reinterpret_cast<ControlBlock*>(thread);
}

/// Of a thread that nobody has been taken for yet, or of the calling one where nobody is.
[[nodiscard]] Identity identity_of(pthread_t thread, std::int32_t tid) noexcept;

class Carrier {
 public:
  /// The calling thread becomes the carrier. `other` is another thread that exists: what is found
  /// is checked against it. Null, or what this process has that is not as expected.
  [[nodiscard]] const char* discover(const Identity& other) noexcept;

  /// From here on the running code takes itself for `next`, where it took itself for `present`.
  void change(Identity& present, const Identity& next) noexcept {
    // __tls_get_addr() may have moved the table, and told the carrier's block alone.
    present.dtv = block_->dtv;
    block_of(present.thread)->dtv = block_->dtv;
    block_->tcb = block_->self = block_of(next.thread);
    block_->dtv = next.dtv;
    *tid_ = next.tid;
  }

  [[nodiscard]] Identity& own() noexcept { return own_; }
  [[nodiscard]] const Identity& own() const noexcept { return own_; }
  /// Where libc's own code finds errno, whoever it runs for.
  [[nodiscard]] int* error_number() const noexcept { return error_number_; }
  /// And how far from the thread's control block that is, in every thread.
  [[nodiscard]] std::uintptr_t error_number_offset() const noexcept {
    return reinterpret_cast<std::uintptr_t>(error_number_) - own_.thread;
  }

 private:
  ControlBlock* block_ = nullptr;
  std::int32_t* tid_ = nullptr;
  int* error_number_ = nullptr;
  Identity own_;
};

}  // namespace weft::executor
