// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A texture, counted by hand, that two threads draw with.
//
// The relaxed variant drops its reference without an order: what the other thread
// did with the texture need not have happened before the last one deletes it.
// The resurrecting cache finds a texture whose last user is about to delete it,
// and hands it out again.

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Texture {
  std::atomic<int> users{1};
  int draws[2] = {};  // by each thread
};

void drop_relaxed(Texture* texture) {
  if (texture->users.fetch_sub(1, std::memory_order_relaxed) == 1) delete texture;
}

void drop_ordered(Texture* texture) {
  // release, acquire: pair with each other; all uses come before the delete
  if (texture->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete texture;
}

void draw_by_two(void (*drop)(Texture*)) {
  auto* const texture = new Texture;
  texture->users.fetch_add(1, std::memory_order_relaxed);
  std::thread other([=] {
    ++texture->draws[1];
    drop(texture);
  });
  ++texture->draws[0];
  drop(texture);
  other.join();
}

WEFT_SCENARIO(relaxed_drop_buggy, {.name = "classic/relaxed_drop.buggy",
                                   .summary = "a reference count that orders nothing",
                                   .expect = weft::must_find("data_race"),
                                   .budget = 500}) {
  draw_by_two(drop_relaxed);
}

WEFT_SCENARIO(relaxed_drop_fixed, {.name = "classic/relaxed_drop.fixed",
                                   .summary = "every use released, the delete acquires",
                                   .expect = weft::must_pass(),
                                   .budget = 500}) {
  draw_by_two(drop_ordered);
}

class TextureCache {
 public:
  explicit TextureCache(bool resurrects) : resurrects_(resurrects) {}

  /// Null: there is none.
  Texture* find() {
    const std::lock_guard lock(mutex_);
    if (texture_ == nullptr) return nullptr;
    if (resurrects_) {
      ++texture_->users;
      return texture_;
    }
    int users = texture_->users.load();
    while (users != 0 && !texture_->users.compare_exchange_weak(users, users + 1)) {
    }
    return users == 0 ? nullptr : texture_;
  }
  void drop(Texture* texture) {
    if (--texture->users > 0) return;
    {
      const std::lock_guard lock(mutex_);
      texture_ = nullptr;
    }
    delete texture;
  }

 private:
  std::mutex mutex_;
  Texture* texture_ = new Texture;
  const bool resurrects_;
};

/// The main thread drops the only reference while another looks for the texture, to
/// draw with it in the next frame.
void drop_and_find(bool resurrects) {
  TextureCache cache(resurrects);
  Texture* const first = cache.find();
  cache.drop(first);
  std::latch next_frame(1);
  std::thread other([&] {
    Texture* const found = cache.find();
    next_frame.wait();
    if (found == nullptr) return;
    ++found->draws[1];
    cache.drop(found);
  });
  cache.drop(first);
  next_frame.count_down();
  other.join();
}

WEFT_SCENARIO(resurrected_buggy, {.name = "classic/resurrected.buggy",
                                  .summary = "a cache hands out what is about to be deleted",
                                  .expect = weft::must_find("use_after_free", "memory_error"),
                                  .budget = 500}) {
  drop_and_find(true);
}

WEFT_SCENARIO(resurrected_fixed, {.name = "classic/resurrected.fixed",
                                  .summary = "a count that fell to zero stays there",
                                  .expect = weft::must_pass(),
                                  .budget = 500}) {
  drop_and_find(false);
}

}  // namespace
