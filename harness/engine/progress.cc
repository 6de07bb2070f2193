// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/engine/progress.h"

namespace weft::engine {

bool Progress::may_only_look(trace::OpKind kind) noexcept {
  using trace::OpKind;
  // A list of exceptions: what is not here changes something, if only the time.
  return kind == OpKind::kYield || kind == OpKind::kFence || kind == OpKind::kMutexTryLock ||
         kind == OpKind::kReadTryLock || kind == OpKind::kWriteTryLock ||
         kind == OpKind::kSemTryWait || kind == OpKind::kSpinTryLock ||
         kind == OpKind::kFileTryLock || kind == OpKind::kCondSignal ||
         kind == OpKind::kCondBroadcast || kind == OpKind::kFutexWait ||
         kind == OpKind::kFutexWake ||
         (kind >= OpKind::kAtomicLoad && kind <= OpKind::kAtomicCompareExchange);
}

}  // namespace weft::engine
