// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// When two findings are the same bug.

#include <algorithm>
#include <cstring>
#include <string_view>

#include "harness/base/prng.h"
#include "harness/engine/explorer.h"

namespace weft::engine {
namespace {

using trace::FindingKind;

/// Innermost frames of the code under test that make a place. More would tell
/// apart call paths to one bug; fewer would merge bugs behind one helper function.
constexpr int kPlaceFrames = 3;

std::string_view basename_of(const trace::ModuleRow& row) {
  const std::string_view path(row.path, ::strnlen(row.path, sizeof row.path));
  return path.substr(path.rfind('/') + 1);
}

/// Frames there (abort's own, the unwinder's) say nothing about the bug's place.
bool is_system_module(const trace::ModuleRow& row) {
  for (const char* prefix : {"libc.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libm.so",
                             "libpthread.so", "libweft.so", "libclang_rt.", "[vdso]"}) {
    if (basename_of(row).starts_with(prefix)) return true;
  }
  return false;
}

std::uint64_t fold_site(std::uint64_t seed, const trace::Channel& channel, Site site) {
  if (site.module >= std::min<std::size_t>(channel.module_count, trace::kMaxModules)) return seed;
  return fold(fold(seed, channel.modules[site.module].id), site.offset);
}

std::uint64_t fold_stack(std::uint64_t seed, const trace::Channel& channel,
                         const trace::Stack& stack, std::size_t from) {
  int taken = 0;
  const std::size_t count = std::min<std::size_t>(stack.count, trace::kMaxFrames);
  for (std::size_t i = from; i < count && taken < kPlaceFrames; ++i) {
    const Site site = stack.frames[i];
    if (site.module >= std::min<std::size_t>(channel.module_count, trace::kMaxModules)) continue;
    if (is_system_module(channel.modules[site.module])) continue;
    seed = fold_site(seed, channel, site);
    ++taken;
  }
  return seed;
}

}  // namespace

std::uint64_t identity_of(const trace::Channel& channel, const trace::Finding& finding) {
  if (finding.identity != 0) return identity_of_race(finding.identity);
  std::uint64_t identity = fold(0, static_cast<std::uint64_t>(finding.kind));
  // A hang's message names a time, and the place is told by the stack; but not by its innermost
  // frame, which is where in its loop the task happened to be.
  const bool hang = finding.kind == FindingKind::kHang;
  if (!hang) {
    identity = fold(identity,
                    hash_text(finding.message, ::strnlen(finding.message, sizeof finding.message)));
  }
  // A deadlock's tasks are folded without order: which of them closed the cycle is the schedule's.
  std::uint64_t places = 0;
  const std::size_t count = std::min<std::size_t>(finding.task_count, trace::kMaxFindingTasks);
  for (std::size_t i = 0; i < count; ++i) {
    const trace::FindingTask& task = finding.tasks[i];
    // Who took the lock last is the schedule's as well.
    const TaskIndex one =
        finding.kind == FindingKind::kStarvation ? finding.starved.waiter : finding.task;
    if (finding.kind == FindingKind::kDeadlock ? task.in_cycle : task.index == one) {
      places += fold_stack(1, channel, task.stack, hang ? 1 : 0);
    }
  }
  return fold(identity, places);
}

std::uint64_t identity_of_race(std::uint64_t race) {
  return fold(fold(0, static_cast<std::uint64_t>(FindingKind::kDataRace)), race);
}

bool same_finding(const trace::Finding& original, const WorkerOutcome& again) {
  if (again.kind != WorkerOutcome::Kind::kFinding) return false;
  if (original.kind != again.finding.kind) return false;
  if (original.kind == FindingKind::kHang) return true;
  return std::strncmp(original.message, again.finding.message, sizeof original.message) == 0;
}

}  // namespace weft::engine
