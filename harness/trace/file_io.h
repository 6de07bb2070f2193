// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Files in and out. Supervisor side; failures name the file and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/trace/outcome.h"

namespace weft::trace {

/// The file's bytes; refuses what is no regular file, and more than `max_bytes`.
[[nodiscard]] Outcome<std::string> read_file(const std::string& path, std::size_t max_bytes);

/// Whoever opens `path` sees the old file or all of the new one, also after a crash of the machine:
/// written beside it, flushed to disk, renamed. Returns the path.
[[nodiscard]] Outcome<std::string> write_file_atomically(const std::string& path,
                                                         std::string_view bytes);

/// The same for a file that is written piece by piece. Without commit() it leaves nothing.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// A failure sticks, and commit() tells it.
  void append(std::string_view bytes);
  /// Over what was appended at `offset`.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Returns the path.
  [[nodiscard]] Outcome<std::string> commit();

 private:
  void fail(std::string_view what);

  const std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string failure_;
};

/// A file that is read piece by piece.
class InputFile {
 public:
  InputFile() = default;
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Empty, or why it cannot be read: as read_file() does.
  [[nodiscard]] std::string open(const std::string& path, std::uint64_t max_bytes);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Fewer bytes than asked for where the file ends or cannot be read.
  [[nodiscard]] std::string read(std::uint64_t offset, std::size_t size) const;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace weft::trace
