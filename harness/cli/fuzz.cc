// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// weft::fuzz_one(): executions in libFuzzer's own process.
//
// What libFuzzer allocates must not be in the subject's heap, which each execution empties. It
// allocates on the main thread and outside of tasks, and so does nobody else after the static
// initialisers: from then on the main thread's allocations are taken for the harness's own.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <weft/fuzz.h>

#include "harness/api/options.h"
#include "harness/base/check.h"
#include "harness/base/libfuzzer.h"
#include "harness/base/process.h"
#include "harness/base/signal_action.h"
#include "harness/cli/fingerprint.h"
#include "harness/cli/session.h"
#include "harness/cli/terminal.h"
#include "harness/engine/crash.h"
#include "harness/engine/process_image.h"
#include "harness/engine/worker.h"
#include "harness/strategies/input_bytes.h"
#include "harness/trace/collect.h"
#include "harness/trace/finding.h"

namespace weft {
namespace {

using Body = std::function<void()>;

/// Never destroyed, and so in force until the process ends.
alignas(engine::HarnessAllocations) unsigned char libfuzzer_allocates[sizeof(
    engine::HarnessAllocations)];

/// After the static initialisers of the program, which are linked before the harness.
__attribute__((constructor)) void before_libfuzzer(int, char** arguments, char**) {
  if (!has_libfuzzer()) return;
  (void)disable_address_randomisation_by_reexec(arguments);
  ::new (libfuzzer_allocates) engine::HarnessAllocations;
}

void run_body(void* body) { (*static_cast<const Body*>(body))(); }

/// Not by exit(): libFuzzer would take that for the code under test's doing.
[[noreturn]] void leave(int status) {
  std::fflush(nullptr);
  ::_exit(status);
}

[[noreturn]] void refuse(const std::string& why) {
  fmt::print(stderr, "weft: {}\n", why);
  leave(2);
}

class Fuzzing;

/// Written before the snapshot.
Fuzzing* fuzzing = nullptr;

/// In a mapping of its own, like all that must outlive an execution.
class Fuzzing {
 public:
  Fuzzing(const Options& options, const Body& body)
      : options_(options),
        channel_(*checked(trace::map_channel())),
        config_(make_config()),
        worker_((keep_handlers(), config_), channel_, &run_body, const_cast<Body*>(&body)) {}

  void run(std::span<const std::uint8_t> input, const Body& body) noexcept {
    strategy_.feed(input);
    ++executions_;
    executing_ = true;
    worker_.run(executions_, const_cast<Body*>(&body));
    executing_ = false;
  }

  /// libFuzzer's timer goes off some twice in the time that an input may take.
  void on_alarm(int signal, siginfo_t* info, void* context) noexcept {
    if (!executing_) {
      if ((on_alarm_.sa_flags & SA_SIGINFO) != 0) on_alarm_.sa_sigaction(signal, info, context);
      return;
    }
    const Progress now{executions_, channel_.heartbeat.load(std::memory_order_relaxed)};
    if (now == at_last_alarm_) engine::fail_hung(context);
    at_last_alarm_ = now;
  }

 private:
  struct Progress {
    std::uint64_t executions = 0;
    std::uint64_t heartbeat = 0;
    bool operator==(const Progress&) const = default;
  };

  static trace::Channel* checked(trace::Channel* channel) {
    if (channel == nullptr) refuse("out of memory for the trace");
    return channel;
  }

  /// libFuzzer's. It asks a thread_local whether its own thread was interrupted, and a task has one
  /// of its own: in executions time is for us to watch.
  void keep_handlers() noexcept {
    ::sigaction(SIGABRT, nullptr, &on_abort_);
    ::sigaction(SIGALRM, nullptr, &on_alarm_);
    if (on_alarm_.sa_handler == SIG_DFL || on_alarm_.sa_handler == SIG_IGN) return;
    sigset_t all;
    sigfillset(&all);
    handle_signal(
        SIGALRM,
        [](int signal, siginfo_t* info, void* context) {
          fuzzing->on_alarm(signal, info, context);
        },
        SA_ONSTACK | SA_RESTART, all);
  }

  engine::WorkerConfig make_config() {
    engine::WorkerConfig config = cli::explorer_config(options_).worker;
    config.strategy = &strategy_;
    config.executor = engine::ExecutorKind::kAlias;
    config.count = engine::kUnlimitedSchedules;
    config.pin = false;
    config.found = [](trace::Channel&, void* self) { static_cast<Fuzzing*>(self)->found(); };
    config.found_context = this;
    return config;
  }

  /// On the task, which libFuzzer's handler finds at abort().
  [[noreturn]] void found() {
    const trace::Finding& finding = channel_.finding;
    fmt::print(stderr, "weft: {}: {}\n", trace::name(finding.kind), finding.message);
    const auto token = trace::collect_token(channel_, cli::run_facts(options_));
    if (token) {
      // The schedule is in the token; the input is for the body. libFuzzer's limit on memory is a
      // thread, and an exploration forks.
      fmt::print(stderr, "weft: replay it in full with WEFT_REPLAY={} {} -rss_limit_mb=0 INPUT\n",
                 cli::shell_word(trace::format_token(*token)),
                 cli::shell_word(::program_invocation_name));
    } else {
      fmt::print(stderr, "weft: there is no token: {}\n", token.error());
    }
    ::sigaction(SIGABRT, &on_abort_, nullptr);
    std::abort();
  }

  const Options options_;
  trace::Channel& channel_;
  strategies::InputBytes strategy_;
  struct sigaction on_abort_;
  struct sigaction on_alarm_;
  const engine::WorkerConfig config_;
  engine::ResidentWorker worker_;
  std::uint64_t executions_ = 0;
  volatile bool executing_ = false;
  Progress at_last_alarm_;
};

void begin(const Options& given, const Body& body) {
  Options options = given;
  if (options.name.empty()) options.name = ::program_invocation_short_name;
  if (std::string error = options::apply_environment(options); !error.empty()) refuse(error);
  if (!options.replay.empty()) {
    const Result result = explore(options, body);
    for (const FoundBug& bug : result.findings) fmt::print("{}\n", bug.text);
    if (!result.error.empty()) refuse(result.error);
    if (!result.divergence.empty()) refuse(result.divergence);
    leave(result.ok() ? 0 : 1);
  }
  if (const char* const why = engine::why_no_alias())
    refuse(fmt::format("fuzzing needs the alias executor: {}", why));
  void* const memory =
      ::mmap(nullptr, sizeof(Fuzzing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse("out of memory for the session");
  fuzzing = static_cast<Fuzzing*>(memory);
  ::new (memory) Fuzzing(options, body);
}

}  // namespace

void fuzz_one(const std::uint8_t* data, std::size_t size, const Body& body,
              const Options& options) {
  if (!has_libfuzzer())
    refuse("weft::fuzz_one() is for programs that are linked with libFuzzer: weft_add_fuzzer()");
  if (fuzzing == nullptr) begin(options, body);
  fuzzing->run({data, size}, body);
}

}  // namespace weft
