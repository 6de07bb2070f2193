// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>

#include "harness/trace/describe.h"
#include "reports/frames.h"
#include "reports/schedule.h"
#include "reports/wording.h"

namespace weft::reports {
namespace {

using trace::FindingTask;
using trace::task_path;
using trace::TaskState;
using trace::Trace;

enum class Style { kPlain, kHeadline, kSection, kPreemption, kDim };

std::string_view escape(Style style) {
  switch (style) {
    case Style::kPlain: return "";
    case Style::kHeadline: return "\x1b[1;31m";
    case Style::kSection: return "\x1b[1m";
    case Style::kPreemption: return "\x1b[33m";
    case Style::kDim: return "\x1b[2m";
  }
  return "";
}

// Text of the subject may hold anything; a terminal obeys what it is told.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7f) {
      result.push_back(c);
    } else if (c == '\t') {
      result.push_back(' ');
    } else {
      result += fmt::format("\\x{:02x}", code);
    }
  }
  return result;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool waits_to_read(const FindingTask& task) {
  return trace::wait_kind(task.operation) == trace::WaitKind::kRead;
}
bool waits_to_write(const FindingTask& task) {
  return trace::wait_kind(task.operation) == trace::WaitKind::kWrite;
}

class Report {
 public:
  Report(const Trace& trace, const TextOptions& options) : trace_(trace), options_(options) {}

  std::string render() {
    headline();
    waits();
    missed_wake();
    starved();
    accesses();
    stacks();
    schedule();
    output();
    paste();
    return fmt::to_string(text_);
  }

 private:
  void line(Style style, std::string_view text) {
    const bool styled = options_.colour && style != Style::kPlain;
    fmt::format_to(std::back_inserter(text_), "{}{}{}\n", styled ? escape(style) : "", text,
                   styled ? "\x1b[0m" : "");
  }
  void line(std::string_view text) { line(Style::kPlain, text); }
  void section(std::string_view name) {
    line("");
    line(Style::kSection, name);
  }

  [[nodiscard]] std::string task(TaskIndex index) const {
    return fmt::format("task {}", task_path(trace_.tasks, index));
  }
  [[nodiscard]] std::span<const FindingTask> finding_tasks() const {
    return {trace_.finding.tasks, trace_.finding.task_count};
  }
  [[nodiscard]] std::string at(const std::optional<SourceFrame>& frame) const {
    if (!frame) return {};
    const std::string where = place(*frame, options_.root);
    return where.empty() ? fmt::format("in {}", frame->function)
                         : fmt::format("at {} in {}", where, frame->function);
  }

  void headline() {
    const trace::Finding& finding = trace_.finding;
    line(Style::kHeadline,
         fmt::format(
             "weft: {} in {} after {}, {}", title(finding.kind),
             printable(trace_.meta.scenario.empty() ? "an unnamed test" : trace_.meta.scenario),
             counted(finding.steps, "step"), counted(finding.preemptions, "preemption")));
    if (finding.message[0] != '\0') line("  " + printable(finding.message));
    if (finding.file[0] != '\0') {
      const SourceFrame said{
          .function = {}, .file = finding.file, .line = static_cast<std::uint32_t>(finding.line)};
      line("  at " + printable(place(said, options_.root)));
    }
    if (finding.kind == trace::FindingKind::kFatalSignal) {
      line(trace::has_fault_address(finding.signal)
               ? fmt::format("  signal {}, address 0x{:x}", finding.signal, finding.fault_address)
               : fmt::format("  signal {}", finding.signal));
    }
    if (finding.object.space != ObjectSpace::kNone && finding.access_count == 0) {
      line("  it is about " + describe_object(trace_, finding.object));
    }
    for (const std::string_view detail : lines_of(finding.detail)) line("  " + printable(detail));
    if (!trace_.meta.strategy.empty()) {
      line(fmt::format(
          "  found by {}, seed {}{}", printable(trace_.meta.strategy), trace_.meta.seed,
          trace_.meta.execution == 0 ? std::string()
                                     : fmt::format(", execution {}", trace_.meta.execution)));
    }
  }

