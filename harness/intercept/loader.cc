// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Libraries loaded and unloaded by tasks. Constructors and destructors of a library run
// inside the loader, which glibc guards by a lock of its own: another task that waited
// there would stop the only running thread. So tasks wait for the loader in the model,
// where its lock is recursive, as glibc's is.
//
// What an execution leaves loaded is unloaded after it.
#include <dlfcn.h>

#include "harness/base/text_buffer.h"
#include "harness/engine/subject.h"
#include "harness/intercept/hot_functions.h"
#include "harness/intercept/per_execution.h"

namespace weft::intercept {

struct OpenLibrary {
  void* handle = nullptr;
  OpenLibrary* earlier = nullptr;
};

namespace {

/// Its address stands for the loader; there is nothing in it.
char loader;

class LoaderHold {
 public:
  LoaderHold(Task& self, std::uintptr_t pc) noexcept : self_(self), pc_(pc) {
    announce(self_, operation_on(OpKind::kLoaderLock, &loader, pc_));
    self_.execution->locks().acquired(address(), self_.index, pc_, model::LockKind::kLoader);
    self_.execution->acquire(self_, address());
    self_.execution->refresh(address());
  }
  ~LoaderHold() {
    announce(self_, operation_on(OpKind::kLoaderUnlock, &loader, pc_));
    self_.execution->locks().released(address());
    self_.execution->release(self_, address());
    self_.execution->refresh(address());
  }
  LoaderHold(const LoaderHold&) = delete;
  LoaderHold& operator=(const LoaderHold&) = delete;

 private:
  static std::uintptr_t address() noexcept { return reinterpret_cast<std::uintptr_t>(&loader); }

  Task& self_;
  std::uintptr_t pc_;
};

void remember(Task& self, void* handle) noexcept {
  auto* const library = self.execution->arena().make<OpenLibrary>();
  *library = {handle, per_execution(self).libraries};
  per_execution(self).libraries = library;
}

void forget(Task& self, const void* handle) noexcept {
  for (OpenLibrary** at = &per_execution(self).libraries; *at != nullptr; at = &(*at)->earlier) {
    if ((*at)->handle != handle) continue;
    *at = (*at)->earlier;
    return;
  }
}

/// The schedule point of a dlsym(); returns the function to call.
[[gnu::noinline]] decltype(&::dlsym) dlsym_at_point(std::uintptr_t pc) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(dlsym);
  announce(*self, operation_on(OpKind::kLoaderLock, &loader, pc));
  return hot.dlsym;
}

}  // namespace

void unload_libraries(const PerExecution& execution, engine::ProcessImage& image) noexcept {
  for (const OpenLibrary* at = execution.libraries; at != nullptr; at = at->earlier) {
    hot.dlclose(at->handle);
  }
  if (execution.libraries != nullptr) image.modules_changed();
}

}  // namespace weft::intercept

using namespace weft::intercept;

WEFT_INTERPOSE void* dlopen(const char* file, int mode) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(dlopen)(file, mode);
  const LoaderHold hold(*self, WEFT_CALLER);
  void* const handle = hot.dlopen(file, mode);
  if (handle != nullptr) remember(*self, handle);
  self->execution->image().modules_changed();
  if (const char* const objection = self->execution->executor().objection()) {
    weft::FixedText<1200> text;
    text.append(objection).append("; or take --executor baton");
    self->execution->fail(weft::trace::FindingKind::kUnsupported, text.c_str());
  }
  return handle;
}

WEFT_INTERPOSE int dlclose(void* handle) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(dlclose)(handle);
  const LoaderHold hold(*self, WEFT_CALLER);
  const int result = hot.dlclose(handle);
  if (result == 0) forget(*self, handle);
  self->execution->image().modules_changed();
  return result;
}

// A look into the loader's tables is over at once, but must not begin while another task is inside.
// glibc's dlsym looks for RTLD_NEXT's meaning at who called it: a call in tail position leaves the
// caller's return address where it was. ASan's runtime, for one, asks before anything else runs.
#if defined(__clang__)
#define WEFT_TAIL_CALL [[clang::musttail]]
#else
#define WEFT_TAIL_CALL  // g++ makes it one at -O2, which all presets have
#endif

// Under its own name it would have to be noexcept, and what must catch an exception calls nobody
// last.
WEFT_INTERPOSE void* weft_dlsym(void* handle, const char* name) __asm__("dlsym");
void* weft_dlsym(void* handle, const char* name) {
  WEFT_TAIL_CALL return dlsym_at_point(WEFT_CALLER)(handle, name);
}

WEFT_INTERPOSE int dladdr(const void* address, Dl_info* info) noexcept {
  Task* const self = current_task;
  if (self == nullptr) return WEFT_REAL(dladdr)(address, info);
  announce(*self, operation_on(OpKind::kLoaderLock, &loader, WEFT_CALLER));
  return hot.dladdr(address, info);
}

/// Called first of all the constructors of an instrumented module: what they do has a name already.
WEFT_INTERPOSE void __tsan_init() {
  Task* const self = current_task;
  if (self != nullptr) self->execution->image().modules_changed();
}
