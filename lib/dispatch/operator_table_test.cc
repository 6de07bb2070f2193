// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: a table is a snapshot: adding to one leaves the copies of it as they were.

#include "lib/dispatch/operator_table.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace weftrt {
namespace {

int twice(int x) { return 2 * x; }
int thrice(int x) { return 3 * x; }
double halved(double x) { return x / 2; }

const Operator<int(int)> kScale("operator_table_test.scale");
const Operator<double(double)> kHalve("operator_table_test.halve");

TEST(Operator, TheSameNameIsTheSameOperatorAndHasOneSignature) {
  EXPECT_EQ(&Operator<int(int)>("operator_table_test.scale").record(), &kScale.record());
  EXPECT_EQ(kScale.name(), "operator_table_test.scale");
  EXPECT_NE(kScale.record().index, kHalve.record().index);
  EXPECT_THROW(Operator<int(long)>("operator_table_test.scale"), std::logic_error);
}

TEST(Operator, RacingDefinitionsAgree) {
  std::vector<const detail::OperatorRecord*> records(4);
  std::vector<std::thread> threads;
  for (auto& record : records)
    threads.emplace_back([&] { record = &Operator<int()>("operator_table_test.raced").record(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto* record : records) EXPECT_EQ(record, records[0]);
}

TEST(OperatorTable, FindsWhatWasAddedByKindOfDevice) {
  OperatorTable table;
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.find(kScale, DeviceKind::kCpu), nullptr);
  table.add(kScale, DeviceKind::kCpu, &twice);
  table.add(kScale, DeviceKind::kCuda, &thrice);
  table.add(kHalve, DeviceKind::kCpu, &halved);
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table.get(kScale, DeviceKind::kCpu)(5), 10);
  EXPECT_EQ(table.get(kScale, DeviceKind::kCuda)(5), 15);
  EXPECT_EQ(table.get(kHalve, DeviceKind::kCpu)(5), 2.5);
  EXPECT_EQ(table.find(kHalve, DeviceKind::kCuda), nullptr);
}

TEST(OperatorTable, ACopyIsASnapshot) {
  OperatorTable table;
  table.add(kScale, DeviceKind::kCpu, &twice);
  const OperatorTable before = table;
  EXPECT_EQ(before, table);
  table.add(kHalve, DeviceKind::kCpu, &halved);
  EXPECT_EQ(before.find(kHalve, DeviceKind::kCpu), nullptr);
  EXPECT_EQ(before.size(), 1U);
  EXPECT_FALSE(before == table);
  EXPECT_EQ(table.get(kScale, DeviceKind::kCpu), &twice);
}

TEST(OperatorTable, EqualityIsThatOfTheFunctions) {
  OperatorTable longer;
  OperatorTable shorter;
  const Operator<int(int)> later("operator_table_test.later");
  longer.add(later, DeviceKind::kCpu, &twice);
  EXPECT_FALSE(longer == shorter);
  EXPECT_FALSE(shorter == longer);
  shorter.add(later, DeviceKind::kCpu, &twice);
  EXPECT_EQ(longer, shorter);
  longer.add(kScale, DeviceKind::kCuda, &twice);
  shorter.add(kScale, DeviceKind::kCpu, &twice);
  EXPECT_FALSE(longer == shorter);
}

TEST(OperatorTable, TheFirstFunctionStaysAndAnotherIsRefused) {
  OperatorTable table;
  table.add(kScale, DeviceKind::kCpu, &twice);
  table.add(kScale, DeviceKind::kCpu, &twice);
  try {
    table.add(kScale, DeviceKind::kCpu, &thrice);
    FAIL() << "no exception";
  } catch (const OperatorExists& error) {
    EXPECT_STREQ(error.what(),
                 "operator 'operator_table_test.scale' already has another function for cpu");
  }
  EXPECT_EQ(table.get(kScale, DeviceKind::kCpu), &twice);
  int (*const none)(int) = nullptr;
  EXPECT_THROW(table.add(kScale, DeviceKind::kCuda, none), std::invalid_argument);
}

TEST(OperatorTable, WhatIsMissingIsNamed) {
  const OperatorTable table;
  try {
    (void)table.get(kScale, DeviceKind::kCuda);
    FAIL() << "no exception";
  } catch (const OperatorNotFound& error) {
    EXPECT_STREQ(error.what(),
                 "operator 'operator_table_test.scale' has no function for cuda in this context: "
                 "none was registered before the context was taken");
  }
}

}  // namespace
}  // namespace weftrt
