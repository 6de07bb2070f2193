// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a body that skips itself, in a worker process, tells the process that runs
// GoogleTest. Thread-safety: note() from any process and task; the rest from the
// process that made it, while no exploration runs.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace weft::gtest {

class SkipNotice {
 public:
  SkipNotice() {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) shared_ = new (memory) Shared;
  }
  SkipNotice(const SkipNotice&) = delete;
  SkipNotice& operator=(const SkipNotice&) = delete;

  void clear() {
    if (shared_ != nullptr) shared_->executions = 0;
  }

  /// The first reason and its place are kept; nobody writes over them.
  void note(std::string_view file, int line, std::string_view reason) {
    if (shared_ == nullptr || shared_->executions.fetch_add(1) != 0) return;
    copy(file, shared_->file);
    shared_->line = line;
    copy(reason, shared_->reason);
  }

  /// Executions that skipped, the warm-ups of the workers included.
  [[nodiscard]] std::uint64_t executions() const {
    return shared_ == nullptr ? 0 : shared_->executions.load();
  }
  [[nodiscard]] const char* file() const { return shared_->file; }
  [[nodiscard]] int line() const { return shared_->line; }
  [[nodiscard]] std::string reason() const { return shared_->reason; }

 private:
  struct Shared {
    std::atomic<std::uint64_t> executions = 0;
    char file[1024] = {};
    int line = 0;
    char reason[1024] = {};
  };

  template <std::size_t N>
  static void copy(std::string_view text, char (&into)[N]) {
    const std::size_t length = std::min(text.size(), N - 1);
    std::memcpy(into, text.data(), length);
    into[length] = '\0';
  }

  Shared* shared_ = nullptr;  // null where there was no memory: then nothing counts as skipped
};

}  // namespace weft::gtest
