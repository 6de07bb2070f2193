// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where logs go that outgrow their part of the channel: a temporary file without a name, which the
// supervisor makes before the fork and reads after the worker's end. The worker inherits the
// descriptor. What a crash leaves in it is kept, as what is in the channel is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::trace {

/// The worker's side, in the channel: where to write, if anywhere.
struct SpillPlace {
  int descriptor = -1;
  std::uint64_t limit = 0;  // RLIMIT_FSIZE: to write beyond it would kill the worker
};

/// Writes all of `size` bytes at `offset`; false where the disk or the limit does not take them.
/// Sets no errno and calls nothing that the code under test may have replaced.
[[nodiscard]] bool write_at(const SpillPlace& place, const void* bytes, std::size_t size,
                            std::uint64_t offset) noexcept;

/// Reads up to `size` bytes at `offset`; returns how many there were.
[[nodiscard]] std::size_t read_at(const SpillPlace& place, void* bytes, std::size_t size,
                                  std::uint64_t offset) noexcept;

/// The supervisor's side: makes the file and, with itself, unmakes it.
class SpillFile {
 public:
  SpillFile() = default;
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// The file, empty; made at the first call, in $TMPDIR, else /var/tmp (which is on a disk where
  /// /tmp may be memory), else /tmp. Where no directory takes it, a place that takes no byte.
  SpillPlace empty() noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace weft::trace
