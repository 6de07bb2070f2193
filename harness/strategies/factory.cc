// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/strategies/factory.h"

#include <charconv>
#include <span>
#include <vector>

#include "harness/strategies/determinism.h"
#include "harness/strategies/pct.h"
#include "harness/strategies/portfolio.h"
#include "harness/strategies/pos.h"
#include "harness/strategies/random.h"
#include "harness/strategies/round_robin.h"

namespace weft::strategies {
namespace {

struct Parameter {
  std::string_view key;
  std::string_view value;
};

using Parameters = std::span<const Parameter>;
using Made = std::unique_ptr<engine::Strategy>;

std::string quoted(std::string_view text) { return '\'' + std::string(text) + '\''; }

template <typename Number>
bool parse(const Parameter& parameter, Number low, Number high, std::string_view range,
           Number& value, std::string& error) {
  const char* end = parameter.value.data() + parameter.value.size();
  const auto [stop, failure] = std::from_chars(parameter.value.data(), end, value);
  // The comparison is written so that a NaN fails it.
  if (failure == std::errc{} && stop == end && value >= low && value <= high) return true;
  error = std::string(parameter.key) + '=' + std::string(parameter.value) + ": expected " +
          std::string(range);
  return false;
}

bool unknown(std::string_view strategy, const Parameter& parameter, std::string_view known,
             std::string& error) {
  error = "strategy " + quoted(strategy) + " has no parameter " + quoted(parameter.key) +
          "; it has " + std::string(known);
  return false;
}

Made make_random(Parameters parameters, std::string& error) {
  RandomOptions options;
  for (const Parameter& parameter : parameters) {
    const bool good = parameter.key == "switch"
                          ? parse(parameter, 0x1p-20, 1.0, "a probability above 0 and at most 1",
                                  options.switch_probability, error)
                          : unknown("random", parameter, "switch", error);
    if (!good) return nullptr;
  }
  return std::make_unique<Random>(options);
}

Made make_pct(Parameters parameters, std::string& error) {
  PctOptions options;
  for (const Parameter& parameter : parameters) {
    const bool good =
        parameter.key == "depth"
            ? parse(parameter, 1u, Pct::kMaxDepth, "a number from 1 to 32", options.depth, error)
            : unknown("pct", parameter, "depth", error);
    if (!good) return nullptr;
  }
  return std::make_unique<Pct>(options);
}

Made make_pos(Parameters parameters, std::string& error) {
  PosOptions options;
  for (const Parameter& parameter : parameters) {
    const bool good = parameter.key == "plain"
                          ? parse(parameter, std::uint64_t{1}, std::uint64_t{1} << 32,
                                  "a number of operations from 1 to 2^32", options.plain_gap, error)
                          : unknown("pos", parameter, "plain", error);
    if (!good) return nullptr;
  }
  return std::make_unique<Pos>(options);
}

template <typename Strategy>
Made make_plain(Parameters parameters, std::string& error) {
  auto strategy = std::make_unique<Strategy>();
  if (parameters.empty()) return strategy;
  unknown(strategy->name(), parameters.front(), "none", error);
  return nullptr;
}

struct Entry {
  std::string_view name;
  Made (*make)(Parameters, std::string&);
  std::string_view help;
};

constexpr Entry kEntries[] = {
    {"portfolio", make_plain<Portfolio>,
     "the default: fixed round-robin schedules, then pos, pct and random in turn"},
    {"pct", make_pct, "random priorities that drop at random places; depth=N (1 to 32, default 3)"},
    {"pos", make_pos,
     "partial order sampling; plain=N (operations between considered plain accesses; default: "
     "varies)"},
    {"random", make_random,
     "sparse random switches; switch=P (probability at each point, at least 1/2 at a yield or "
     "sleep, "
     "at most 63/64; default: varies)"},
    {"round_robin", make_plain<RoundRobin>,
     "in turn: lockstep, newest first, strict, then random quanta"},
};
constexpr std::string_view kDeterminism = "determinism";
constexpr std::string_view kDeterminismHelp =
    "runs every schedule of another strategy twice and compares; determinism:NAME[:...]";

std::string all_names() {
  std::string names;
  for (const Entry& entry : kEntries) names.append(entry.name).append(", ");
  return names.append(kDeterminism);
}

bool split_parameters(std::string_view text, std::vector<Parameter>& parameters,
                      std::string& error) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() < text.size() ? item.size() + 1 : item.size());
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      error = "strategy parameter " + quoted(item) + " is not key=value";
      return false;
    }
    parameters.push_back({item.substr(0, equals), item.substr(equals + 1)});
  }
  return true;
}

}  // namespace

std::unique_ptr<engine::Strategy> make(std::string_view spec, std::string& error) {
  error.clear();
  if (spec.empty()) spec = kDefaultStrategy;
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view{} : spec.substr(colon + 1);
  if (name == kDeterminism) {
    if (rest.substr(0, rest.find(':')) == kDeterminism) {
      error =
          "determinism cannot check itself; name another after the colon, such as determinism:pct";
      return nullptr;
    }
    Made inner = make(rest, error);
    return inner ? std::make_unique<Determinism>(std::move(inner)) : nullptr;
  }
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    std::vector<Parameter> parameters;
    return split_parameters(rest, parameters, error) ? entry.make(parameters, error) : nullptr;
  }
  error = "no strategy is named " + quoted(name) + "; there are " + all_names();
  return nullptr;
}

std::string names_help() {
  std::string help;
  const auto line = [&help](std::string_view name, std::string_view text) {
    constexpr std::size_t kColumn = 14;
    help.append("  ").append(name).append(kColumn - name.size(), ' ').append(text).append("\n");
  };
  for (const Entry& entry : kEntries) line(entry.name, entry.help);
  line(kDeterminism, kDeterminismHelp);
  return help;
}

}  // namespace weft::strategies
