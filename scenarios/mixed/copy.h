// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a program's strands need of one copy of the runtime, in that copy's types. Everything here
// is compiled once for each copy, in a namespace of the copy's name.
#pragma once

#include <weft/weft.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lib/context/operators.h"
#include "lib/stash/guard.h"
#include "lib/threads/pool.h"
#include "scenarios/mixed/world.h"

namespace WEFT_RT {}
namespace rt = ::WEFT_RT;

namespace weft::mixed::WEFT_RT {

/// Asks nobody anything, and says how often it was asked.
class CountingProbe : public rt::DeviceProbe {
 public:
  static constexpr int kDevices = 2;
  int count() const override;
  rt::DeviceProperties properties(int device) const override;

 private:
  /// The first time that a question is asked, there may be no answer.
  mutable std::atomic<int> counted_{0};
  mutable std::atomic<int> asking_{0};
  mutable std::atomic<int> described_[kDevices] = {};
};

class State : public CopyState {
 public:
  State(World& world, unsigned copy, const Program& program)
      : world(world), copy(copy), program_(program) {}

  void begin(Strand& main) override;
  void end_pool(bool cancel) override;
  void check_end(Strand& main) override;
  [[nodiscard]] bool holds() const override;

  /// Made by who first needs it.
  rt::ManagedPool& pool();
  void adopt_thread(Strand& strand) override;
  void allow(int n) override {
    // Natively somebody may be comparing a count of before with an allowance of after.
    if (n < 0 && !exploring()) return;
    allowed_.fetch_add(n, std::memory_order_relaxed);  // relaxed: a count
  }

  World& world;
  const unsigned copy;
  const std::shared_ptr<const rt::DeviceFacts> facts =
      std::make_shared<const rt::DeviceFacts>(std::make_unique<const CountingProbe>());

 private:
  const Program& program_;
  std::mutex mutex_;
  bool ended_ = false;                   // and so no pool is made any more
  std::optional<rt::ManagedPool> pool_;  // once made, there until the end
  // What the global cell holds, and of the main strand what it holds and what it is replacing.
  std::atomic<int> allowed_{3};
};

inline State& state_of(const Strand& strand, unsigned copy) {
  return static_cast<State&>(strand.world().state(copy));
}

/// One more implementation may be alive: around a pin.
class Allowance {
 public:
  explicit Allowance(State& state) : state_(state) { state.allow(1); }
  ~Allowance() { state_.allow(-1); }
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;

 private:
  State& state_;
};

/// The settings in a context; a finding where parts of two are mixed.
[[nodiscard]] Settings observe(const rt::ContextImpl& impl, const State& state);
/// Sets the fields of `fields` to values made from `argument`, in the context and in its model.
void edit(rt::ContextImpl& impl, const State& state, std::uint8_t fields, std::uint32_t argument);
[[nodiscard]] Settings edited(Settings settings, std::uint8_t fields, std::uint32_t argument);

/// A call of current(), and what it gave; written down as what the strand follows answered. Not for
/// a strand that has no context.
const rt::ContextImpl& read(Strand& strand, unsigned copy);
/// The same, for any strand; one that has no context must be told so.
void look(Strand& strand, unsigned copy);

/// Whether the strand was never given a context. Then `use`, which reads, must say so and nothing
/// else.
template <class Use>
bool refused(Strand& strand, unsigned copy, Use use) {
  const bool none = strand.of(copy).follows == kNoContext;
  always(rt::thread_has_context() != none, "a thread is told whether it has a context");
  if (!none) return false;
  bool told = false;
  try {
    use();
  } catch (const rt::NoContext&) {
    told = true;
  }
  always(told, "who was never given a context gets an error, never a value");
  return true;
}

/// Around what may be the strand's first read under Policy::kEarly: what the global context was at
/// an instant in between is what the strand has from then on. Otherwise nothing.
class FirstRead {
 public:
  FirstRead(Strand& strand, unsigned copy);
  /// It is bound by now, and that is what it sees.
  void saw(const Settings& settings);
  /// The same, where it is still to look.
  void look();

 private:
  Strand& strand_;
  const unsigned copy_;
  const bool first_;
  std::uint64_t begin_ = 0;
};

/// The strand follows another context, as an override in force says.
class Following {
 public:
  Following(StrandOfCopy& strand, ContextId context, rt::ContextOverride* guard)
      : strand_(strand),
        before_(std::exchange(strand.follows, context)),
        outer_(std::exchange(strand.innermost_override, guard)) {
    ++strand.overrides;
  }
  ~Following() {
    --strand_.overrides;
    strand_.follows = before_;
    strand_.innermost_override = outer_;
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  StrandOfCopy& strand_;
  ContextId before_;
  void* outer_;
};

/// The strand's stash is that of a thread that another's is merged into, until the end of scope.
class Merged {
 public:
  Merged(StrandOfCopy& strand, const StashModel& captured);
  ~Merged();
  Merged(const Merged&) = delete;
  Merged& operator=(const Merged&) = delete;

 private:
  StrandOfCopy& strand_;
  StashModel before_;
  bool installed_[kKeys] = {};
};

/// What others inherit of it.
[[nodiscard]] StashModel inheritable(const StashModel& stash);
/// Holds the stash to its model.
void check_stash(Strand& strand, unsigned copy);
void stash_set(Strand& strand, const Node& node);
void stash_erase(Strand& strand, const Node& node);
void stash_initialise(Strand& strand, const Node& node);
void stash_restore(Strand& strand, const Node& node);
void stash_clear(Strand& strand, unsigned copy);

void ask_facts(Strand& strand, const Node& node);
void allocate(Strand& strand, const Node& node);
void register_operator(Strand& strand, const Node& node);
void open_operators(Strand& strand, const Node& node);
void call_operator(Strand& strand, const Node& node);

/// What index `which` of the table of operators is, by number of function; 0: none.
[[nodiscard]] std::uint8_t operator_in(const rt::ContextImpl& impl, unsigned which);

}  // namespace weft::mixed::WEFT_RT
