// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/cli/gdb.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace weft::cli {
namespace {

constexpr int kNotStarted = 127;  // as a shell reports it

std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string file = directory.append("/").append(name);
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Signals of the terminal, which are meant for the child that has it.
class TerminalSignalsIgnored {
 public:
  TerminalSignalsIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~TerminalSignalsIgnored() { restore(); }
  TerminalSignalsIgnored(const TerminalSignalsIgnored&) = delete;
  TerminalSignalsIgnored& operator=(const TerminalSignalsIgnored&) = delete;

  /// In the child, before it becomes another program.
  void restore() const {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
};

std::vector<std::string> command_line(const std::string& gdb, pid_t worker, const std::string& hint,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {gdb, "-q"};
  const auto early = [&](const char* command) { line.insert(line.end(), {"-iex", command}); };
  const auto then = [&](const std::string& command) { line.insert(line.end(), {"-ex", command}); };
  // Nobody is there to ask for the next page.
  if (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0) early("set pagination off");
  early("set print thread-events off");
  line.insert(line.end(), {"-p", std::to_string(worker)});
  then("break weft_stop_for_debugger");
  then("continue");
  then("echo " + hint + "\\n");
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

}  // namespace

trace::Outcome<std::string> find_gdb() {
  const char* const given = std::getenv("WEFT_GDB");
  const std::string name = given == nullptr || *given == '\0' ? "gdb" : given;
  if (std::string found = find_in_path(name); !found.empty()) return found;
  if (name != "gdb") return trace::Failure{fmt::format("WEFT_GDB: there is no program '{}'", name)};
  return trace::Failure{"gdb is not installed: install the package gdb, or name it by WEFT_GDB"};
}

std::string run_gdb(const std::string& gdb, pid_t worker, const std::string& hint,
                    const std::vector<std::string>& arguments) {
  std::vector<std::string> line = command_line(gdb, worker, hint, arguments);
  std::vector<char*> words;
  for (std::string& word : line) words.push_back(word.data());
  words.push_back(nullptr);
  std::fflush(nullptr);
  const TerminalSignalsIgnored signals;
  const pid_t child = ::fork();
  if (child < 0) return fmt::format("cannot start {}: {}", gdb, std::strerror(errno));
  if (child == 0) {
    signals.restore();
    ::execv(gdb.c_str(), words.data());
    ::_exit(kNotStarted);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted)
    return fmt::format("{} does not start", gdb);
  return {};
}

}  // namespace weft::cli
