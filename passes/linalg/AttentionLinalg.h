// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as ops of linalg: its products, scores and masks, which its expansion is made of. Between the products,
// heads are one dimension; in them, the heads that share keys are a dimension of their own. Does not own in which
// order.

#ifndef RESID_PASSES_LINALG_ATTENTIONLINALG_H
#define RESID_PASSES_LINALG_ATTENTIONLINALG_H

#include "dialect/ResidDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace mlir::resid {

/// Asserts that the keys of this call fit after those of `past`, an i64 or one for each sample.
void requirePlaces(ImplicitLocOpBuilder &b, Value past, OpFoldResult added, OpFoldResult places);
/// Where the keys of a sample (an index) begin, as an index.
Value getBegin(ImplicitLocOpBuilder &b, Value past, Value sample);

class AttentionLinalg {
public:
  /// What the operands of `op` hold is read where the builder stands.
  AttentionLinalg(AttentionOp op, OpBuilder &builder);

  /// Bodies are made with this one.
  ImplicitLocOpBuilder &getBuilder() { return b; }
  /// The arithmetic type, which scores and weights are of.
  FloatType getType() { return type; }

  /// [batch, heads, queries, keys]: with scale, cap and mask, and -Inf for keys that are absent.
  Value createScores();
  /// The clause as an op of its own: its rows and columns are those of the weights.
  Value drop(Value weights);
  /// [batch, heads, queries, size]: Σ weight·value over the keys.
  Value multiplyValues(Value weights);

  /// Combines the elements of a row, beginning with `start`. The last argument of the body is the sum so far.
  Value reduce(ValueRange inputs, double start, function_ref<Value(ValueRange)> combine);
  /// Of each element, and of the numbers of its row: inputs with a dimension less. The first input has all dimensions.
  Value map(ValueRange inputs, Type element, function_ref<Value(ValueRange)> apply);

  /// Of each number of a row (inputs of [batch, heads, queries]) and, as the last argument, the sink of its head.
  Value mapWithSink(ValueRange rows, function_ref<Value(ValueRange)> apply);

  /// In a body: a constant, another float type, and whether a key is absent.
  Value number(double value);
  Value convert(Value value, Type to);
  Value isInfinitelyLow(Value score);

private:
  using Sizes = SmallVector<OpFoldResult>;

  void findSizes();
  /// Heads of q as heads of k and, in each, those that share its keys; and back.
  Value split(Value value);
  Value join(Value value);
  AffineMap getMap(unsigned loops, ArrayRef<unsigned> dimensions);
  SmallVector<AffineMap> getRowMaps(ValueRange inputs);
  AffineMap getMaskMap();
  Value makeGeneric(ValueRange inputs, Value init, ArrayRef<AffineMap> maps, unsigned reductions,
                    function_ref<Value(ValueRange)> body);
  Value makeFilled(const Sizes &sizes, double value);
  Value contract(Value x, Value y, const Sizes &sizes, ArrayRef<AffineMap> maps);
  Sizes getSplitSizes(OpFoldResult columns);
  SmallVector<AffineMap> getProductMaps(ArrayRef<unsigned> x, ArrayRef<unsigned> y);
  Value multiplyQueries();
  Value hide(Value score);
  /// In a body with these loops over samples: how many keys are there with this call. Null without a cache.
  Value getFilled();
  Value findPlaces(Value segments);
  Value getValues();

  AttentionOp op;
  ImplicitLocOpBuilder b;
  FloatType type;
  Sizes q, k;
  /// How many heads of q share one of k.
  OpFoldResult group;
  bool isGrouped = false;
  /// With segments: the place of each query, and each key, in its own one. [batch, count], i64.
  Value queryPlaces, keyPlaces;
  SmallVector<ReassociationIndices> heads = {{0}, {1, 2}, {3}, {4}};
};

} // namespace mlir::resid

#endif // RESID_PASSES_LINALG_ATTENTIONLINALG_H
