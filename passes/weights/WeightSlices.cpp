// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/weights/WeightSlices.h"

using namespace mlir;
using namespace mlir::resid;

std::optional<WeightSlice> resid::getWeightSlice(Value value) {
  auto op = value ? value.getDefiningOp<tensor::ExtractSliceOp>() : nullptr;
  if (!op || op.getDroppedDims().count() != 1)
    return std::nullopt;
  int64_t dropped = op.getDroppedDims().find_first();
  ArrayRef<int64_t> sizes = op.getSourceType().getShape();
  for (int64_t axis = 0, rank = sizes.size(); axis < rank; ++axis)
    if (ShapedType::isDynamic(sizes[axis]) ||
        (axis != dropped && (op.getStaticSizes()[axis] != sizes[axis] || op.getStaticOffsets()[axis] != 0 ||
                             op.getStaticStrides()[axis] != 1)))
      return std::nullopt;
  auto number = dyn_cast<Value>(op.getMixedOffsets()[dropped]);
  if (!number)
    return std::nullopt;
  return WeightSlice{op, op.getSource(), dropped, number};
}

static int64_t countLayers(const WeightSlice &slice) {
  return cast<RankedTensorType>(slice.stack.getType()).getDimSize(slice.axis);
}

std::optional<std::string> resid::refuseSlices(ArrayRef<Value> weights) {
  std::optional<WeightSlice> first;
  for (Value weight : weights) {
    std::optional<WeightSlice> slice = getWeightSlice(weight);
    if (!slice)
      continue;
    if (!first)
      first = slice;
    if (slice->number != first->number)
      return std::string("expected slices of one layer from all stacks of weights, but got slices by different layer "
                         "numbers");
    if (countLayers(*slice) != countLayers(*first))
      return "expected stacks of equally many layers, but got " + std::to_string(countLayers(*first)) + " and " +
             std::to_string(countLayers(*slice));
  }
  return std::nullopt;
}

SmallVector<WeightSlice> resid::getWeightSlices(const WeightFormula &formula) {
  SmallVector<WeightSlice> slices;
  for (const WeightTerm &term : formula.terms)
    for (const WeightFactor &factor : term.factors)
      if (std::optional<WeightSlice> slice = getWeightSlice(factor.weight))
        slices.push_back(*slice);
  return slices;
}

WeightFormula resid::stackFormula(const WeightFormula &formula) {
  WeightFormula stacked = formula;
  ++stacked.rank;
  for (WeightTerm &term : stacked.terms)
    for (WeightFactor &factor : term.factors) {
      for (int64_t &index : factor.indices)
        ++index;
      if (std::optional<WeightSlice> slice = getWeightSlice(factor.weight)) {
        factor.weight = slice->stack;
        factor.indices.insert(factor.indices.begin() + slice->axis, 0);
      }
    }
  return stacked;
}

tensor::ExtractSliceOp resid::createSlice(Value stack, Value number) {
  OpBuilder builder(stack.getContext());
  builder.setInsertionPointAfterValue(number);
  auto type = cast<RankedTensorType>(stack.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, number.getLoc(), stack);
  offsets.front() = number;
  sizes.front() = builder.getIndexAttr(1);
  auto layer = RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
  return tensor::ExtractSliceOp::create(builder, number.getLoc(), layer, stack, offsets, sizes, strides);
}
