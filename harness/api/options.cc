// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/api/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <weft/framework.h>

namespace weft::options {
namespace {

constexpr std::string_view kFlagPrefix = "--weft_";

template <typename Number>
std::string parse_number(std::string_view text, Number least, const char* wanted, Number& value) {
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  // Written so that a NaN fails as well.
  if (error != std::errc() || end != text.data() + text.size() || !(parsed >= least)) {
    return std::string("give ") + wanted;
  }
  value = parsed;
  return {};
}

constexpr char kCount[] = "a number from 1 up";
constexpr char kNumber[] = "a number from 0 up";
constexpr char kSeconds[] = "a number of seconds above 0, such as 0.5";
constexpr double kLeastSeconds = 0.001;

std::string parse_seconds(std::string_view text, double& value) {
  return parse_number(text, kLeastSeconds, kSeconds, value);
}

constexpr char kExecutors[] = "take auto, alias, baton or fresh";

bool is_executor(std::string_view name) {
  constexpr std::string_view kNames[] = {"auto", "alias", "baton", "fresh"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::string parse_switch(std::string_view text, bool& value) {
  for (const char* yes : {"1", "true", "yes", "on", ""}) {
    if (text == yes) return value = true, std::string();
  }
  for (const char* no : {"0", "false", "no", "off"}) {
    if (text == no) return value = false, std::string();
  }
  return "give 1 or 0";
}

constexpr Field kFields[] = {
    {"schedules", "N", "executions at most, of each scenario or test",
     [](Options& o, std::string_view text) {
       std::uint64_t value = 0;
       std::string error = parse_number<std::uint64_t>(text, 1, kCount, value);
       if (error.empty()) o.schedules = value;
       return error;
     }},
    {"seconds", "S", "wall-clock limit, for each scenario or test",
     [](Options& o, std::string_view text) {
       double value = 0;
       std::string error = parse_seconds(text, value);
       if (error.empty()) o.seconds = value;
       return error;
     }},
    {"strategy", "NAME", "how schedules are chosen, such as portfolio, random, pct, pos",
     [](Options& o, std::string_view text) {
       if (text.empty()) return std::string("name a strategy");
       o.strategy = text;
       return std::string();
     }},
    {"seed", "N", "of every random choice: the same seed and jobs give the same schedules",
     [](Options& o, std::string_view text) {
       return parse_number<std::uint64_t>(text, 0, kNumber, o.seed);
     }},
    {"jobs", "N", "worker processes",
     [](Options& o, std::string_view text) {
       return parse_number<unsigned>(text, 1, kCount, o.jobs);
     }},
    {"max_steps", "N", "steps after which an execution is a finding",
     [](Options& o, std::string_view text) {
       return parse_number<std::uint64_t>(text, 1, kCount, o.max_steps);
     }},
    {"memory_points", "0|1", "whether plain memory accesses may be schedule points (1)",
     [](Options& o, std::string_view text) { return parse_switch(text, o.memory_points); }},
    {"races", "0|1", "whether data races and uses of freed memory are findings (1)",
     [](Options& o, std::string_view text) { return parse_switch(text, o.races); }},
    {"leaks", "0|1", "whether leaked memory and leaked threads are findings (1)",
     [](Options& o, std::string_view text) { return parse_switch(text, o.leaks); }},
    {"spurious_wakeups", "N",
     "so many waits on condition variables may end, and weak compare-exchanges fail, for no reason "
     "(0)",
     [](Options& o, std::string_view text) {
       return parse_number<unsigned>(text, 0, kNumber, o.spurious_wakeups);
     }},
    {"allocation_failures", "N", "so many allocations in an execution may fail (0)",
     [](Options& o, std::string_view text) {
       return parse_number<unsigned>(text, 0, kNumber, o.allocation_failures);
     }},
    {"executor", "NAME",
     "alias: one kernel thread runs all tasks; baton: each runs on its own; fresh: on a new one; "
     "auto: alias where it works (auto)",
     [](Options& o, std::string_view text) {
       if (!is_executor(text)) return std::string(kExecutors);
       o.executor = text;
       return std::string();
     }},
    {"keep_going", "", "go on after the first finding",
     [](Options& o, std::string_view text) { return parse_switch(text, o.keep_going); }},
    {"out", "DIR", "directory for findings (./weft-findings)",
     [](Options& o, std::string_view text) {
       if (text.empty()) return std::string("name a directory");
       o.out = text;
       return std::string();
     }},
    {"replay", "TOKEN", "replay this token, or the file that holds it, instead of exploring",
     [](Options& o, std::string_view text) {
       if (text.empty()) return std::string("give a token, or the file that holds it");
       o.replay = text;
       return std::string();
     }},
    {"lenient", "", "follow what still applies of a token of another build",
     [](Options& o, std::string_view text) { return parse_switch(text, o.lenient); }},
    {"hang_seconds", "S", "real time without a step before a task counts as hung (10)",
     [](Options& o, std::string_view text) { return parse_seconds(text, o.hang_seconds); }},
    {"suppressions", "FILE", "what is known and not to be reported, with reasons",
     [](Options& o, std::string_view text) {
       if (text.empty()) return std::string("name a file");
       o.suppressions = text;
       return std::string();
     }},
};

std::string refusal(std::string_view origin, std::string_view value, const std::string& mend) {
  return std::string(origin) + ": '" + std::string(value) + "' will not do; " + mend;
}

std::string variable_name(const Field& field) {
  std::string name = "WEFT_";
  for (const char* c = field.name; *c != '\0'; ++c) {
    name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
  }
  return name;
}

struct GivenFlag {
  const Field* field;
  std::string value;
};

/// The command line's flags, for the explorations to come.
std::vector<GivenFlag>& given_flags() {
  static std::vector<GivenFlag> flags;
  return flags;
}

}  // namespace

std::span<const Field> fields() noexcept { return kFields; }

std::string set(Options& options, const Field& field, std::string_view origin,
                std::string_view value) {
  const std::string wrong = field.set(options, value);
  return wrong.empty() ? std::string() : refusal(origin, value, wrong);
}

std::string mistake_in(const Options& options) {
  const auto mistake = [](const char* field, std::string_view value, const std::string& mend) {
    return refusal("Options::" + std::string(field), value, mend);
  };
  const auto too_small = [&](const char* field, auto value, const char* wanted) {
    return mistake(field, std::to_string(value), std::string("give ") + wanted);
  };
  if (options.schedules == 0u) return too_small("schedules", 0, kCount);
  // Written so that a NaN fails as well.
  if (options.seconds && !(*options.seconds >= kLeastSeconds))
    return too_small("seconds", *options.seconds, kSeconds);
  if (options.jobs == 0) return too_small("jobs", 0, kCount);
  if (options.max_steps == 0) return too_small("max_steps", 0, kCount);
  if (!is_executor(options.executor)) return mistake("executor", options.executor, kExecutors);
  if (!(options.hang_seconds >= kLeastSeconds))
    return too_small("hang_seconds", options.hang_seconds, kSeconds);
  return {};
}

std::string apply_environment(Options& options) {
  for (const Field& field : kFields) {
    const std::string variable = variable_name(field);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr) continue;
    if (std::string error = set(options, field, variable, value); !error.empty()) return error;
  }
  return {};
}

std::string take_flags(int* argc, char** argv) {
  std::string error;
  int kept = 0;
  const auto is_mistyped = [](std::string_view argument) {
    return argument.starts_with("--weft-") || argument.starts_with("-weft");
  };
  for (int i = 0; i < *argc; ++i) {
    std::string_view argument = argv[i];
    if (i != 0 && error.empty() && is_mistyped(argument)) {
      error = std::string(argv[i]) + ": no such flag; they begin with " + std::string(kFlagPrefix) +
              ", and --weft_help lists them";
    }
    if (i == 0 || !argument.starts_with(kFlagPrefix)) {
      argv[kept++] = argv[i];
      continue;
    }
    argument.remove_prefix(kFlagPrefix.size());
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const Field* field = nullptr;
    for (const Field& candidate : kFields) {
      if (name == candidate.name) field = &candidate;
    }
    if (!error.empty()) continue;
    if (field == nullptr) {
      error = std::string(argv[i]) + ": no such flag; --weft_help lists them";
    } else if (equals == std::string_view::npos && *field->placeholder != '\0') {
      error = std::string(argv[i]) + ": write --weft_" + field->name + "=" + field->placeholder;
    } else {
      const std::string value(equals == std::string_view::npos ? std::string_view("1")
                                                               : argument.substr(equals + 1));
      Options scratch;
      error = set(scratch, *field, std::string(kFlagPrefix) + field->name, value);
      given_flags().push_back({field, value});
    }
  }
  *argc = kept;
  argv[kept] = nullptr;
  return error;
}

std::string apply_flags(Options& options) {
  for (const GivenFlag& flag : given_flags()) {
    std::string error =
        set(options, *flag.field, std::string(kFlagPrefix) + flag.field->name, flag.value);
    if (!error.empty()) return error;
  }
  return {};
}

std::string apply_overrides(Options& options) {
  std::string error = apply_environment(options);
  return error.empty() ? apply_flags(options) : error;
}

}  // namespace weft::options

namespace weft::framework {

std::string parse_command_line(int* argc, char** argv) {
  std::string error = options::take_flags(argc, argv);
  if (!error.empty()) return error;
  Options scratch;
  return options::apply_environment(scratch);
}

std::string flag_help() {
  std::string help =
      "Exploration (also as WEFT_NAME=VALUE in the environment; a flag beats the environment,\n"
      "which beats the test's own options):\n";
  for (const options::Field& field : options::fields()) {
    std::string flag = std::string("  --weft_") + field.name;
    if (*field.placeholder != '\0') flag += std::string("=") + field.placeholder;
    flag.resize(std::max<std::size_t>(flag.size() + 2, 30), ' ');
    help += flag + field.help + "\n";
  }
  return help;
}

}  // namespace weft::framework
