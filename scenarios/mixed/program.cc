// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/program.h"

#include <algorithm>
#include <iterator>

namespace weft::mixed {
namespace {

/// SplitMix64 (Steele, Lea, Flood: 'Fast Splittable Pseudorandom Number Generators', OOPSLA 2014).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27U) * 0x94d049bb133111eb;
    return z ^ z >> 31U;
  }
  /// In [0, n).
  unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32U) * n >> 32U); }

 private:
  std::uint64_t state_;
};

class Generator {
 public:
  Generator(std::uint64_t number, std::span<const Operation> table, unsigned most_copies)
      : numbers_(number), table_(table) {
    program_.copies = 1 + numbers_.below(most_copies);
    program_.pool_threads = 1 + numbers_.below(2);
    program_.cancel_pools = numbers_.below(4) == 0;
    // Threads of pools count; who exceeds the limit submits nothing.
    strand_limit_ = 2 + numbers_.below(kMostStrands - 1);
    // Small programs find most bugs and run soonest: half of the sizes are below 16.
    operations_ = numbers_.below(2) == 0 ? 4 + numbers_.below(12) : 16 + numbers_.below(45);
    for (unsigned copy = 0; copy < kMostCopies; ++copy) choose_policy(copy);
    choose_operations();
  }

  Program generate() {
    if (numbers_.below(4) != 0) start_strands_first();
    fill(program_.main, operations_);
    return std::move(program_);
  }

 private:
  // Late binding, the default, in two of three. A main strand that has no context has none to hand
  // on either.
  void choose_policy(unsigned copy) {
    constexpr Policy kOthers[] = {Policy::kEarly, Policy::kExplicitOnly};
    const unsigned drawn = numbers_.below(6);
    if (drawn < std::size(kOthers)) program_.policies[copy] = kOthers[drawn];
    const bool given = numbers_.below(3) != 0;
    program_.gives_main_one[copy] = given && program_.policies[copy] == Policy::kExplicitOnly;
  }

  // A program that does few kinds of things does them to each other more often: Groce and others,
  // 'Swarm Testing', ISSTA 2012.
  void choose_operations() {
    weights_.assign(table_.size(), 0);
    bool starts_strands = false;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const bool strand = table_[i].shape == Shape::kStrand;
      if (numbers_.below(5) < 2) continue;
      weights_[i] = table_[i].weight;
      starts_strands |= strand;
    }
    // The first row starts a strand: without one nothing is concurrent.
    if (!starts_strands) weights_[0] = table_[0].weight;
  }

  // Several strands with equal shares of the work, begun at once.
  void start_strands_first() {
    const unsigned strands = 1 + numbers_.below(std::min(strand_limit_ - 1, operations_ / 2));
    const unsigned share = operations_ / (strands + 1);
    for (unsigned i = 0; i < strands && operations_ > share; ++i) {
      Node node = draw(/*only_strands=*/true);
      if (node.strand == 0) return;
      operations_ -= share;
      fill(node.first, share - 1);
      program_.main.push_back(std::move(node));
    }
  }

  void fill(std::vector<Node>& block, unsigned share) {
    while (share > 0) {
      --share;
      Node node = draw(false);
      switch (table_[node.operation].shape) {
        case Shape::kLeaf: break;
        case Shape::kTwoParts: {
          const unsigned part = numbers_.below(std::min(share, 5U) + 1);
          share -= part;
          fill(node.second, part);
          [[fallthrough]];
        }
        case Shape::kScope:
        case Shape::kStrand: {
          const unsigned part = numbers_.below(std::min(share, 8U) + 1);
          share -= part;
          fill(node.first, part);
          break;
        }
      }
      block.push_back(std::move(node));
    }
  }

  Node draw(bool only_strands) {
    const bool may_start = program_.strands < strand_limit_;
    unsigned total = 0;
    const auto weight = [&](std::size_t i) {
      const bool strand = table_[i].shape == Shape::kStrand;
      return (strand && !may_start) || (only_strands && !strand) ? 0 : weights_[i];
    };
    for (std::size_t i = 0; i < table_.size(); ++i) total += weight(i);
    Node node;
    node.copy = static_cast<std::uint8_t>(numbers_.below(program_.copies));
    node.argument = static_cast<std::uint32_t>(numbers_.next() >> 32U);
    if (total == 0) {
      // Of all that was left out: look something up.
      node.operation = static_cast<std::uint8_t>(table_.size() - 1);
      return node;
    }
    unsigned drawn = numbers_.below(total);
    std::size_t i = 0;
    for (; drawn >= weight(i); ++i) drawn -= weight(i);
    node.operation = static_cast<std::uint8_t>(i);
    if (table_[i].shape == Shape::kStrand)
      node.strand = static_cast<std::uint8_t>(program_.strands++);
    return node;
  }

  Numbers numbers_;
  std::span<const Operation> table_;
  std::vector<unsigned> weights_;
  unsigned strand_limit_ = 2;
  unsigned operations_ = 0;  // not given to a strand yet
  Program program_;
};

}  // namespace

Program generate(std::uint64_t number, std::span<const Operation> table, unsigned most_copies) {
  return Generator(number, table, most_copies).generate();
}

}  // namespace weft::mixed
