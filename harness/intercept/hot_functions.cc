// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/intercept/hot_functions.h"

#include "harness/engine/subject.h"
#include "harness/intercept/address_sanitizer.h"
#include "harness/intercept/interpose.h"

namespace weft::intercept {

HotFunctions hot;

}  // namespace weft::intercept

void weft::engine::prepare_interception() noexcept {
  weft::intercept::prepare_sanitizer();
  weft::intercept::hot = {
      .mutex_trylock = WEFT_REAL(pthread_mutex_trylock),
      .mutex_unlock = WEFT_REAL(pthread_mutex_unlock),
      .setspecific = WEFT_REAL(pthread_setspecific),
  };
}
