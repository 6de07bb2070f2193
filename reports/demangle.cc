// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reports/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace weft::reports {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::size_t kLongestTemplateArguments = 24;

// The position after the bracket that closes the one at `open`, or the end.
std::size_t after_group(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
    // The '>' of "operator->" and of a trailing return type closes nothing.
    const bool arrow = c == '>' && i != 0 && text[i - 1] == '-';
    if (c == ')' || (c == '>' && !arrow) || c == '}' || c == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string demangle(const char* symbol) {
  // The compiler's own suffix (".cold", ".llvm.1234", ".0" of a variable that it split) is in no
  // source.
  const std::string_view whole(symbol);
  const std::string source(whole.substr(0, whole.find('.')));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(source.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name != nullptr ? std::string(name.get()) : std::string(symbol);
}

std::string short_function(std::string_view demangled) {
  std::string result;
  std::size_t at = 0;
  bool parameters_seen = false;
  while (at < demangled.size()) {
    const std::string_view rest = demangled.substr(at);
    if (rest.starts_with(kAnonymous)) {
      at += kAnonymous.size();
      // Says nothing that the file name next to it does not.
      if (demangled.substr(at).starts_with("::")) at += 2;
      continue;
    }
    if (rest.starts_with("operator")) {
      // Its punctuation is a name, not brackets: "operator()", "operator<", "operator->".
      std::size_t end = at + std::string_view("operator").size();
      if (demangled.substr(end).starts_with("()")) {
        end += 2;
      } else {
        while (end < demangled.size() &&
               std::string_view("<>=-!+*/&|^~,[]%").find(demangled[end]) !=
                   std::string_view::npos) {
          ++end;
        }
      }
      result.append(demangled.substr(at, end - at));
      at = end;
      continue;
    }
    const char c = demangled[at];
    if (c == '(' || c == '<' || c == '{') {
      const std::size_t end = after_group(demangled, at);
      const std::string_view group = demangled.substr(at, end - at);
      if (c == '{') {
        // "{lambda(int)#2}": which lambda matters, its parameters do not.
        const std::size_t number = group.rfind('#');
        const bool lambda = group.starts_with("{lambda") && number != std::string_view::npos;
        result.append(lambda ? "{lambda" + std::string(group.substr(number)) : std::string(group));
      } else if (c == '<') {
        result.append(group.size() <= kLongestTemplateArguments ? group : "<...>");
      } else {
        parameters_seen = true;
      }
      at = end;
      continue;
    }
    if (c == ' ') {
      // What stood before it was a return type; after the parameters, qualifiers follow.
      if (parameters_seen) break;
      result.clear();
      ++at;
      continue;
    }
    result.push_back(c);
    ++at;
  }
  return result.empty() ? std::string(demangled) : result;
}

}  // namespace weft::reports
