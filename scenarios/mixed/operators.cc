// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <dlfcn.h>

#include <array>

#include "scenarios/mixed/copy.h"

namespace weft::mixed::WEFT_RT {
namespace {

using Function = int (*)(int);

// Two implementations of each operator, of which the first to be registered wins; a third is in a
// library.
constexpr unsigned kFunctions = 2;
constexpr std::uint8_t kOfLibrary = kFunctions + 1;

template <unsigned kWhich, unsigned kFunction>
int compute(int argument) {
  return argument * 100 + static_cast<int>(kWhich * 10 + kFunction);
}

constexpr Function kAll[kOperators][kFunctions] = {{&compute<0, 1>, &compute<0, 2>},
                                                   {&compute<1, 1>, &compute<1, 2>},
                                                   {&compute<2, 1>, &compute<2, 2>}};

rt::Operator<int(int)> operator_number(unsigned which) {
  constexpr const char* kNames[kOperators] = {"mixed.zero", "mixed.one", "mixed.two"};
  return rt::Operator<int(int)>(kNames[which]);
}

void add(Strand& strand, unsigned copy, unsigned which, std::uint8_t number, Function function) {
  ContextCall call{.kind = ContextCall::Kind::kRegister, .which = static_cast<std::uint8_t>(which)};
  call.settings.operators[which] = number;
  const std::uint64_t begin = strand.now();
  try {
    call.generation = rt::register_operator(operator_number(which), rt::DeviceKind::kCpu, function);
    call.saw_generation = true;
  } catch (const rt::OperatorExists&) {
    call.kind = ContextCall::Kind::kRefused;
  }
  strand.record(copy, begin, call);
}

}  // namespace

std::uint8_t operator_in(const rt::ContextImpl& impl, unsigned which) {
  const Function found = impl.operators.find(operator_number(which), rt::DeviceKind::kCpu);
  if (found == nullptr) return 0;
  for (unsigned i = 0; i < kFunctions; ++i)
    if (found == kAll[which][i]) return static_cast<std::uint8_t>(i + 1);
  // The library's, which is loaded as long as the table has it.
  always(found(7) == 700 + static_cast<int>(10 * which + kOfLibrary),
         "an operator is what was registered under its name");
  return kOfLibrary;
}

void register_operator(Strand& strand, const Node& node) {
  const unsigned which = node.argument % kOperators;
  const unsigned function = node.argument / kOperators % kFunctions;
  add(strand, node.copy, which, static_cast<std::uint8_t>(function + 1), kAll[which][function]);
}

void open_operators(Strand& strand, const Node& node) {
  constexpr const char* kNames[kOperators] = {"weft_mixed_zero", "weft_mixed_one",
                                              "weft_mixed_two"};
  const unsigned which = node.argument % kOperators;
  void* const library = dlopen(WEFT_MIXED_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  always(library != nullptr, "the library of operators can be opened");
  const auto function = reinterpret_cast<Function>(dlsym(library, kNames[which]));
  add(strand, node.copy, which, kOfLibrary, function);
  // The table keeps it loaded, if it took the function.
  dlclose(library);
}

void call_operator(Strand& strand, const Node& node) {
  ContextCall call{.kind = ContextCall::Kind::kReadOperator,
                   .which = static_cast<std::uint8_t>(node.argument % kOperators)};
  if (refused(strand, node.copy,
              [&] { (void)rt::call(operator_number(call.which), rt::DeviceKind::kCpu, 7); }))
    return;
  FirstRead first(strand, node.copy);
  const std::uint64_t begin = strand.now();
  try {
    const int result = rt::call(operator_number(call.which), rt::DeviceKind::kCpu, 7);
    call.settings.operators[call.which] = static_cast<std::uint8_t>(result % 10);
    always(result / 10 == 70 + call.which, "an operator computes what it was registered for");
  } catch (const rt::OperatorNotFound&) {
  }
  first.look();
  strand.record(strand.of(node.copy).follows, begin, call);
}

}  // namespace weft::mixed::WEFT_RT
