// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a contraction is: a matrix product or one of its kin, whose arithmetic resid fixes (docs: numerics). Looks at
// ops only. Not: how one is run.

#ifndef RESID_DIALECT_CONTRACTION_H
#define RESID_DIALECT_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::resid {

/// Products of bytes are at most 2^14, and so many of them are less than 2^31.
inline constexpr int64_t kMostIntegerTerms = (int64_t(1) << 17) - 1;

/// out[…] = the chain acc = fma(a[…], b[…], acc) over the contracted loops, in the op's order of loops.
struct Contraction {
  linalg::LinalgOp op;
  /// The two factors, and what is accumulated onto. Their elements are f16, bf16, f32 or f64; or i8, i8 and i32.
  OpOperand *a, *b, *init;
  /// f64 if any of the three is f64, else f32: the type of acc. It is rounded to the type of `init` once, at the end.
  /// i32 for integers, whose sums are exact modulo 2^32.
  Type arithmetic;

  AffineMap getMap(OpOperand *operand) { return op.getMatchingIndexingMap(operand); }
};

/// A structured op on tensors or buffers is a contraction if
/// - it has a reduction loop, two float inputs and one result;
/// - its maps are projected permutations, and the result's loops are the parallel ones (so no convolution);
/// - its body is acc + a·b in any order of operands, or math.fma. Casts between float types count for nothing in it,
///   also where a named op would round a factor or a product to a narrow type;
/// - some loop occurs in one factor only. A product of two arrays that is summed over their common rows is a sum down
///   the rows, and no contraction.
std::optional<Contraction> matchContraction(linalg::LinalgOp op);

/// The same of integers, in place of floats: i8 times i8, both with their signs, added up in i32.
std::optional<Contraction> matchIntegerContraction(linalg::LinalgOp op);

/// Either of both.
std::optional<Contraction> matchAnyContraction(linalg::LinalgOp op);

/// As matchContraction, without its last condition: any sum of products, such as that of two vectors. One that is no
/// contraction has the arithmetic of other sums.
std::optional<Contraction> matchProductSum(linalg::LinalgOp op);

} // namespace mlir::resid

#endif
