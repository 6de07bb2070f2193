// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// GoogleTest tests whose bodies are explored:
//
//   WEFT_TEST(Queue, PopsWhatWasPushed, .schedules = 10'000) {
//     Queue queue;
//     std::thread producer([&] { queue.push(1); });
//     EXPECT_EQ(queue.pop(), 1);
//     producer.join();
//   }
//
// The body runs many times, each under another schedule, in worker processes. A
// failed EXPECT_ or ASSERT_ on any of its threads ends the execution with a
// finding, which fails the test with the whole report and the lines to paste.
// Link weft::gtest_main, or call weft::gtest::main() from a main of your own.
#pragma once

#include <gtest/gtest.h>

#include <weft/weft.h>

namespace weft::gtest {

/// Explores `body` on behalf of the current test and fails it for each finding.
void run_test(Options options, const char* file, int line, void (*body)());

/// main() of weft::gtest_main: reads GoogleTest's and --weft_* flags, runs the tests.
int main(int argc, char** argv);

}  // namespace weft::gtest

/// WEFT_TEST(Suite, Name) or WEFT_TEST(Suite, Name, .schedules = 500, .jobs = 2):
/// what follows the name are designated initialisers of weft::Options.
#define WEFT_TEST(suite, test, ...)                                           \
  static void weft_body_of_##suite##_##test();                                \
  TEST(suite, test) {                                                         \
    ::weft::gtest::run_test(::weft::Options{__VA_ARGS__}, __FILE__, __LINE__, \
                            &weft_body_of_##suite##_##test);                  \
  }                                                                           \
  static void weft_body_of_##suite##_##test()
