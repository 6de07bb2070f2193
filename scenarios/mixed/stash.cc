// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scenarios/mixed/copy.h"

namespace weft::mixed::WEFT_RT {
namespace {

std::shared_ptr<Stashed> initialise() {
  Strand& strand = *t_strand;
  ++strand.initialised;
  if (strand.initialiser_throws) throw ProgramException();
  return std::make_shared<Stashed>(strand.world(), strand.new_stashed());
}

// Of one rule each.
using Key = rt::StashKey<Stashed>;
const Key g_keys[kKeys] = {Key("mixed.private", rt::StashRule::kPrivate, &initialise),
                           Key("mixed.fill_missing", rt::StashRule::kFillMissing, &initialise),
                           Key("mixed.replace", rt::StashRule::kReplace, &initialise)};

StashedId stashed(unsigned key) {
  return rt::stash::contains(g_keys[key]) ? rt::stash::get(g_keys[key])->id() : 0;
}

}  // namespace

StashModel inheritable(const StashModel& stash) {
  StashModel captured = stash;
  for (unsigned key = 0; key < kKeys; ++key)
    if (g_keys[key].rule() == rt::StashRule::kPrivate) captured[key] = 0;
  return captured;
}

Merged::Merged(StrandOfCopy& strand, const StashModel& captured)
    : strand_(strand), before_(strand.stash) {
  for (unsigned key = 0; key < kKeys; ++key) {
    const bool has_its_own = before_[key] != 0;
    const bool gives_way = g_keys[key].rule() == rt::StashRule::kFillMissing && has_its_own;
    installed_[key] = captured[key] != 0 && !gives_way;
    if (installed_[key]) strand.stash[key] = captured[key];
  }
}

Merged::~Merged() {
  for (unsigned key = 0; key < kKeys; ++key)
    if (installed_[key]) strand_.stash[key] = before_[key];
}

void check_stash(Strand& strand, unsigned copy) {
  for (unsigned key = 0; key < kKeys; ++key)
    always(stashed(key) == strand.of(copy).stash[key],
           "a thread's stash is what it stashed, inherited and restored");
}

void State::adopt_thread(Strand& strand) {
  StrandOfCopy& mine = strand.of(copy);
  if (mine.follows == kNotRead) mine.follows = t_keeps[copy];
  const StashModel captured = mine.stash;
  for (unsigned key = 0; key < kKeys; ++key) {
    const StashedId found = stashed(key);
    if (captured[key] != 0) {
      always(found != 0, "work finds what its submitter had stashed");
      always(found == captured[key] || g_keys[key].rule() == rt::StashRule::kFillMissing,
             "work finds its submitter's object in place of the thread's own");
    }
    mine.stash[key] = found;
  }
}

void stash_set(Strand& strand, const Node& node) {
  const unsigned key = node.argument % kKeys;
  const StashedId id = strand.new_stashed();
  rt::stash::set(g_keys[key], std::make_shared<Stashed>(strand.world(), id));
  strand.of(node.copy).stash[key] = id;
}

void stash_erase(Strand& strand, const Node& node) {
  const unsigned key = node.argument % kKeys;
  const std::shared_ptr<Stashed> taken = rt::stash::erase(g_keys[key]);
  const StashedId expected = std::exchange(strand.of(node.copy).stash[key], 0);
  always((taken == nullptr ? 0 : taken->id()) == expected, "what is erased is what was stashed");
}

void stash_initialise(Strand& strand, const Node& node) {
  const unsigned key = node.argument % kKeys;
  StashedId& model = strand.of(node.copy).stash[key];
  const unsigned before = strand.initialised;
  strand.initialiser_throws = node.argument / kKeys % 4 == 0;
  try {
    const StashedId found = rt::stash::get_or_init(g_keys[key])->id();
    always(model == 0 || found == model, "a thread that has an object keeps it");
    always(strand.initialised == before + (model == 0 ? 1 : 0),
           "a key's initialiser runs once on a thread that has no object, else never");
    model = found;
  } catch (const ProgramException&) {
    always(model == 0 && strand.initialised == before + 1, "an initialiser throws to its caller");
  }
  strand.initialiser_throws = false;
  check_stash(strand, node.copy);
}

void stash_restore(Strand& strand, const Node& node) {
  StrandOfCopy& mine = strand.of(node.copy);
  const rt::StashCapture capture = rt::stash::capture();
  const StashModel captured = inheritable(mine.stash);
  strand.run(node.first);
  {
    const rt::StashGuard guard(capture);
    const Merged merged(mine, captured);
    check_stash(strand, node.copy);
    strand.run(node.second);
  }
  check_stash(strand, node.copy);
}

void stash_clear(Strand& strand, unsigned copy) {
  for (unsigned key = 0; key < kKeys; ++key) {
    (void)rt::stash::erase(g_keys[key]);
    strand.of(copy).stash[key] = 0;
  }
}

}  // namespace weft::mixed::WEFT_RT
