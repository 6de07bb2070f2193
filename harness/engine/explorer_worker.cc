// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/explorer_worker.h"

#include <cxxabi.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "harness/engine/watchdog.h"
#include "harness/trace/describe.h"

namespace weft::engine {
namespace {

using trace::FindingKind;
using trace::WorkerPhase;

/// Longest pause between two looks at a worker's heartbeat.
constexpr int kTickMs = 20;

/// Outside executions (forking threads, the snapshot, restoring the image) a worker takes
/// milliseconds; a machine that swaps takes seconds.
constexpr double kStartSeconds = 60;

/// A finding's output is for reading: the end of it.
constexpr std::size_t kOutputTail = 16 * 1024;

template <std::size_t N>
void copy_text(char (&into)[N], const std::string& text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(into, text.data(), size);
  into[size] = '\0';
}

/// Clears what belongs to one execution; called while no worker runs.
void begin_worker(trace::Channel& channel) {
  channel.phase.store(WorkerPhase::kStarting);
  channel.current.store(0);
  channel.running_tid.store(0);
  channel.stop_requested.store(false);
  channel.exhausted.store(false);
  channel.debugger.store(trace::Debugger::kNone);
  channel.finding_ready.store(false);
  channel.finding = trace::Finding();
  for (trace::FindingAccess& access : channel.seen) access = trace::FindingAccess();
  channel.forget_schedule();
  channel.trace_hash = 0;
  channel.stack_count = 0;
}

std::string signal_name(int number) {
  const char* abbreviation = ::sigabbrev_np(number);
  return abbreviation == nullptr ? "signal " + std::to_string(number)
                                 : std::string("SIG") + abbreviation;
}

/// Who sends a signal that ends a process, where it is known.
const char* sender_of(int number) noexcept {
  switch (number) {
    case SIGTERM:
    case SIGHUP:
    case SIGINT:
    case SIGQUIT: return ", which the test itself, or somebody outside, sent to it";
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
      return ": a timer that the test started ran out; such timers run in real time, which is not "
             "controlled";
    case SIGPIPE: return ": the test wrote to a pipe or socket that nobody reads any more";
    case SIGXCPU: return ": the limit of processor time (ulimit -t) was reached";
    default: return "";  // a signal's number, not an enumeration of ours
  }
}

/// What a sanitizer that ended the worker calls the error: the rest of the last line
/// that it begins with "SUMMARY: ". Empty where none did.
std::string sanitizer_summary(const std::string& output) {
  constexpr std::string_view kSummary = "\nSUMMARY: ";
  const std::size_t at = output.rfind(kSummary);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kSummary.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

/// "fetch() of libplain.so, which is not instrumented", of "libplain.so _Z5fetchv".
std::string place_of(const char* library_and_function) {
  const std::string text(library_and_function);
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return {};
  const std::string library = text.substr(0, space);
  std::string function = text.substr(space + 1);
  int status = 0;
  if (char* const name = abi::__cxa_demangle(function.c_str(), nullptr, nullptr, &status)) {
    function = name;
    std::free(name);
  }
  return (function.empty() ? library : function + " of " + library) + ", which is not instrumented";
}

}  // namespace

SupervisedWorker::~SupervisedWorker() {
  process_.kill();
  trace::unmap_channel(channel_);
}

bool SupervisedWorker::prepare() {
  if (channel_ == nullptr) channel_ = trace::map_channel();
  return channel_ != nullptr;
}

bool SupervisedWorker::start(WorkerMain worker_main, const WorkerConfig& config, Body body,
                             double hang_seconds) {
  begin_worker(*channel_);
  channel_->choices.open(choices_file_.empty(), config.choice_block_bytes);
  channel_->events.open(config.record ? events_file_.empty() : trace::SpillPlace(),
                        config.event_block);
  outcome_ = WorkerOutcome();
  clock_.reset();
  hung_ = false;
  hang_ = HangFacts();
  hang_seconds_ = hang_seconds;
  answer_seconds_ = 0;
  return process_.start(worker_main, config, *channel_, body, config.output_fd < 0);
}

bool SupervisedWorker::poll(double elapsed) {
  if (!process_.running()) return true;
  if (!process_.reap()) {
    watch(elapsed);
    if (process_.running()) return false;
  }
  judge();
  return true;
}

void SupervisedWorker::watch(double elapsed) {
  process_.trim_output();
  // Somebody looks at it, and takes the time that it takes.
  if (channel_->debugger.load(std::memory_order_relaxed) != trace::Debugger::kNone) return;
  if (hung_) {
    answer_seconds_ += elapsed;
    if (answer_seconds_ * 1000 >= kWatchdogAnswerMs) process_.kill();
    return;
  }
  const double stalled = clock_.advance(*channel_, elapsed);
  const WorkerPhase phase = channel_->phase.load(std::memory_order_relaxed);
  const bool executing = phase == WorkerPhase::kExecuting || phase == WorkerPhase::kWarmUp;
  if (stalled < (executing ? hang_seconds_ : hang_seconds_ + kStartSeconds)) return;
  if (is_traced(process_.pid())) {
    clock_.reset();
    return;
  }
  const pid_t thread = channel_->running_tid.load(std::memory_order_relaxed);
  hung_ = true;
  hang_ = observe_thread(process_.pid(), thread != 0 ? thread : process_.pid());
  if (!executing || thread == 0 || !ask_for_stack(process_.pid(), thread)) process_.kill();
}

bool SupervisedWorker::run_to_stop(WorkerMain worker_main, WorkerConfig config, Body body,
                                   double hang_seconds) {
  config.debugger = true;
  if (!start(worker_main, config, body, hang_seconds)) return false;
  wait_until([](const trace::Channel& channel) {
    // acquire: pairs with the worker's release.
    return channel.debugger.load(std::memory_order_acquire) != trace::Debugger::kNone;
  });
  return true;
}

void SupervisedWorker::wait() {
  wait_until([](const trace::Channel&) { return false; });
}

void SupervisedWorker::wait_until(bool (*done)(const trace::Channel&)) {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();
  for (;;) {
    const auto now = Clock::now();
    if (poll(std::chrono::duration<double>(now - last).count()) || done(*channel_)) return;
    last = now;
    pollfd ended{.fd = process_.wait_fd(), .events = POLLIN, .revents = 0};
    ::poll(&ended, 1, ended.fd >= 0 ? kTickMs : 1);
  }
}

void SupervisedWorker::judge() {
  const ProcessEnd end = process_.end();
  outcome_.output = process_.output_tail(kOutputTail);
  outcome_.execution = channel_->current.load();
  outcome_.in_warm_up = outcome_.execution == 0;
  outcome_.hang = hang_;

  const bool internal = !end.by_signal && end.code == static_cast<int>(WorkerExit::kInternal);
  if (channel_->finding_ready.load() && !internal) {
    outcome_.kind = WorkerOutcome::Kind::kFinding;
    outcome_.finding = channel_->finding;
    if (hung_ && outcome_.finding.kind == FindingKind::kHang) blame_hang();
    return;
  }
  const WorkerPhase phase = channel_->phase.load();
  if (internal || (hung_ && phase != WorkerPhase::kExecuting && phase != WorkerPhase::kWarmUp)) {
    outcome_.kind = WorkerOutcome::Kind::kInternal;
    outcome_.error = internal
                         ? outcome_.output
                         : "a worker made no progress outside of executions for " +
                               seconds_text(hang_seconds_ + kStartSeconds) + ": " + hang_.activity;
    return;
  }
  if (hung_) {
    outcome_.kind = WorkerOutcome::Kind::kFinding;
    outcome_.finding.kind = FindingKind::kHang;
    blame_hang();
    return;
  }
  if (end.by_signal) {
    blame_death(end.code == SIGKILL ? "the worker process vanished: killed by SIGKILL (this is how "
                                      "the kernel ends a process when memory runs out)"
                                    : "the worker process vanished: killed by " +
                                          signal_name(end.code) + sender_of(end.code));
    return;
  }
  if (end.code == static_cast<int>(WorkerExit::kFinished) && phase == WorkerPhase::kDone) return;
  if (const std::string summary = sanitizer_summary(outcome_.output); !summary.empty()) {
    blame_death(summary);
    return;
  }
  blame_death("the worker process vanished: it exited with status " + std::to_string(end.code) +
              " without a word");
}

void SupervisedWorker::blame_hang() {
  trace::Finding& finding = outcome_.finding;
  const std::span tasks(channel_->tasks,
                        std::min<std::size_t>(channel_->task_count, trace::kMaxTasks));
  const std::string path = trace::task_path(tasks, finding.task);
  std::string message = path == "?" ? "a task" : "task " + path;
  message += " has not come back for " + seconds_text(hang_seconds_);
  if (const std::string place = place_of(finding.detail); place.empty()) {
    if (!hang_.activity.empty()) message += ": " + hang_.activity;
    if (!hang_.hint.empty()) message += "; " + hang_.hint;
  } else if (hang_.in_system_call) {
    message += ": " + hang_.activity + ", in " + place + "; " + hang_.hint;
  } else {
    message += ": it spins in " + place +
               ": build that library with weft_instrument(), or stub what it does in the test";
  }
  copy_text(finding.message, message);
  copy_text(finding.detail, "");
  finding.steps = channel_->steps;
  if (!hang_.wait_channel.empty() && hang_.in_system_call) {
    copy_text(finding.detail, "it sleeps in the kernel's " + hang_.wait_channel);
  }
  channel_->finding = finding;
}

void SupervisedWorker::blame_death(const std::string& message) {
  outcome_.kind = WorkerOutcome::Kind::kFinding;
  outcome_.finding = trace::Finding();
  outcome_.finding.kind = FindingKind::kWorkerDied;
  outcome_.finding.steps = channel_->steps;
  outcome_.finding.preemptions = channel_->preemptions;
  copy_text(outcome_.finding.message, message);
  channel_->finding = outcome_.finding;
}

}  // namespace weft::engine