  // A deadlock's cycle in the order in which its tasks wait for each other, or all that wait.
  [[nodiscard]] std::vector<const FindingTask*> waiting_tasks() const {
    std::vector<const FindingTask*> waiting;
    for (const FindingTask& row : finding_tasks()) {
      if (row.in_cycle) waiting.push_back(&row);
    }
    if (waiting.empty()) {
      for (const FindingTask& row : finding_tasks()) {
        if (row.state == TaskState::kBlocked) waiting.push_back(&row);
      }
      return waiting;
    }
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      const auto next = std::find_if(
          waiting.begin() + static_cast<std::ptrdiff_t>(i), waiting.end(),
          [&](const FindingTask* row) { return row->index == waiting[i - 1]->waits_for; });
      if (next != waiting.end())
        std::iter_swap(waiting.begin() + static_cast<std::ptrdiff_t>(i), next);
    }
    return waiting;
  }

  void waits() {
    if (trace_.finding.kind != trace::FindingKind::kDeadlock) return;
    const auto waiting = waiting_tasks();
    if (waiting.empty()) return;
    section(waiting.front()->in_cycle ? "The cycle" : "Who waits");
    for (const FindingTask* row : waiting) {
      line(fmt::format("  {}", task(row->index)));
      const auto frame = user_frame(frames_of(trace_, row->stack));
      const std::string where = at(frame);
      line(fmt::format("    waits {}{}{}", describe_wait(trace_, *row),
                       row->waits_for == kNoTaskIndex ? "" : held_by(*row),
                       where.empty() ? "" : ", " + where));
      locks({row->held, row->held_count});
    }
  }
  void locks(std::span<const trace::HeldLock> held) {
    for (const trace::HeldLock& lock : held) {
      const std::string taken = at(user_frame(frames_at(trace_, lock.acquired_at)));
      line(fmt::format("    holds {}{}", describe_object(trace_, lock.object),
                       taken.empty() ? "" : ", taken " + taken));
    }
  }

  // Who woke nobody, and what the waiter had yet to do then.
  void missed_wake() {
    const trace::MissedWake& missed = trace_.finding.missed_wake;
    if (missed.step == 0) return;
    const auto& events = trace_.events;
    const auto wake = std::find_if(events.begin(), events.end(), [&](const trace::Event& event) {
      return event.step == missed.step;
    });
    const auto next = std::find_if(wake, events.end(), [&](const trace::Event& event) {
      return event.step > missed.step && event.task == missed.waiter;
    });
    if (wake == events.end() || next == events.end()) return;
    section("The wake that was lost");
    line(fmt::format("  step {}: {}, {}, {}", wake->step, task(wake->task),
                     describe_step(trace_, *wake), at(user_frame(trace_, *wake))));
    line(fmt::format("  step {}: {} had yet to {}, {}", next->step, task(next->task),
                     describe_step(trace_, *next), at(user_frame(trace_, *next))));
  }

  // Who is passed over, and where it waits.
  void starved() {
    const trace::Starved& starved = trace_.finding.starved;
    if (starved.waiter == kNoTaskIndex) return;
    const auto row =
        std::find_if(finding_tasks().begin(), finding_tasks().end(),
                     [&](const FindingTask& task) { return task.index == starved.waiter; });
    if (row == finding_tasks().end()) return;
    section("Who starves");
    const std::string where = at(user_frame(frames_of(trace_, row->stack)));
    line(fmt::format("  {} waits {}{}{}", task(row->index), describe_wait(trace_, *row),
                     where.empty() ? "" : ", ", where));
    line(fmt::format("  since step {}; others took it {} meanwhile, where {} allowed",
                     starved.since, counted(starved.passed_over, "time"),
                     starved.most == 1 ? "1 is" : fmt::format("{} are", starved.most)));
  }

  // What races or was freed, each access with its stack, and the order that is missing.
  void accesses() {
    const std::span rows(trace_.finding.accesses, trace_.finding.access_count);
    if (rows.empty()) return;
    const std::string object = describe_object(trace_, trace_.finding.object);
    section(object.empty() ? "The accesses" : fmt::format("The accesses to {}", object));
    for (const trace::FindingAccess& row : rows) {
      line(fmt::format("  {}, by {}", describe_access(row), task(row.task)));
      locks({row.held, row.held_count});
      stack(row.stack);
    }
    if (trace_.finding.kind != trace::FindingKind::kDataRace) return;
    line("  " + missing_order(trace_));
    weak_pair();
  }

  void weak_pair() {
    const trace::WeakPair& pair = trace_.finding.weak_pair;
    if (pair.write.task == kNoTaskIndex || pair.read.task == kNoTaskIndex) return;
    const auto told = [&](const trace::WeakSide& side) {
      const std::string where = at(user_frame(frames_of(trace_, side.stack)));
      return fmt::format("{}: {}{}{}", task(side.task), describe_weak_side(trace_, side),
                         where.empty() ? "" : ", ", where);
    };
    line("  Between the two accesses, the second of these read what the first wrote:");
    line("    " + told(pair.write));
    line("    " + told(pair.read));
    line("  " + weak_order(pair));
  }

  [[nodiscard]] std::string held_by(const FindingTask& row) const {
    // Who ends is named in what is waited for.
    if (row.operation == trace::OpKind::kJoin) return {};
    const auto holder =
        std::find_if(finding_tasks().begin(), finding_tasks().end(),
                     [&](const FindingTask& other) { return other.index == row.waits_for; });
    const bool behind_a_writer =
        holder != finding_tasks().end() && holder->state == TaskState::kBlocked &&
        holder->object == row.object && waits_to_read(row) && waits_to_write(*holder);
    if (behind_a_writer) return fmt::format(", behind {}", task(row.waits_for));
    return fmt::format(", held by {}", row.waits_for == row.index ? "itself" : task(row.waits_for));
  }

  [[nodiscard]] std::string state_of(const FindingTask& row) const {
    if (row.state == TaskState::kEnded) return "has ended";
    if (row.state == TaskState::kBlocked) return "waits " + describe_wait(trace_, row);
    if (row.index == trace_.finding.task) return "was running";
    if (row.operation == trace::OpKind::kNone) return "could run";
    const std::string object = describe_object(trace_, row.object);
    return fmt::format("was about to {}{}{}", trace::name(row.operation), object.empty() ? "" : " ",
                       object);
  }

  void stacks() {
    if (finding_tasks().empty()) return;
    section("Tasks");
    std::vector<const FindingTask*> rows;
    for (const FindingTask& row : finding_tasks()) rows.push_back(&row);
    // The one that failed is the one to read first.
    const auto failed = std::find_if(rows.begin(), rows.end(), [&](const FindingTask* row) {
      return row->index == trace_.finding.task;
    });
    if (failed != rows.end()) std::rotate(rows.begin(), failed, failed + 1);
    for (const FindingTask* row : rows) {
      line(fmt::format("  {} {}", task(row->index), state_of(*row)));
      stack(row->stack);
    }
  }

  // Frames of the library and the harness matter between the user's own only.
  void stack(const trace::Stack& stack) {
    const auto frames = frames_of(trace_, stack);
    const auto is_user = [](const SourceFrame& frame) { return frame.origin == Origin::kUser; };
    auto first = std::find_if(frames.begin(), frames.end(), is_user);
    auto last = std::find_if(frames.rbegin(), frames.rend(), is_user).base();
    const bool all = first == frames.end();
    if (all) {
      // None of the user's: the outermost frames are how a thread begins, ours included.
      const auto is_ours = [](const SourceFrame& frame) {
        return frame.origin == Origin::kHarness;
      };
      first = std::find_if_not(frames.begin(), frames.end(), is_ours);
      last = std::find_if(first, frames.end(), is_ours);
    }
    std::size_t number = 0;
    std::size_t folded = 0;
    for (; first < last; ++first) {
      if (!all && !is_user(*first)) {
        ++folded;
        continue;
      }
      if (folded != 0) {
        line(Style::kDim, fmt::format("      ... {} of the library", counted(folded, "frame")));
        folded = 0;
      }
      const std::string where = place(*first, options_.root);
      line(fmt::format("    #{} {}{}{}", number++, first->function, where.empty() ? "" : "  ",
                       where));
    }
  }

  void schedule() {
    const auto lines = schedule_lines(trace_, options_.root);
    if (lines.empty()) return;
    section(fmt::format(
        "Schedule ({}; > marks a preemption)",
        counted(trace_.events_before + trace_.events.size() + trace_.events_dropped, "step")));
    if (trace_.events_before != 0) {
      line(Style::kDim, fmt::format("  ... {} before, which are in the trace but not shown",
                                    counted(trace_.events_before, "step")));
    }
    const std::size_t skipped =
        lines.size() > options_.schedule_lines ? lines.size() - options_.schedule_lines : 0;
    if (skipped != 0) line(Style::kDim, fmt::format("  ... {} before", counted(skipped, "line")));
    const auto shown = std::span(lines).subspan(skipped);
    std::size_t what_width = 0;
    std::size_t task_width = 4;
    for (const ScheduleLine& step : shown) {
      constexpr std::size_t kWidest = 56;
      what_width = std::max(what_width, std::min(step.what.size(), kWidest));
      task_width = std::max(task_width, task_path(trace_.tasks, step.task).size());
    }
    bool first = true;
    for (const ScheduleLine& step : shown) {
      const bool repeated = step.first != step.last;
      const std::string steps =
          repeated ? fmt::format("{}-{}", step.first, step.last) : fmt::format("{}", step.first);
      std::string text =
          fmt::format("{} {:>7}  {:<{}}  {:<{}}  {}{}{}", step.preempted ? '>' : ' ', steps,
                      step.switched || first ? task_path(trace_.tasks, step.task) : "", task_width,
                      printable(step.what), what_width, step.where, step.where.empty() ? "" : " ",
                      step.function);
      text.erase(text.find_last_not_of(' ') + 1);
      line(step.preempted ? Style::kPreemption : Style::kPlain, text);
      first = false;
    }
    if (trace_.events_dropped != 0) {
      line(Style::kDim,
           fmt::format("  ... {} more that were not kept", counted(trace_.events_dropped, "step")));
    }
  }

  void output() {
    const auto lines = lines_of(trace_.output);
    if (lines.empty()) return;
    section("Output of the test");
    const std::size_t skipped =
        lines.size() > options_.output_lines ? lines.size() - options_.output_lines : 0;
    if (skipped != 0) line(Style::kDim, fmt::format("  ... {} before", counted(skipped, "line")));
    for (const std::string_view text : std::span(lines).subspan(skipped)) {
      line("  " + printable(text));
    }
  }

  void paste() {
    if (options_.paste.empty()) return;
    line("");
    for (const std::string& command : options_.paste) line("  " + command);
  }

  const Trace& trace_;
  const TextOptions& options_;
  fmt::memory_buffer text_;
};

}  // namespace

std::string current_directory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

std::string render_text(const Trace& trace, const TextOptions& options) {
  return Report(trace, options).render();
}

}  // namespace weft::reports
