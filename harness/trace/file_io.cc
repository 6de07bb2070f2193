// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

namespace weft::trace {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

Failure system_failure(std::string_view what, const std::string& path) {
  return Failure{fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Outcome<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  // Non-blocking, so that opening a FIFO does not wait for somebody to write to it.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return system_failure("open", path);
  if (!S_ISREG(status.st_mode)) return Failure{fmt::format("{} is not a regular file", path)};
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
    return Failure{fmt::format("{} is longer than {} bytes", path, max_bytes)};
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path);
    if (got == 0) break;  // it shrank meanwhile
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Outcome<std::string> write_file_atomically(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return system_failure("create", temporary);
  // mkostemp() makes private files; findings are for whoever may read the directory.
  const bool written = ::fchmod(file.get(), 0644) == 0 && write_all(file.get(), bytes) &&
                       ::fsync(file.get()) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const Failure failure = system_failure("write", path);
    ::unlink(temporary.c_str());
    return failure;
  }
  // The new name itself is on disk only when the directory is. Some file systems cannot flush
  // directories; the file is complete all the same.
  const std::string parent = std::filesystem::path(path).parent_path();
  const Descriptor directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) (void)::fsync(directory.get());
  return path;
}

}  // namespace weft::trace
