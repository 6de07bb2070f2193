// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Double-checked initialisation of a font cache: a quick look without the lock, a
// second one with it. Three ways to get it wrong, and the one that is right.

#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct FontCache {
  int glyphs = 0;
  int height = 0;

  void load() {
    glyphs = 256;
    height = 12;
  }
};

FontCache* make_loaded() {
  auto* const fonts = new FontCache;
  fonts->load();
  return fonts;
}

/// The pointer is plain: the first look races with the assignment.
class PlainPointer {
 public:
  ~PlainPointer() { delete fonts_; }
  const FontCache& get() {
    if (fonts_ == nullptr) {
      const std::lock_guard lock(mutex_);
      if (fonts_ == nullptr) fonts_ = make_loaded();
    }
    return *fonts_;
  }

 private:
  std::mutex mutex_;
  FontCache* fonts_ = nullptr;
};

/// The flag is atomic and relaxed: who sees it set need not see what it stands for.
class RelaxedFlag {
 public:
  const FontCache& get() {
    if (!loaded_.load(std::memory_order_relaxed)) {
      const std::lock_guard lock(mutex_);
      if (!loaded_.load(std::memory_order_relaxed)) {
        fonts_.load();
        loaded_.store(true, std::memory_order_relaxed);
      }
    }
    return fonts_;
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  FontCache fonts_;
};

/// The pointer is ordered, and set before the object is complete.
class EarlyPointer {
 public:
  ~EarlyPointer() { delete fonts_.load(); }
  const FontCache& get() {
    if (fonts_.load() == nullptr) {
      const std::lock_guard lock(mutex_);
      if (fonts_.load() == nullptr) {
        fonts_.store(new FontCache);
        fonts_.load()->load();
      }
    }
    return *fonts_.load();
  }

 private:
  std::mutex mutex_;
  std::atomic<FontCache*> fonts_{nullptr};
};

class AcquireRelease {
 public:
  ~AcquireRelease() { delete fonts_.load(); }
  const FontCache& get() {
    // acquire: pairs with the release below; the reader sees what load() wrote
    FontCache* fonts = fonts_.load(std::memory_order_acquire);
    if (fonts == nullptr) {
      const std::lock_guard lock(mutex_);
      fonts = fonts_.load(std::memory_order_relaxed);
      if (fonts == nullptr) {
        fonts = make_loaded();
        fonts_.store(fonts, std::memory_order_release);  // pairs with the acquire above
      }
    }
    return *fonts;
  }

 private:
  std::mutex mutex_;
  std::atomic<FontCache*> fonts_{nullptr};
};

template <typename Fonts>
void draw_twice() {
  // On the heap: clang before 21 is blind to some accesses to what lies on the stack.
  const auto fonts = std::make_unique<Fonts>();
  const auto draw = [&] {
    const FontCache& cache = fonts->get();
    assert(cache.glyphs == 256 && cache.height == 12);
  };
  std::thread other(draw);
  draw();
  other.join();
}

WEFT_SCENARIO(double_checked_plain_buggy,
              {.name = "classic/double_checked_plain.buggy",
               .summary = "double-checked initialisation through a plain pointer",
               .expect = weft::must_find("data_race"),
               .budget = 500}) {
  draw_twice<PlainPointer>();
}

WEFT_SCENARIO(double_checked_relaxed_buggy,
              {.name = "classic/double_checked_relaxed.buggy",
               .summary = "double-checked initialisation with a relaxed flag",
               .expect = weft::must_find("data_race"),
               .budget = 500}) {
  draw_twice<RelaxedFlag>();
}

WEFT_SCENARIO(double_checked_early_buggy, {.name = "classic/double_checked_early.buggy",
                                           .summary = "published first, filled in afterwards",
                                           .expect = weft::must_find("data_race", "assertion"),
                                           .budget = 500}) {
  draw_twice<EarlyPointer>();
}

WEFT_SCENARIO(double_checked_fixed, {.name = "classic/double_checked.fixed",
                                     .summary = "filled in, then published with release",
                                     .expect = weft::must_pass(),
                                     .budget = 500}) {
  draw_twice<AcquireRelease>();
}

}  // namespace
