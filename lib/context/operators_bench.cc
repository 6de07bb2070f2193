// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What calling by the context's table costs, beside a virtual call and a call by a function
// pointer. All three do the same small work, through something that the compiler cannot see
// through.

#include "lib/context/operators.h"

#include <benchmark/benchmark.h>

namespace weftrt {
namespace {

int add(int a, int b) { return a + b; }

const Operator<int(int, int)> kAdd("operators_bench.add");

void operator_call(benchmark::State& state) {
  register_operator(kAdd, DeviceKind::kCpu, &add);
  int sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sum = call(kAdd, DeviceKind::kCpu, sum, 1));
}

struct Adder {
  virtual ~Adder() = default;
  virtual int add(int a, int b) const = 0;
};
struct PlainAdder : Adder {
  int add(int a, int b) const override { return a + b; }
};

void virtual_call(benchmark::State& state) {
  const PlainAdder plain;
  const Adder* adder = &plain;
  int sum = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(adder);
    benchmark::DoNotOptimize(sum = adder->add(sum, 1));
  }
}

void pointer_call(benchmark::State& state) {
  int (*function)(int, int) = &add;
  int sum = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(function);
    benchmark::DoNotOptimize(sum = function(sum, 1));
  }
}

BENCHMARK(operator_call)->Name("operator/call");
BENCHMARK(virtual_call)->Name("operator/virtual_call");
BENCHMARK(pointer_call)->Name("operator/pointer_call");

}  // namespace
}  // namespace weftrt
