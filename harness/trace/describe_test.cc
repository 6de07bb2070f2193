// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Goal: tasks and objects are called by identity. Method: one of each space.

#include "harness/trace/describe.h"

#include <gtest/gtest.h>

namespace weft::trace {
namespace {

Trace family() {
  Trace trace;
  const TaskId second = kRootTask.child(1);
  trace.tasks = {{kRootTask, kNoTaskIndex, 0},
                 {kRootTask.child(kTimerOrdinal), 0, kTimerOrdinal},
                 {second, 0, 1},
                 {second.child(0), 2, 0}};
  trace.modules = {{.path = "/usr/lib/libc.so.6", .id = 5}};
  return trace;
}

TEST(Describe, TasksAreCalledByTheirSpawnPath) {
  const Trace trace = family();
  EXPECT_EQ(task_path(trace.tasks, TaskIndex{0}), "0");
  EXPECT_EQ(task_path(trace.tasks, TaskIndex{1}), "timer");
  EXPECT_EQ(task_path(trace.tasks, TaskIndex{2}), "0.1");
  EXPECT_EQ(task_path(trace.tasks, TaskIndex{3}), "0.1.0");
  EXPECT_EQ(task_path(trace.tasks, kNoTaskIndex), "?");
  EXPECT_EQ(task_path(trace.tasks, kRootTask.child(1)), "0.1");
  EXPECT_EQ(task_path(trace.tasks, TaskId{1}), "?");
}

TEST(Describe, ObjectsAreCalledByWhoMadeThem) {
  Trace trace = family();
  const std::uint64_t child = trace.tasks[3].id.value;
  const ObjectId in_libc{.owner = 5, .offset = 0x1d3b20, .space = ObjectSpace::kModule};
  EXPECT_EQ(describe_object(trace, {}), "");
  EXPECT_EQ(describe_object(trace, in_libc), "libc.so.6+0x1d3b20");
  EXPECT_EQ(describe_object(trace, {6, 0x10, 0, ObjectSpace::kModule}), "module+0x10");
  EXPECT_EQ(describe_object(trace, {child, 0, 3, ObjectSpace::kHeap}), "heap(0.1.0 #3)");
  EXPECT_EQ(describe_object(trace, {child, 16, 3, ObjectSpace::kHeap}), "heap(0.1.0 #3)+16");
  EXPECT_EQ(describe_object(trace, {child, 0x40, 0, ObjectSpace::kStack}), "stack(0.1.0)-0x40");
  EXPECT_EQ(describe_object(trace, {child, 0, 0, ObjectSpace::kTask}), "task 0.1.0");
  EXPECT_EQ(describe_object(trace, {0, 0x7f00, 0, ObjectSpace::kForeign}), "0x7f00");
  trace.names[in_libc] = "stdout";
  EXPECT_EQ(describe_object(trace, in_libc), "stdout");
}

}  // namespace
}  // namespace weft::trace
