// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid.attention in place of attention that is written out: its operands as [batch, heads, rows, size].

#ifndef RESID_PASSES_RAISE_ATTENTIONBUILDER_H
#define RESID_PASSES_RAISE_ATTENTIONBUILDER_H

#include "passes/raise/AttentionForm.h"

namespace mlir::resid {

/// Makes the op, and around it what brings the dimensions of the program into the op's order. Returns what takes the
/// place of the last product's result.
Value buildAttention(OpBuilder &builder, AttentionForm &form, double tolerance);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_ATTENTIONBUILDER_H
