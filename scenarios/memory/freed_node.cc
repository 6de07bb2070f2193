// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A reader looks into a node while a writer removes and frees it. The buggy
// reader learns the address first and counts itself in later.

#include <atomic>
#include <cassert>
#include <thread>

#include <weft/scenario.h>

namespace {

struct Node {
  int value = 7;
};

class Slot {
 public:
  void read_counted_late() {
    const Node* const node = node_.load();
    ++readers_;
    leave(node);
  }
  void read_counted_first() {
    ++readers_;
    leave(node_.load());
  }
  void remove() {
    const Node* const old = node_.exchange(nullptr);
    while (readers_.load() != 0) std::this_thread::yield();
    delete old;
  }

 private:
  void leave(const Node* node) {
    if (node != nullptr) assert(node->value == 7);
    --readers_;
  }

  std::atomic<const Node*> node_ = new Node;
  std::atomic<int> readers_ = 0;
};

WEFT_SCENARIO(freed_node_buggy, {.name = "memory/freed_node.buggy",
                                 .summary = "a node is read after its free",
                                 .expect = weft::must_find("memory_error", "use_after_free"),
                                 .budget = 500}) {
  Slot slot;
  std::thread remover([&] { slot.remove(); });
  slot.read_counted_late();
  remover.join();
}

WEFT_SCENARIO(freed_node_fixed, {.name = "memory/freed_node.fixed",
                                 .summary = "readers are counted before they look",
                                 .expect = weft::must_pass(),
                                 .budget = 500}) {
  Slot slot;
  std::thread remover([&] { slot.remove(); });
  slot.read_counted_first();
  remover.join();
}

}  // namespace
