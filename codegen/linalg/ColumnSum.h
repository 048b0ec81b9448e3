// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the lowering builds sums down the rows. Their order is that of rows/.

#ifndef RESID_CODEGEN_LINALG_COLUMNSUM_H
#define RESID_CODEGEN_LINALG_COLUMNSUM_H

#include "codegen/linalg/Elementwise.h"

namespace mlir::resid {

/// Sums over all loops but the last `columns`, in the arithmetic type, of as many terms as `body` gives. `sizes` are
/// those of the loops. Where a condition (i1) is given and false, the sums are +0, and no row is gone through.
SmallVector<Value> createColumnSums(Code &builder, ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes,
                                    int64_t columns, FloatType arithmeticType, unsigned count, ElementwiseBody body,
                                    Value condition = {});

/// One such sum, always.
Value createColumnSum(Code &builder, ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes,
                      int64_t columns, FloatType arithmeticType, TermBody body);

/// Such a sum, rounded to its type in storage.
Value roundColumnSum(Code &builder, Value sum, Type resultType);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_COLUMNSUM_H
