// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work that may fall or go on for ever on hostile input, tried in a process of its own before it is done in this one.

#ifndef RESID_TOOLS_COMMON_CHILDTRIAL_H
#define RESID_TOOLS_COMMON_CHILDTRIAL_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::resid::tools {

/// Does `work` in a child, which takes at most `seconds` of the processor's time. Whether it came to its end; one that
/// ran out of memory did, so that this process finds out. Other threads of this process must not be at work.
bool comesToAnEnd(llvm::function_ref<void()> work, unsigned seconds);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_CHILDTRIAL_H
