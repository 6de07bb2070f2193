// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/race_agreement/oracle.h"

#include <algorithm>
#include <array>

namespace race_agreement {
namespace {

/// How many operations of each thread come before.
using Clock = std::array<std::uint32_t, kThreads>;

void join(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
}

struct Access {
  std::size_t thread;
  std::uint32_t time;
  bool writes;
  bool atomic;
};

class Oracle {
 public:
  explicit Oracle(const Departures& departures) : departures_(departures) {}

  /// False where the operation races with an earlier one.
  bool run(std::size_t thread, const Op& op) {
    Clock& clock = known_[thread];
    const std::uint32_t now = ++clock[thread];
    switch (op.kind) {
      case OpKind::kRead: return access(op.object, {thread, now, false, false});
      case OpKind::kWrite:
        values_[op.object] = op.value;
        return access(op.object, {thread, now, true, false});
      case OpKind::kLoad:
        acquire(thread, op.object, op.order);
        return access(op.object, {thread, now, false, true});
      case OpKind::kStore:
        values_[op.object] = op.value;
        store(thread, op.object, op.order);
        return access(op.object, {thread, now, true, true});
      case OpKind::kExchange:
      case OpKind::kFetchAdd:
      case OpKind::kCompareExchange: return read_modify_write(thread, op, now);
      case OpKind::kFence: return fence(thread, op.order), true;
      case OpKind::kLock: return join(clock, mutexes_[op.object]), true;
      case OpKind::kUnlock: return mutexes_[op.object] = clock, true;
      case OpKind::kSpawn: return join(known_[op.object], clock), true;
      case OpKind::kJoin: return join(clock, known_[op.object]), true;
    }
    return true;
  }

 private:
  bool read_modify_write(std::size_t thread, const Op& op, std::uint32_t now) {
    int& value = values_[op.object];
    const bool succeeds = op.kind != OpKind::kCompareExchange || value == op.expected;
    if (succeeds) value = op.kind == OpKind::kFetchAdd ? value + op.value : op.value;
    const bool checked_as_write = succeeds || departures_.checked_before_acquire;
    const Access here{thread, now, checked_as_write, true};
    if (departures_.checked_before_acquire && !access(op.object, here)) return false;
    acquire(thread, op.object, succeeds ? op.order : failure_order(op));
    if (succeeds) join(released_[op.object], handed_over(thread, op.order));
    return departures_.checked_before_acquire || access(op.object, here);
  }

  static Order failure_order(const Op& op) {
    return acquires(op.order) && op.failure_order != Order::kRelaxed ? Order::kAcquire
                                                                     : Order::kRelaxed;
  }

  void acquire(std::size_t thread, std::size_t word, Order order) {
    join(acquires(order) ? known_[thread] : seen_[thread], released_[word]);
  }

  [[nodiscard]] Clock handed_over(std::size_t thread, Order order) const {
    return releases(order) ? known_[thread] : fenced_[thread];
  }

  void store(std::size_t thread, std::size_t word, Order order) {
    if (!releases(order) && departures_.relaxed_store_goes_on) {
      join(released_[word], handed_over(thread, order));
    } else {
      released_[word] = handed_over(thread, order);
    }
  }

  void fence(std::size_t thread, Order order) {
    if (departures_.no_fences) return;
    if (acquires(order)) join(known_[thread], seen_[thread]);
    if (releases(order)) fenced_[thread] = known_[thread];
  }

  bool access(std::size_t word, const Access& now) {
    std::vector<Access>& earlier = accesses_[word];
    std::size_t begin = 0;
    constexpr std::size_t kCells = 4;
    if (departures_.forgets && earlier.size() > kCells) begin = earlier.size() - kCells;
    const bool fine = std::none_of(
        earlier.begin() + static_cast<std::ptrdiff_t>(begin), earlier.end(), [&](const Access& a) {
          return a.thread != now.thread && (a.writes || now.writes) && !(a.atomic && now.atomic) &&
                 a.time > known_[now.thread][a.thread];
        });
    earlier.push_back(now);
    return fine;
  }

  const Departures departures_;
  Clock known_[kThreads] = {};
  Clock seen_[kThreads] = {};    // released to relaxed loads: an acquire fence's
  Clock fenced_[kThreads] = {};  // known at the latest release fence
  Clock released_[kWords] = {};
  Clock mutexes_[kMutexes] = {};
  int values_[kWords] = {};
  std::vector<Access> accesses_[kWords];
};

}  // namespace

std::optional<std::size_t> first_race(const Program& program, const std::vector<Executed>& order,
                                      const Departures& departures) {
  Oracle oracle(departures);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!oracle.run(order[i].thread, program.threads[order[i].thread][order[i].op])) return i;
  }
  return std::nullopt;
}

}  // namespace race_agreement
