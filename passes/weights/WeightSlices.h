// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of a loop over layers: each iteration takes its own from the stack of all. A formula on the weights of one
// layer is a formula on the stacks.

#ifndef RESID_PASSES_WEIGHTS_WEIGHTSLICES_H
#define RESID_PASSES_WEIGHTS_WEIGHTSLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/weights/WeightFormula.h"
#include <optional>
#include <string>

namespace mlir::resid {

/// The weight of one layer: what `stack` has at `number` along `axis`.
struct WeightSlice {
  tensor::ExtractSliceOp op;
  Value stack;
  int64_t axis;
  Value number;
};

/// The slice that `value` is, if it leaves out one axis, at a number that is known at run time only, and takes all of
/// the others, whose sizes are static. A layer that is known now is a weight of its own, no matter where it is stored.
std::optional<WeightSlice> getWeightSlice(Value value);

/// Why the slices among these weights are not those of one layer, of stacks of as many layers, else nothing.
std::optional<std::string> refuseSlices(ArrayRef<Value> weights);

/// The slices among the factors.
SmallVector<WeightSlice> getWeightSlices(const WeightFormula &formula);

/// The formula for all layers: its result has one axis more, the first, along which the stacks are read. Weights that
/// are no slices are the same for each layer.
WeightFormula stackFormula(const WeightFormula &formula);

/// Takes one layer from a result of `stackFormula`, right where the number is known.
tensor::ExtractSliceOp createSlice(Value stack, Value number);

} // namespace mlir::resid

#endif // RESID_PASSES_WEIGHTS_WEIGHTSLICES_H
