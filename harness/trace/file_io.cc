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
#include <utility>

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

std::string system_failure(std::string_view what, const std::string& path) {
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(errno));
}

}  // namespace

Outcome<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  InputFile file;
  if (std::string failure = file.open(path, max_bytes); !failure.empty()) return Failure{failure};
  return file.read(0, file.size());
}

Outcome<std::string> write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  return file.commit();
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string InputFile::open(const std::string& path, std::uint64_t max_bytes) {
  // Non-blocking, so that opening a FIFO does not wait for somebody to write to it.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return system_failure("open", path);
  if (!S_ISREG(status.st_mode)) return fmt::format("{} is not a regular file", path);
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ > max_bytes) return fmt::format("{} is longer than {} bytes", path, max_bytes);
  return {};
}

std::string InputFile::read(std::uint64_t offset, std::size_t size) const {
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + filled, size - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)),
      temporary_(path_ + ".XXXXXX"),
      descriptor_(::mkostemp(temporary_.data(), O_CLOEXEC)) {
  if (descriptor_ < 0) failure_ = system_failure("create", temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(std::string_view what) {
  if (failure_.empty()) failure_ = system_failure(what, path_);
}

void AtomicFile::append(std::string_view bytes) {
  const std::uint64_t at = size_;
  size_ += bytes.size();
  overwrite(at, bytes);
}

void AtomicFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty() && failure_.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

Outcome<std::string> AtomicFile::commit() {
  // mkostemp() makes private files; findings are for whoever may read the directory.
  if (failure_.empty() && (::fchmod(descriptor_, 0644) != 0 || ::fsync(descriptor_) != 0 ||
                           ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    fail("write");
  }
  if (!failure_.empty()) return Failure{failure_};
  temporary_.clear();
  // The new name itself is on disk only when the directory is. Some file systems cannot flush
  // directories; the file is complete all the same.
  const std::string parent = std::filesystem::path(path_).parent_path();
  const Descriptor directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) (void)::fsync(directory.get());
  return path_;
}

}  // namespace weft::trace
