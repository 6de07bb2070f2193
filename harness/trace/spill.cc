// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/spill.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "harness/base/system_call.h"

namespace weft::trace {
namespace {

/// Out of the way of the descriptors that the code under test is given, which must be the same with
/// and without a spill file: below the usual limit of 1,024, above what a test usually opens.
constexpr int kFirstDescriptor = 900;

int open_unnamed(const char* directory) noexcept {
  if (directory == nullptr || *directory == '\0') return -1;
  const int direct = ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (direct >= 0) return direct;
  // Not every file system knows O_TMPFILE.
  std::string name = std::string(directory) + "/weft-spill-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

bool write_at(const SpillPlace& place, const void* bytes, std::size_t size,
              std::uint64_t offset) noexcept {
  if (place.descriptor < 0 || offset + size > place.limit) return false;
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (size != 0) {
    const long written = system_call(SYS_pwrite64, place.descriptor, from, size, offset);
    if (written == -EINTR) continue;
    if (is_error(written) || written == 0) return false;
    from += written;
    size -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

std::size_t read_at(const SpillPlace& place, void* bytes, std::size_t size,
                    std::uint64_t offset) noexcept {
  auto* into = static_cast<unsigned char*>(bytes);
  std::size_t filled = 0;
  while (place.descriptor >= 0 && filled < size) {
    const long got =
        system_call(SYS_pread64, place.descriptor, into + filled, size - filled, offset + filled);
    if (got == -EINTR) continue;
    if (is_error(got) || got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SpillPlace SpillFile::empty() noexcept {
  if (descriptor_ >= 0) {
    if (::ftruncate(descriptor_, 0) != 0) return {};
  } else {
    for (const char* directory :
         {static_cast<const char*>(std::getenv("TMPDIR")), "/var/tmp", "/tmp"}) {
      descriptor_ = open_unnamed(directory);
      if (descriptor_ >= 0) break;
    }
    if (descriptor_ < 0) return {};
    const int moved = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, kFirstDescriptor);
    if (moved >= 0) {
      ::close(descriptor_);
      descriptor_ = moved;
    }
  }
  rlimit size{};
  if (::getrlimit(RLIMIT_FSIZE, &size) != 0) size.rlim_cur = RLIM_INFINITY;
  return {.descriptor = descriptor_, .limit = size.rlim_cur};
}

}  // namespace weft::trace
