// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/QuantizedResult.h"

#include "dialect/ResidDialect.h"

using namespace mlir;
using namespace mlir::resid;

#include "dialect/QuantizedResult.cpp.inc"

bool resid::hasQuantizedResult(Operation *op) {
  return isa<QuantizedResultOpInterface>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(8);
}

static Granularity getGranularity(QuantizedResultOpInterface op) {
  return op.getGranularity().value_or(Granularity::Row);
}

// layer_norm.C11, rms_norm.C11, l2_norm.C11, add_norm.C24, block.C17
LogicalResult resid::verifyQuantizedResult(Operation *operation) {
  auto op = cast<QuantizedResultOpInterface>(operation);
  Value scale = op.getStaticScale();
  if (!hasQuantizedResult(op)) {
    if (scale || op.getGranularity() || op.getGroup())
      return op->emitOpError("expected a result of i8 beside quantize but got ") << op->getResult(0).getType();
    return success();
  }
  Granularity granularity = getGranularity(op);
  SmallVector<Type> expected = op.getUnquantizedTypes();
  auto floats = cast<RankedTensorType>(expected.front());
  if (floats.getElementType().isF64())
    return op->emitOpError("expected f16, bf16 or f32 to quantise but got ") << floats;
  if (failed(verifyGroup([&] { return op->emitOpError(); }, floats, granularity, op.getGroup())))
    return failure();
  RankedTensorType scaleType = getScaleType(floats, granularity, op.getGroup());
  if (scale && failed(verifyScaleShape(op, scaleType, cast<RankedTensorType>(scale.getType()))))
    return failure();
  expected.front() = floats.clone(IntegerType::get(op->getContext(), 8));
  if (!scale)
    expected.push_back(scaleType);
  if (op->getResultTypes() == TypeRange(expected))
    return success();
  return op->emitOpError("expected results of types ") << expected << " but got " << op->getResultTypes();
}

static void expandQuantizedResult(QuantizedResultOpInterface op) {
  OpBuilder builder(op);
  Operation *floats =
      Operation::create(op->getLoc(), op->getName(), op.getUnquantizedTypes(), op->getOperands(),
                        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {}, op->getNumRegions());
  for (auto [region, old] : llvm::zip_equal(floats->getRegions(), op->getRegions()))
    region.takeBody(old);
  builder.insert(floats);
  cast<QuantizedResultOpInterface>(floats).clearQuantization();
  Value scale = op.getStaticScale();
  IntegerAttr group = op.getGroup() ? builder.getI64IntegerAttr(*op.getGroup()) : IntegerAttr();
  auto quantize = QuantizeOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                                     scale ? Type() : op->getResults().back().getType(), floats->getResult(0), scale,
                                     GranularityAttr::get(op->getContext(), getGranularity(op)), group);
  SmallVector<Value> results(floats->getResults());
  results.front() = quantize.getQ();
  if (!scale)
    results.push_back(quantize.getScale());
  op->replaceAllUsesWith(results);
  op->erase();
}

void resid::expandQuantizedResults(Operation *root) {
  SmallVector<QuantizedResultOpInterface> found;
  root->walk([&](QuantizedResultOpInterface op) {
    if (hasQuantizedResult(op))
      found.push_back(op);
  });
  llvm::for_each(found, expandQuantizedResult);
}
