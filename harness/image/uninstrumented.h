// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Libraries that the compiler's callbacks do not cover: where one of them waits or spins, no task
// gives way, and a report should say whose code that is.
#pragma once

#include <cstdint>
#include <span>

#include "harness/engine/process_image.h"
#include "harness/image/loaded_module.h"

namespace weft::image {

// Whether the module refers to the compiler's callbacks, which each instrumented file does.
bool is_instrumented(const LoadedModule& module) noexcept;

// See engine::ProcessImage. The standard library's frames are passed over like libc's: they do what
// their caller asked for. May be called in a signal handler on a thread that holds no lock of the
// dynamic linker's.
bool find_uninstrumented(std::span<const std::uintptr_t> frames,
                         engine::UninstrumentedCode& code) noexcept;

}  // namespace weft::image
