// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: no trace that the reader lets through makes a report fail. Method: bits flipped in sample
// files, their checksums repaired, and whatever still decodes rendered both ways.

#include <gtest/gtest.h>

#include <string>

#include "harness/base/prng.h"
#include "harness/trace/bytes.h"
#include "harness/trace/checksum.h"
#include "harness/trace/trace_file.h"
#include "reports/json.h"
#include "reports/sample_traces.h"
#include "reports/text.h"

namespace weft::reports {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kNameBytes = 4;
constexpr std::size_t kSectionHeaderBytes = 20;

// One bit of one section flipped.
std::string damaged(const std::string& file, Prng& random) {
  std::string result = file;
  const std::size_t bit = random.below(8 * (file.size() - kHeaderBytes)) + 8 * kHeaderBytes;
  for (std::size_t at = kHeaderBytes; at < file.size();) {
    trace::ByteReader header(std::string_view(file).substr(at + kNameBytes));
    const std::size_t payload = at + kSectionHeaderBytes;
    const std::size_t size = header.fixed64();
    if (bit / 8 >= payload && bit / 8 < payload + size) {
      result[bit / 8] = static_cast<char>(result[bit / 8] ^ (1 << bit % 8));
      trace::ByteWriter sum;
      sum.fixed64(trace::checksum(std::string_view(result).substr(payload, size)));
      result.replace(at + kNameBytes + 8, 8, sum.bytes());
    }
    at = payload + size;
  }
  return result;
}

TEST(Hostile, WhatDecodesRenders) {
  Prng random(7);
  int rendered = 0;
  for (const auto kind : {trace::FindingKind::kDeadlock, trace::FindingKind::kFatalSignal}) {
    const std::string file = trace::encode_trace(sample_trace(kind));
    for (int round = 0; round < 1000; ++round) {
      const auto trace = trace::decode_trace(damaged(file, random));
      if (!trace) continue;
      ++rendered;
      EXPECT_TRUE(render_text(*trace).starts_with("weft: "));
      EXPECT_TRUE(render_json(*trace).starts_with("{"));
    }
  }
  EXPECT_GT(rendered, 500);  // most flips change a name, a number, a value
}

}  // namespace
}  // namespace weft::reports
