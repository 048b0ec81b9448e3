// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two neighbours in bf16 as 32 bits, which one operation each widens to f32. Not: where pairs come from.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_PAIREDTERMS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_PAIREDTERMS_H

#include "codegen/builder/Code.h"

namespace mlir::resid::cpu {

/// The first of each pair, and the second. `pairs`: a vector of i32.
Value widenFirst(Code &code, Value pairs);
Value widenSecond(Code &code, Value pairs);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_PAIREDTERMS_H
