// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small multi-threaded programs as data: what each thread does, operation by
// operation. The same one runs under weft, under the genuine ThreadSanitizer
// and in the oracle.
#pragma once

#include <cstdint>
#include <vector>

namespace race_agreement {

enum class OpKind : std::uint8_t {
  kRead,
  kWrite,
  kLoad,
  kStore,
  kExchange,
  kFetchAdd,
  kCompareExchange,
  kFence,
  kLock,
  kUnlock,
  kSpawn,
  kJoin,
};

/// C11's numbers.
enum class Order : std::uint8_t { kRelaxed, kConsume, kAcquire, kRelease, kAcqRel, kSeqCst };

[[nodiscard]] constexpr bool acquires(Order order) {
  return order != Order::kRelaxed && order != Order::kRelease;
}
[[nodiscard]] constexpr bool releases(Order order) { return order >= Order::kRelease; }

struct Op {
  OpKind kind = OpKind::kRead;
  std::uint8_t object = 0;  // a word, a mutex or a thread
  Order order = Order::kSeqCst;
  Order failure_order = Order::kSeqCst;
  std::uint8_t value = 0;     // what is written
  std::uint8_t expected = 0;  // by a compare-exchange
  std::uint8_t skip = 0;      // operations left out where a load reads 0
};

inline constexpr int kThreads = 3;  // at most; thread 0 starts and joins the others
inline constexpr int kData = 3;     // words 0.. that are accessed plainly
inline constexpr int kWords = 5;    // the rest are atomic, with now and then a plain access
inline constexpr int kMutexes = 2;

struct Program {
  std::vector<std::vector<Op>> threads;
};

/// Program number `number`; always the same.
[[nodiscard]] Program generate(std::uint64_t number);

/// An operation that was executed, by its place in the program.
struct Executed {
  std::uint16_t thread = 0;
  std::uint16_t op = 0;
};

}  // namespace race_agreement
