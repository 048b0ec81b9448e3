// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of tensors of the forward, where the backward stands: no tensor is saved whose size follows from others.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// The operand of an op of resid whose size along the dimension the result has; null where that is not known.
static Value getSizedOperand(OpResult result, int64_t dimension) {
  Operation *op = result.getOwner();
  // The last dimension of its statistics is that of the groups.
  if (isa<GroupNormOp>(op) && result.getResultNumber() != 0 &&
      dimension + 1 == cast<RankedTensorType>(result.getType()).getRank())
    return {};
  if (isa<AddOp, AddBiasOp, DropoutOp, LayerNormOp, RMSNormOp, L2NormOp, GroupNormOp, DyTOp, ActivationOp, RotaryOp>(
          op))
    return op->getOperand(0);
  // Results may differ in the last dimension, and have it not at all.
  if (isa<LinearOp, AttentionOp>(op) && dimension + 1 < cast<RankedTensorType>(op->getOperand(0).getType()).getRank())
    return op->getOperand(0);
  return {};
}

Value resid::getShapeSource(Value value, int64_t dimension) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    Value source = getSizedOperand(result, dimension);
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      source = style.getTiedOpOperand(result)->get();
    else if (auto cast = dyn_cast<tensor::CastOp>(op))
      source = cast.getSource();
    if (!source)
      break;
    value = source;
  }
  return value;
}

OpFoldResult resid::createSize(Gradients &gradients, OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return size;
  if (auto dimension = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> index = dimension.getConstantIndex())
      return createSize(gradients, dimension.getSource(), *index);
  IntegerAttr constant;
  return matchPattern(value, m_Constant(&constant)) ? OpFoldResult(constant) : gradients.getPrimal(value);
}

OpFoldResult resid::createSize(Gradients &gradients, Value value, int64_t dimension) {
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  Value source = getShapeSource(value, dimension);
  for (Value tensor : {value, source})
    if (auto type = cast<RankedTensorType>(tensor.getType()); !type.isDynamicDim(dimension))
      return builder.getIndexAttr(type.getDimSize(dimension));
  if (auto empty = source.getDefiningOp<tensor::EmptyOp>())
    return createSize(gradients, empty.getMixedSizes()[dimension]);
  if (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>(); slice && slice.getDroppedDims().none())
    return createSize(gradients, slice.getMixedSizes()[dimension]);
  return tensor::getMixedSize(builder, builder.getLoc(), gradients.getPrimal(source), dimension);
}

SmallVector<OpFoldResult> resid::createSizes(Gradients &gradients, Value value) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dimension = 0; dimension != cast<RankedTensorType>(value.getType()).getRank(); ++dimension)
    sizes.push_back(createSize(gradients, value, dimension));
  return sizes;
}
