// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: wherever a token is taken, a file or a finding's directory does as well, and what is none
// of them is named. Method: files in a scratch directory.

#include "harness/trace/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/trace/file_io.h"

namespace weft::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TokenFile : public ::testing::Test {
 protected:
  TokenFile() {
    std::string pattern = ::testing::TempDir() + "weft_token_XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~TokenFile() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
  const Token token_{.scenario = std::string(kMaxScenarioName, 'n'), .steps = 3};
};

TEST_F(TokenFile, LoadsTextFileAndDirectoryAlike) {
  const std::string text = format_token(token_);
  ASSERT_GT(text.size(), kLongestPastedToken);
  const auto path = write_token_file(directory_, text);
  ASSERT_TRUE(path) << path.error();
  EXPECT_EQ(*path, directory_ + "/token.weft");
  for (const std::string& source : {text, *path, directory_}) {
    const auto loaded = load_token(source);
    ASSERT_TRUE(loaded) << loaded.error();
    EXPECT_EQ(*loaded, token_);
  }
}

TEST_F(TokenFile, SaysWhatItCouldNotUse) {
  EXPECT_EQ(load_token("no/such/file").error(),
            "bad token: 'no/such/file' neither starts with weft2. nor names a file");
  EXPECT_THAT(load_token(directory_).error(),
              AllOf(StartsWith("cannot open " + directory_), HasSubstr("No such file")));

  const std::string path = directory_ + "/note.txt";
  std::ofstream(path) << "see the attached log\n";
  EXPECT_THAT(load_token(path).error(),
              AllOf(StartsWith(path), HasSubstr("this is not a weft token")));

  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(load_token(fifo).error(), fifo + " is not a regular file");
}

TEST_F(TokenFile, WritingLeavesNothingElseBehind) {
  const std::string path = directory_ + "/a";
  ASSERT_TRUE(write_file_atomically(path, "old"));
  ASSERT_TRUE(write_file_atomically(path, "new"));
  EXPECT_EQ(*read_file(path, 3), "new");
  EXPECT_EQ(read_file(path, 2).error(), path + " is longer than 2 bytes");
  EXPECT_THAT(write_file_atomically(directory_ + "/missing/a", "x").error(),
              StartsWith("cannot create "));
  const std::string taken = directory_ + "/taken";
  std::filesystem::create_directory(taken);
  EXPECT_THAT(write_file_atomically(taken, "x").error(), StartsWith("cannot write " + taken));

  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("a", "taken"));
}

}  // namespace
}  // namespace weft::trace
