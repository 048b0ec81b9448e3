// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes a square tile of elements in registers. Not: where its rows come from.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_TRANSPOSETILE_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_TRANSPOSETILE_H

#include "codegen/builder/Code.h"

namespace mlir::resid::cpu {

/// Vector i holds element (i, j) in lane j; afterwards it holds (j, i). There are as many vectors as lanes, a power of
/// two. Longer vectors of 16 bytes and more are such tiles side by side, in parts of 128 bits.
void transpose(Code &code, SmallVector<Value> &vectors);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_TRANSPOSETILE_H
