// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares the verdicts on each schedule: weft's, ThreadSanitizer's and, where
// they differ, the oracle's.
//
//   weft_race_agreement_compare WEFT TSAN    files of schedules, line by line the same
//
// Exit status: 0 where every difference is explained, 1 otherwise, 2 for bad input.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "scenarios/race_agreement/oracle.h"

namespace race_agreement {
namespace {

struct Class {
  const char* name;
  Departures departures;
};

/// In the order in which they are tried: single departures before several.
constexpr Class kClasses[] = {
    {"TSan does not model fences", {.no_fences = true}},
    {"TSan continues a release sequence over a relaxed store", {.relaxed_store_goes_on = true}},
    {"TSan checks a read-modify-write before it acquires", {.checked_before_acquire = true}},
    {"TSan takes a failed compare-exchange for a write", {.failed_exchange_writes = true}},
    {"TSan remembers four accesses of a word", {.forgets = true}},
    {"TSan models neither fences nor the end of a release sequence",
     {.no_fences = true, .relaxed_store_goes_on = true}},
    {"several of these at once",
     {.no_fences = true,
      .relaxed_store_goes_on = true,
      .checked_before_acquire = true,
      .failed_exchange_writes = true}},
    {"all of these at once",
     {.no_fences = true,
      .relaxed_store_goes_on = true,
      .checked_before_acquire = true,
      .failed_exchange_writes = true,
      .forgets = true}},
};

std::string verdict(const Program& program, const Schedule& schedule) {
  if (!schedule.race) return "no race";
  return "race at " + std::to_string(*schedule.race) + " (" +
         describe(program, schedule.order[*schedule.race]) + ")";
}

class Comparison {
 public:
  void add(const Schedule& weft, const Schedule& tsan) {
    const Program program = generate(weft.program);
    programs_.insert(weft.program);
    ++schedules_;
    if (weft.race) ++races_;
    const bool weft_is_right = first_race(program, weft.order, {}) == weft.race;
    if (!weft_is_right) {
      ++unexplained_;
      std::printf("program %llu, seed %llu: weft says %s, and C++20 does not\n",
                  static_cast<unsigned long long>(weft.program),
                  static_cast<unsigned long long>(weft.seed), verdict(program, weft).c_str());
    }
    if (weft.race == tsan.race) {
      ++equal_;
      return;
    }
    const char* why = "UNEXPLAINED";
    for (const Class& known : kClasses) {
      if (weft_is_right && first_race(program, weft.order, known.departures) == tsan.race) {
        why = known.name;
        break;
      }
    }
    if (why[0] == 'U' && weft_is_right) ++unexplained_;
    ++classes_[why];
    std::printf("program %llu, seed %llu: weft: %s; TSan: %s; %s\n",
                static_cast<unsigned long long>(weft.program),
                static_cast<unsigned long long>(weft.seed), verdict(program, weft).c_str(),
                verdict(program, tsan).c_str(), why);
  }

  int finish() const {
    for (const auto& [why, count] : classes_) std::printf("%6d  %s\n", count, why.c_str());
    std::printf(
        "%d of %d schedules of %zu programs (%d racy): equal verdicts; %d explained, %d not\n",
        equal_, schedules_, programs_.size(), races_,
        std::max(0, schedules_ - equal_ - unexplained_), unexplained_);
    return unexplained_ == 0 && schedules_ != 0 ? 0 : 1;
  }

 private:
  std::map<std::string, int> classes_;
  std::set<std::uint64_t> programs_;
  int schedules_ = 0;
  int races_ = 0;
  int equal_ = 0;
  int unexplained_ = 0;
};

int bad_input(const std::string& what) {
  std::fprintf(stderr, "weft_race_agreement_compare: %s\n", what.c_str());
  return 2;
}

int compare(const char* weft_name, const char* tsan_name) {
  std::ifstream weft(weft_name);
  std::ifstream tsan(tsan_name);
  Comparison comparison;
  for (std::string ours; std::getline(weft, ours);) {
    std::string theirs;
    std::getline(tsan, theirs);
    const std::optional<Schedule> a = parse(ours);
    const std::optional<Schedule> b = parse(theirs);
    if (!a || !b || a->program != b->program || a->seed != b->seed)
      return bad_input(std::string("not the same schedule: '")
                           .append(ours)
                           .append("' and '")
                           .append(theirs)
                           .append("'"));
    comparison.add(*a, *b);
  }
  return comparison.finish();
}

}  // namespace
}  // namespace race_agreement

int main(int argc, char** argv) {
  if (argc != 3) return race_agreement::bad_input("usage: weft_race_agreement_compare WEFT TSAN");
  return race_agreement::compare(argv[1], argv[2]);
}
