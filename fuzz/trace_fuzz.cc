// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trace files travel: any bytes must be refused in words, within bounded memory, or mean exactly
// one trace. Most mutations change one section and repair its checksum, which random ones never
// match.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/fuzzer.h"
#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"
#include "harness/trace/trace_file.h"

namespace {

using weft::fuzz::require;

constexpr std::size_t kRoom = 64;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kNameBytes = 4;

struct File {
  std::string header;
  std::vector<std::pair<std::string, std::string>> sections;  // name, payload
};

// As much as looks like sections.
File split(std::string_view bytes) {
  weft::trace::ByteReader in(bytes);
  File file;
  file.header = in.raw(kHeaderBytes);
  while (in.ok() && in.left() != 0) {
    const std::string_view name = in.raw(kNameBytes);
    const std::uint64_t size = in.fixed64();
    (void)in.fixed64();  // the checksum
    const std::string_view payload = in.raw(size);
    if (in.ok()) file.sections.emplace_back(name, payload);
  }
  return file;
}

std::string join(const File& file) {
  weft::trace::ByteWriter out;
  out.raw(file.header);
  for (const auto& [name, payload] : file.sections) {
    out.raw(name);
    out.fixed64(payload.size());
    out.fixed64(weft::trace::checksum(payload));
    out.raw(payload);
  }
  return out.take();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = weft::trace::decode_trace({reinterpret_cast<const char*>(data), size});
  if (!trace) {
    require(trace.error().starts_with("bad trace: "), "a refusal says what is wrong");
    return 0;
  }
  const std::string canonical = weft::trace::encode_trace(*trace);
  const auto again = weft::trace::decode_trace(canonical);
  require(static_cast<bool>(again), "what was encoded decodes");
  require(weft::trace::encode_trace(*again) == canonical, "and means the same");
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                    unsigned seed) {
  File file = split({reinterpret_cast<const char*>(data), size});
  constexpr unsigned kOneInSoManyIsRaw = 8;
  if (file.sections.empty() || seed % kOneInSoManyIsRaw == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::string& payload = file.sections[seed / kOneInSoManyIsRaw % file.sections.size()].second;
  payload = weft::fuzz::mutated(std::move(payload), kRoom);
  const std::string bytes = join(file);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
