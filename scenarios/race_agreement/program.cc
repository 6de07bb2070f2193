// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The generator. Programs are made of phrases that people write: a locked
// access, a publication and its reader, a reference count. How often a phrase has
// its synchronisation wrong differs from program to program, from never to often.

#include <random>

#include "scenarios/race_agreement/program.h"

namespace race_agreement {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t number) : random_(number * 2654435761u + 1) {
    constexpr int kSlips[] = {0, 0, 5, 15, 40};  // per cent
    slips_ = kSlips[number % std::size(kSlips)];
  }

  Program make() {
    Program program;
    const int children = 1 + below(kThreads - 1);
    program.threads.resize(static_cast<std::size_t>(children) + 1);
    for (int child = 1; child <= children; ++child) {
      out_ = &program.threads[static_cast<std::size_t>(child)];
      phrases(2 + below(3));
    }
    out_ = &program.threads[0];
    phrases(below(2));
    for (int child = 1; child <= children; ++child) {
      // Before anyone else runs, everything is allowed.
      if (child == 1) bare();
      add({.kind = OpKind::kSpawn, .object = byte(child)});
      if (slips() || below(3) == 0) phrase();
    }
    phrases(below(3));
    for (int child = 1; child <= children; ++child) {
      add({.kind = OpKind::kJoin, .object = byte(child)});
      if (child == children || slips()) bare();
    }
    return program;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool slips() { return below(100) < slips_; }
  static std::uint8_t byte(int n) { return static_cast<std::uint8_t>(n); }
  int datum() { return below(kData); }
  int flag() { return kData + below(kWords - kData); }
  void add(const Op& op) { out_->push_back(op); }

  void access(int word) {
    add({.kind = below(2) == 0 ? OpKind::kRead : OpKind::kWrite, .object = byte(word), .value = 1});
  }
  void bare() { access(datum()); }

  void phrases(int count) {
    for (int i = 0; i < count; ++i) phrase();
  }

  void phrase() {
    if (slips()) return slips() ? access(flag()) : bare();
    switch (below(6)) {
      case 0:
      case 1: return locked();
      case 2: return publish();
      case 3: return consume();
      case 4: return add(read_modify_write(flag(), any_order()));
      case 5: return loose();
    }
  }

  /// Each datum has its mutex.
  void locked() {
    const int word = datum();
    const int mutex = slips() ? below(kMutexes) : word % kMutexes;
    add({.kind = OpKind::kLock, .object = byte(mutex)});
    access(word);
    if (below(2) == 0) access(word);
    add({.kind = OpKind::kUnlock, .object = byte(mutex)});
  }

  void publish() {
    const int word = datum();
    const int at = flag();
    add({.kind = OpKind::kWrite, .object = byte(word), .value = 1});
    Order order = below(2) == 0 ? Order::kRelease : Order::kSeqCst;
    if (below(3) == 0) {
      add({.kind = OpKind::kFence, .order = fence_order(Order::kRelease)});
      order = Order::kRelaxed;
    }
    if (slips()) order = Order::kRelaxed;
    if (below(2) == 0) {
      add({.kind = OpKind::kStore, .object = byte(at), .order = order, .value = 1});
    } else {
      add(read_modify_write(at, order));
    }
  }

  void consume() {
    const int at = flag();
    const bool fenced = below(3) == 0;
    Order order = below(2) == 0 ? Order::kAcquire : Order::kSeqCst;
    if (fenced || slips()) order = Order::kRelaxed;
    const bool twice = below(2) == 0;
    add({.kind = OpKind::kLoad,
         .object = byte(at),
         .order = order,
         .skip = byte((fenced ? 1 : 0) + (twice ? 2 : 1))});
    if (fenced) add({.kind = OpKind::kFence, .order = fence_order(Order::kAcquire)});
    bare();
    if (twice) bare();
  }

  Order fence_order(Order wanted) {
    if (slips()) return Order::kAcquire;
    const Order stronger[] = {wanted, Order::kAcqRel, Order::kSeqCst};
    return stronger[below(3)];
  }

  Order any_order() {
    constexpr Order kAll[] = {Order::kRelaxed, Order::kAcquire, Order::kRelease, Order::kAcqRel,
                              Order::kSeqCst};
    return kAll[below(5)];
  }

  Op read_modify_write(int at, Order order) {
    Op op{.object = byte(at), .order = order, .value = 1};
    switch (below(3)) {
      case 0: op.kind = OpKind::kExchange; break;
      case 1: op.kind = OpKind::kFetchAdd; break;
      case 2:
        op.kind = OpKind::kCompareExchange;
        op.expected = byte(below(2));
        op.failure_order = acquires(order) && below(2) == 0 ? Order::kAcquire : Order::kRelaxed;
        break;
    }
    return op;
  }

  /// What goes on with a release sequence, or ends it, or means nothing.
  void loose() {
    switch (below(4)) {
      case 0:
        return add({.kind = OpKind::kStore,
                    .object = byte(flag()),
                    .order = Order::kRelaxed,
                    .value = byte(below(2))});
      case 1: return add({.kind = OpKind::kLoad, .object = byte(flag()), .order = Order::kRelaxed});
      case 2: return add({.kind = OpKind::kFence, .order = fence_order(Order::kRelease)});
      case 3: return add({.kind = OpKind::kLoad, .object = byte(flag()), .order = Order::kAcquire});
    }
  }

  std::mt19937 random_;
  int slips_ = 0;
  std::vector<Op>* out_ = nullptr;
};

}  // namespace

Program generate(std::uint64_t number) { return Generator(number).make(); }

}  // namespace race_agreement
