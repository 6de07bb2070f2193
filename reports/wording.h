// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Findings, operations and waits in words. Golden-tested: people and scripts read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/trace/trace.h"

namespace weft::reports {

/// "deadlock", "failed assertion": fits "weft: ... in SCENARIO".
[[nodiscard]] std::string_view title(trace::FindingKind kind);

/// "1 step", "2 steps".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

/// What a step did: "lock A", "atomic store flag := 1 (release)", "spawn task 0.1".
[[nodiscard]] std::string describe_step(const trace::Trace& trace, const trace::Event& event);

/// What a blocked task waits for: "to lock B", "for task 0.1 to end".
/// "write of 8 bytes", "free of a block of 32 bytes", ...
[[nodiscard]] std::string describe_access(const trace::FindingAccess& access);

/// What a data race's two accesses lack, in one line.
[[nodiscard]] std::string missing_order(const trace::Trace& trace);

/// "atomic store of ready (relaxed)": one side of a pair that nearly put the accesses in order.
[[nodiscard]] std::string describe_weak_side(const trace::Trace& trace,
                                             const trace::WeakSide& side);
/// What such a pair lacks: "That would put them in order if the store were a release."
[[nodiscard]] std::string weak_order(const trace::WeakPair& pair);

[[nodiscard]] std::string describe_wait(const trace::Trace& trace, const trace::FindingTask& task);

}  // namespace weft::reports
