// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the lowering builds sums down the rows. Their order is that of rows/.

#ifndef RESID_CODEGEN_LINALG_COLUMNSUM_H
#define RESID_CODEGEN_LINALG_COLUMNSUM_H

#include "codegen/linalg/Elementwise.h"

namespace mlir::resid {

/// What is added for one element: as an ElementwiseBody with one result.
using TermBody = function_ref<Value(ImplicitLocOpBuilder &builder, ValueRange elements)>;

/// A sum over all loops but the last `columns`, in the arithmetic type. `sizes` are those of the loops.
Value createColumnSum(ImplicitLocOpBuilder &builder, ArrayRef<ElementwiseOperand> operands,
                      ArrayRef<OpFoldResult> sizes, int64_t columns, FloatType arithmeticType, TermBody body);

/// Such a sum, rounded to its type in storage.
Value roundColumnSum(ImplicitLocOpBuilder &builder, Value sum, Type resultType);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_COLUMNSUM_H
