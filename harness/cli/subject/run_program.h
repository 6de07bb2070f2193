// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// For tests that treat a program as its users do: a command line in, text and an
// exit status out.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace weft::cli {

struct Ran {
  int status = -1;
  std::string out;
  std::string err;
};

/// Runs shell commands in a directory of its own, without the user's WEFT_ variables.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    char name[] = "/tmp/weft-program-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  ~ProgramTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] Ran run(const std::string& command) const {
    const std::string line = "cd " + directory_ + " && { " + command + " ; } >out 2>err </dev/null";
    const int status = std::system(line.c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = read("out"),
            .err = read("err")};
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string directory_;
};

/// The rest of the first line that begins with `prefix`, leading blanks aside.
[[nodiscard]] inline std::string rest_of_line(const std::string& text, const std::string& prefix) {
  const std::size_t at = text.find(prefix);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + prefix.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace weft::cli
