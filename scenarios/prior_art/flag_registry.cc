// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two threads load a library each, and each brings a copy of a third. Both copies register that
// one's flag; whichever comes second takes the name over, with what the first had been set to.

#include <cassert>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/scenario.h>

#include "scenarios/prior_art/flag_registry.h"

namespace weft::prior_art {
namespace {

/// A copy of the library: its variable, and what it registered that under.
class LibraryCopy {
 public:
  LibraryCopy(FlagRegistry& flags, const std::string& own_prefix) : flags_(flags) {
    try {
      flags.add(name_, &workers_);
    } catch (const std::logic_error&) {
      name_ = own_prefix + name_;
      flags.add(name_, &workers_);
    }
  }
  void configure(int workers) { flags_.set(name_, workers); }
  [[nodiscard]] int workers() const { return flags_.get(name_); }

 private:
  FlagRegistry& flags_;
  std::string name_ = "workers";
  int workers_ = 1;
};

void load_two_copies(FlagRegistry::Again again) {
  FlagRegistry flags(again);
  const auto load = [&flags](const char* prefix, int workers) {
    auto copy = std::make_unique<LibraryCopy>(flags, prefix);
    copy->configure(workers);
    assert(copy->workers() == workers);
    return copy;
  };
  std::unique_ptr<LibraryCopy> its;
  std::thread other([&] { its = load("other.", 8); });
  const std::unique_ptr<LibraryCopy> mine = load("mine.", 2);
  other.join();
  assert(mine->workers() == 2);
  assert(its->workers() == 8);
}

WEFT_SCENARIO(flag_registry_buggy, {.name = "prior_art/flag_registry.buggy",
                                    .summary = "two copies of a library share one flag",
                                    .expect = must_find("assertion"),
                                    .budget = 500}) {
  load_two_copies(FlagRegistry::Again::kTakesOver);
}

WEFT_SCENARIO(flag_registry_fixed,
              {.name = "prior_art/flag_registry.fixed",
               .summary = "the second copy is told, and takes a name of its own",
               .expect = must_pass(),
               .budget = 500}) {
  load_two_copies(FlagRegistry::Again::kRefused);
}

}  // namespace
}  // namespace weft::prior_art
