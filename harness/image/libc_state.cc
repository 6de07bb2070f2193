// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/image/libc_state.h"

#include <time.h>
#include <unistd.h>

#include <clocale>
#include <cstddef>
#include <cstring>

#include "harness/base/check.h"

namespace weft::image {

void LibcState::take(SavedMemory& memory) noexcept {
  move_environment(memory);
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  WEFT_CHECK(std::strlen(locale) < sizeof locale_, "the name of the locale is too long");
  std::strcpy(locale_, locale);
  // Now, lest the first task that asks for the local time makes a difference.
  ::tzset();
  timezone_ = ::timezone;
  daylight_ = ::daylight;
  zone_names_[0] = ::tzname[0];
  zone_names_[1] = ::tzname[1];
}

/// In setenv() libc changes the array in place, or moves it to a larger one of its own; what it
/// finds in `environ` without having put it there, it leaves.
void LibcState::move_environment(SavedMemory& memory) noexcept {
  std::size_t count = 0;
  std::size_t bytes = sizeof(char*);  // of the null behind the last
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    ++count;
    bytes += sizeof(char*) + std::strlen(*variable) + 1;
  }
  environment_ = Mapping(bytes);
  variables_ = reinterpret_cast<char**>(environment_.data());
  char* text = reinterpret_cast<char*>(variables_ + count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    variables_[i] = text;
    text = ::stpcpy(text, ::environ[i]) + 1;
  }
  ::environ = variables_;
  memory.add(reinterpret_cast<char*>(environment_.data()),
             reinterpret_cast<char*>(environment_.data() + environment_.size()));
}

bool LibcState::time_zone_changed() const noexcept {
  return ::timezone != timezone_ || ::daylight != daylight_ || ::tzname[0] != zone_names_[0] ||
         ::tzname[1] != zone_names_[1];
}

void LibcState::restore() noexcept {
  if (::environ != variables_) ::environ = variables_;
  if (std::strcmp(std::setlocale(LC_ALL, nullptr), locale_) != 0) std::setlocale(LC_ALL, locale_);
  // libc works it out from the environment, and only where that says something else than before.
  if (time_zone_changed()) ::tzset();
}

}  // namespace weft::image
