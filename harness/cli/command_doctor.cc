// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "harness/base/address_sanitizer.h"
#include "harness/base/fake_stack.h"
#include "harness/cli/commands.h"
#include "harness/cli/fingerprint.h"
#include "harness/cli/json.h"
#include "harness/cli/probes.h"
#include "harness/cli/terminal.h"
#include "harness/engine/executor.h"

namespace weft::cli {
namespace {

/// One thing that works here, or does not, and what that costs.
struct Fact {
  std::string topic;
  bool works = true;
  std::string text;
};

Fact instrumentation() {
  const auto units = instrumented_units();
  if (!units) {
    return {"instrumentation", false, "unknown: this program's symbol table was stripped"};
  }
  if (*units == 0) {
    return {"instrumentation", false,
            "no translation unit of this program is instrumented: locks and threads are "
            "controlled, plain and atomic accesses are not. Compile the code under test with "
            "weft_instrument(TARGET) or weft-c++"};
  }
  return {"instrumentation", true,
          fmt::format("{} of this program: accesses and atomic operations are schedule points",
                      counted(*units, "instrumented translation unit"))};
}

/// docs/controlled.md has the case.
Fact compiler() {
#if defined(__clang__) && __clang_major__ < 21
  return {"compiler", false,
          fmt::format("clang {} overlooks accesses to a part of an object on the stack by the "
                      "function that it belongs to (clang 21 and g++ do not overlook them): races "
                      "with them are "
                      "not seen",
                      __clang_major__)};
#else
  return {"compiler", true, "sees every access that it does not optimise away"};
#endif
}

/// Of a build with AddressSanitizer in the code under test.
Fact address_sanitizer() {
  if (asan::has_fake_stacks()) {
    return {"AddressSanitizer", true,
            "in the code under test; variables are watched beyond their function's return"};
  }
  return {"AddressSanitizer", false,
          "in the code under test, but uses of variables after their function's return are not "
          "seen: ASAN_OPTIONS has detect_stack_use_after_return=0"};
}

Fact executor() {
  const char* const reason = engine::why_no_alias();
  if (reason == nullptr) {
    return {"executor", true,
            "alias: one kernel thread runs all tasks and switches between them without the kernel; "
            "--executor baton gives each its own"};
  }
  return {"executor", false,
          fmt::format("baton: a kernel thread per task, passed on by futex. alias, which is some "
                      "fifty times as fast, does not work here: {}",
                      reason)};
}

Fact hand_off() {
  const double nanoseconds = measure_hand_off();
  if (nanoseconds <= 0) return {"hand-off", false, "the measurement failed"};
  return {
      "hand-off", true,
      fmt::format("{:.1f} us to pass the processor from one kernel thread to another, as the baton "
                  "executor does: at most {} switches per second and worker",
                  nanoseconds / 1000, with_commas(static_cast<std::uint64_t>(1e9 / nanoseconds)))};
}

Fact worker_cost() {
  const double seconds = measure_fork();
  if (seconds <= 0) return {"workers", false, "this process may not fork"};
  return {"workers", true,
          fmt::format("{:.1f} ms to start and end a process: the least that a finding costs",
                      seconds * 1000)};
}

Fact randomisation(ReexecResult result) {
  const bool off = result == ReexecResult::kAlreadyOff;
  std::string text = describe(result);
  if (!off) {
    text +=
        "; replays hold all the same, but addresses differ between runs, and so may "
        "programs that hash or order by address";
  }
  return {"addresses", off, text};
}

Fact watchdog() {
  if (can_observe_system_calls()) {
    return {"watchdog", true, "a task that does not come back is named with its system call"};
  }
  return {"watchdog", false,
          "/proc/PID/task/TID/syscall is not readable here: a hang is found, its system call not "
          "named"};
}

std::vector<Fact> examine(ReexecResult reexec) {
  std::vector<Fact> facts;
  facts.push_back({"build", true,
                   fmt::format("{}, by {}, fingerprint {:016x}", WEFT_VERSION, __VERSION__,
                               build_fingerprint())});
  facts.push_back(compiler());
  facts.push_back(instrumentation());
  if (asan::kEnabled) facts.push_back(address_sanitizer());
  facts.push_back(executor());
  facts.push_back(
      {"processors", true,
       fmt::format("{} may be used; each worker (--jobs) takes one", usable_processors())});
  facts.push_back(hand_off());
  facts.push_back(worker_cost());
  facts.push_back(randomisation(reexec));
  facts.push_back(watchdog());
  const CudaFacts cuda = find_cuda();
  facts.push_back({"CUDA Toolkit", !cuda.toolkit.empty(),
                   cuda.toolkit.empty()
                       ? "not found in /usr/local/cuda, CUDA_HOME or CUDAToolkit_ROOT: what needs "
                         "its headers is left out of the build"
                       : cuda.toolkit});
  facts.push_back({"CUDA driver", cuda.driver,
                   cuda.driver ? "libcuda.so.1 is installed" : "not installed: no real GPU here"});
  return facts;
}

int doctor(ReexecResult reexec, bool json) {
  const std::vector<Fact> facts = examine(reexec);
  if (json) {
    Json all = Json::array();
    for (const Fact& fact : facts) {
      all.push_back({{"topic", fact.topic}, {"works", fact.works}, {"text", fact.text}});
    }
    fmt::print("{}\n", dump({{"facts", all}}));
    return kExitOk;
  }
  for (const Fact& fact : facts) {
    fmt::print("{} {:<16} {}\n",
               fact.works ? styled("ok", Style::kGreen, STDOUT_FILENO)
                          : styled("--", Style::kYellow, STDOUT_FILENO),
               fact.topic, fact.text);
  }
  return kExitOk;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("doctor", "what works on this machine, and what it costs");
  auto json = std::make_shared<bool>(false);
  sub->add_flag("--json", *json, "{facts: [{topic, works, text}]}");
  sub->callback([&context, json] {
    context.run = [&context, json] { return doctor(context.reexec, *json); };
  });
}

}  // namespace weft::cli
