// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/worker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "harness/base/check.h"
#include "harness/base/prng.h"
#include "harness/base/process.h"
#include "harness/engine/crash.h"
#include "harness/engine/debugger.h"
#include "harness/engine/default_schedule.h"
#include "harness/engine/distinct.h"
#include "harness/engine/execution.h"
#include "harness/engine/recorder.h"
#include "harness/engine/subject.h"
#include "harness/engine/unwind.h"

namespace weft::engine {

/// All that a worker has, in a mapping of its own: the executable's segments and
/// the main thread's stack are restored between executions, this must not be.
struct Worker {
  Worker(const WorkerConfig& given, trace::Channel& channel, RootBody body) noexcept
      : config(given),
        channel(channel),
        root(body),
        image(make_process_image()),
        executor(make_executor(config.executor, image, channel)),
        execution(config, channel, executor, image),
        recorder(execution, config.record) {
    if (config.record || config.hash_every_execution) execution.add_observer(recorder);
  }

  const WorkerConfig config;
  trace::Channel& channel;
  RootBody root;
  ProcessImage& image;
  Executor& executor;
  Execution execution;
  Recorder recorder;
  DefaultSchedule default_schedule;

  void prepare() noexcept;
  void warm_up() noexcept;
  bool run_one(std::uint64_t index) noexcept;
  [[gnu::noinline]] void run_all() noexcept;
  [[noreturn]] void work() noexcept;
};

namespace {

void redirect_output(int fd) noexcept {
  if (fd < 0) return;
  std::fflush(nullptr);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  // What a task prints must be in the file when the execution fails, not in a buffer.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
}

/// To a number of which this process is the only writer: no read-modify-write.
void add(std::atomic<std::uint64_t>& number, std::uint64_t more) noexcept {
  number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

Worker& make_worker(const WorkerConfig& config, trace::Channel& channel, RootBody body) noexcept {
  void* const memory =
      mmap(nullptr, sizeof(Worker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WEFT_CHECK(memory != MAP_FAILED, "out of memory for the worker");
  return *::new (memory) Worker(config, channel, body);
}

}  // namespace

void Worker::prepare() noexcept {
  if (config.pin) pin_to_one_cpu(config.processor);
  redirect_output(config.output_fd);
  prepare_interception();
  // libstdc++ counts references without atomics while it is set. Nothing would clear it: the
  // threads that run tasks are older than the tasks, and in a program that is not
  // position-independent the variable is a part of the image that every execution begins with.
  __libc_single_threaded = 0;
  install_crash_handlers(execution);
  // The unwinder initialises itself at first use. Recording walks stacks and exploring does not, so
  // let the snapshot have it initialised: otherwise a test that throws would see a difference.
  std::uintptr_t frame = 0;
  capture_stack(&frame, 1);
  channel.module_count = 0;
  for (std::size_t i = 0; i < image.module_count() && i < trace::kMaxModules; ++i) {
    trace::ModuleRow& row = channel.modules[i];
    image.describe_module(i, row.base, row.id, row.path, sizeof row.path);
    channel.module_count = static_cast<std::uint32_t>(i + 1);
  }
}

/// Runs the default schedule once, so that what libc and the C++ library do at
/// first use is behind us, and puts everything of the subject's back.
void Worker::warm_up() noexcept {
  channel.phase.store(trace::WorkerPhase::kWarmUp, std::memory_order_relaxed);
  execution.run(default_schedule, &run_root, &root);
  forget_execution(execution);
  image.restore();
}

bool Worker::run_one(std::uint64_t index) noexcept {
  channel.current.store(index, std::memory_order_relaxed);
  if (config.strategy->next_execution(index, fold(config.seed, index)) == Next::kExhausted) {
    channel.exhausted.store(true, std::memory_order_relaxed);
    return false;
  }
  // The file holds the current execution's output only.
  if (config.output_fd >= 0 && image.may_have_called_system() &&
      lseek(config.output_fd, 0, SEEK_END) > 0 && ftruncate(config.output_fd, 0) != 0)
    return false;
  channel.phase.store(trace::WorkerPhase::kExecuting, std::memory_order_relaxed);
  image.subject_starts();
  execution.run(*config.strategy, &run_root, &root);
  image.subject_stopped();
  channel.phase.store(trace::WorkerPhase::kBetween, std::memory_order_relaxed);
  count_distinct(channel.estimator, mix64(channel.schedule_digest));
  channel.strategy_state_size =
      config.strategy->save(channel.strategy_state, trace::kStrategyStateBytes);
  add(channel.total_steps, channel.steps);
  add(channel.executions, 1);
  if (config.after_execution != nullptr)
    config.after_execution(index, channel, config.after_execution_context);
  forget_execution(execution);
  image.restore();
  return true;
}

void Worker::run_all() noexcept {
  for (std::uint64_t n = 0; n < config.count; ++n) {
    if (channel.stop_requested.load(std::memory_order_relaxed)) break;
    if (!run_one(config.first + n * config.stride)) break;
  }
}

void Worker::work() noexcept {
  prepare();
  image.snapshot(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  warm_up();
  // Not for a single one, and not under a debugger, which would stop at each fault.
  if (config.executor == ExecutorKind::kAlias && config.count > 1 && !being_traced()) image.guard();
  config.strategy->load(channel.strategy_state, channel.strategy_state_size);
  // A page further down the stack: of the page that this frame is on, what lies above the frame is
  // put back after each execution in which anybody writes to that page.
  asm volatile("" : : "r"(__builtin_alloca(kPageBytes)) : "memory");
  run_all();
  channel.phase.store(trace::WorkerPhase::kDone, std::memory_order_relaxed);
  _exit(static_cast<int>(WorkerExit::kFinished));
}

void run_worker(const WorkerConfig& config, trace::Channel& channel, void (*body)(void*),
                void* argument) noexcept {
  make_worker(config, channel, {body, argument}).work();
}

ResidentWorker::ResidentWorker(const WorkerConfig& config, trace::Channel& channel,
                               void (*body)(void*), void* argument) noexcept
    : worker_(make_worker(config, channel, {body, argument})) {
  worker_.prepare();
  worker_.image.snapshot(0);
  worker_.warm_up();
}

void ResidentWorker::run(std::uint64_t index, void* argument) noexcept {
  worker_.root.argument = argument;
  (void)worker_.run_one(index);
}

}  // namespace weft::engine
