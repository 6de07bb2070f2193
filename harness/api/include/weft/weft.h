// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All that a test may say to Weftwork.
//
//   weft::explore({.schedules = 1000}, [] { ... threads, locks, assertions ... });
//
// Every function may be called from any task of the test, from a plain thread
// under the native backend (weft::native), and from neither elsewhere: outside
// an exploration always() behaves as assert() and the others do nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The harness hides all but this from the programs that link it.
#pragma GCC visibility push(default)
namespace weft {

/// How to explore. Every field can be set by designated initialiser (in the order
/// of the fields below, as C++ demands), by a flag (--weft_schedules=N) and by the
/// environment (WEFT_SCHEDULES=N); a flag beats the environment, which beats the
/// initialiser.
struct Options {
  std::string name = {};  // of the test; filled in by WEFT_TEST and WEFT_SCENARIO
  std::optional<std::uint64_t> schedules = {};  // executions at most; 1000 when neither this nor
                                                // seconds is given
  std::optional<double> seconds = {};           // wall-clock limit
  std::string strategy = "portfolio";  // see `weft run --help` for the names and their parameters
  std::uint64_t seed = 1;
  unsigned jobs = 1;                    // worker processes
  std::uint64_t max_steps = 1'000'000;  // an execution longer than this is a finding
  bool memory_points = true;            // plain accesses may be schedule points
  bool races = true;                    // data races and uses of freed memory are findings
  bool leaks = true;                    // leaked memory and threads are findings
  unsigned spurious_wakeups = 0;     // so many waits on condition variables may end for no reason
                                     // in an execution, and weak compare-exchanges fail (g++)
  unsigned allocation_failures = 0;  // of malloc and operator new, likewise
  std::string executor = "auto";     // how tasks get the processor: alias, baton or fresh; auto takes
                                     // alias, the fast one, where it works
  bool keep_going = false;           // go on after the first finding
  std::string out = {};              // directory for findings; empty: ./weft-findings
  std::string replay = {};           // a token or its file: replay this instead of exploring
  bool lenient = false;              // follow what still applies of the token
  double hang_seconds = 10;          // real time without a step before a task counts as hung
  std::string suppressions = {};     // file of what is known and not to be reported
};

/// One thing found.
struct FoundBug {
  std::string kind;     // "assertion", "deadlock", ...
  std::string message;  // one line
  std::string token;    // paste into `weft replay` or --weft_replay=
  std::uint64_t steps = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t execution = 0;  // number of the execution that found it, from 1
  std::string text;             // the whole report, ready to print
  std::string directory;        // where it lies on disk; empty where it could not be written
  std::uint64_t hits = 1;       // executions that showed it
};

/// An entry of the suppressions file, and how often it was needed.
struct Suppression {
  std::string entry;       // "race:Cache::peek"
  std::string place;       // "weft.supp:12"
  std::string reason;      // the comment above it
  std::uint64_t hits = 0;  // times that it was needed: a finding in an execution is one; 0: unused
};

struct Result {
  std::uint64_t executions = 0;
  double seconds = 0;
  std::uint64_t steps = 0;     // of all executions together
  double distinct = 0;         // approximate number of distinct schedules
  bool exhausted = false;      // the strategy has seen every schedule it can make
  bool interrupted = false;    // by SIGINT or SIGTERM; what was found until then is here
  std::string error;           // a user error or unsupported facility, one line with the mend
  std::string divergence;      // a replay that no longer matches: where, expected and actual
  std::string warning;         // the slow executor is used, and why; or of a replay: the token is
                               // from another build, or its finding did not come
  std::string followed;        // a lenient replay: how much of the token applied, what was skipped
  std::string internal_error;  // a bug of Weftwork's own
  std::vector<FoundBug> findings;
  std::vector<std::string> never;         // weft::sometimes / reachable marks that never held
  std::vector<Suppression> suppressions;  // every entry of the file
  [[nodiscard]] bool ok() const {
    return findings.empty() && error.empty() && divergence.empty() && internal_error.empty();
  }
};

/// Explores `body`. Call from a single-threaded moment of the program (main, a
/// GoogleTest body): workers are forked from it, and `body` runs in them. What it
/// changes in this process's memory is therefore not seen here.
Result explore(const Options& options, const std::function<void()>& body);

/// A property that must hold here in every execution; a finding otherwise, with
/// the caller's place taken from the stack.
void always(bool condition, const char* what);

/// Should hold in at least one execution; reported when it never did. A place
/// that no execution comes to leaves no mark: let a condition say what is meant.
void sometimes(bool condition, const char* what);

/// Counts the executions that come here.
inline void reachable(const char* what) { sometimes(true, what); }

/// A number in [0, n) that the scheduler explores. n >= 1.
[[nodiscard]] std::uint64_t choose(std::uint64_t n);

/// Runs after every step of the rest of this execution, outside any task, with
/// interception off; false is a finding. It must not block.
void invariant(std::function<bool()> holds, const char* what = "invariant");

/// For the rest of this execution it is a finding, `starvation`, when a task waits for the lock at
/// `lock` while others take it more than `n` times.
///
/// A lock is whatever a task can be seen to wait for: std::mutex and its kin, std::shared_mutex,
/// pthread mutexes, readers-writer and spin locks, POSIX semaphores; give the address of the object
/// itself. A lock made of atomics, and so a std::counting_semaphore, is not seen. Each reader that
/// gets in while a writer waits is once, and each count of a semaphore that is taken; readers pass
/// no readers over, and who takes its own lock again passes nobody over. The wait begins when the
/// task finds the lock taken, and ends when it gets it or gives up.
///
/// What a strategy's favour does to a task is not held against the lock: a waiting task that could
/// have gone on for 64 steps in a row, and was not let, is counted for afresh.
///
/// A second bound on one lock replaces the first. More than 64 locks with bounds are a user error.
/// Natively, nothing is checked.
void bounded_bypass(const volatile void* lock, std::uint64_t n);
/// The same for every lock that has no bound of its own.
void bounded_bypass(std::uint64_t n);

/// True on a task under exploration; false natively.
[[nodiscard]] bool exploring() noexcept;

}  // namespace weft
#pragma GCC visibility pop
