// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/linalg/Elementwise.h"

#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::toI64(Code &builder, OpFoldResult size) {
  Value index = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size);
  return arith::IndexCastOp::create(builder, builder.getI64Type(), index);
}

Value resid::createConstant(Code &builder, FloatType type, const APFloat &value) {
  return createConstant(builder, type, value.convertToDouble());
}

Value resid::createConstant(Code &builder, FloatType type, double value) {
  return arith::ConstantOp::create(builder, builder.getFloatAttr(type, value));
}

AffineMap resid::getIdentityMap(MLIRContext *context, int64_t rank) {
  return AffineMap::getMultiDimIdentityMap(rank, context);
}

// Upstream's getMajorSubMap and getMinorSubMap give a null map where no result is left.
AffineMap resid::getRowMap(MLIRContext *context, int64_t rank, int64_t columns) {
  return AffineMap::get(rank, 0, getIdentityMap(context, rank).getResults().drop_back(columns), context);
}

AffineMap resid::getColumnMap(MLIRContext *context, int64_t rank, int64_t columns) {
  return AffineMap::get(rank, 0, getIdentityMap(context, rank).getResults().take_back(columns), context);
}

AffineMap resid::getBroadcastMap(RankedTensorType type, ArrayRef<int64_t> shape) {
  MLIRContext *context = type.getContext();
  SmallVector<AffineExpr> results;
  int64_t offset = shape.size() - type.getRank();
  for (auto [position, size] : llvm::enumerate(type.getShape())) {
    int64_t dim = offset + position;
    bool broadcast = size == 1 && shape[dim] != 1;
    results.push_back(broadcast ? getAffineConstantExpr(0, context) : getAffineDimExpr(dim, context));
  }
  return AffineMap::get(shape.size(), 0, results, context);
}

/// The tensor whose shape a chain of elementwise ops took over: their inits, back to the first that is none.
static Value getShapeSource(Value tensor) {
  while (isa_and_present<linalg::GenericOp, rows::JoinStreamsOp>(tensor.getDefiningOp())) {
    auto op = cast<DestinationStyleOpInterface>(tensor.getDefiningOp());
    tensor = op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()];
  }
  return tensor;
}

SmallVector<OpFoldResult> resid::getSizes(Code &builder, Value tensor) {
  Value source = getShapeSource(tensor);
  if (auto empty = source.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  return tensor::getMixedSizes(builder, builder.getLoc(), source);
}

/// Fills the body of an elementwise op: storage to arithmetic, the computation, arithmetic to storage.
static void buildBody(Code &builder, ArrayRef<ElementwiseOperand> operands, ValueRange arguments, TypeRange resultTypes,
                      FloatType arithmeticType, ElementwiseBody body) {
  SmallVector<Value> elements;
  unsigned next = 0;
  for (const ElementwiseOperand &operand : operands) {
    Value element = operand.tensor ? arguments[next++] : Value();
    if (element && isa<FloatType>(element.getType()))
      element = builder.castFloat(element, arithmeticType);
    elements.push_back(element);
  }
  SmallVector<Value> results = body(builder, elements);
  for (auto [result, type] : llvm::zip_equal(results, resultTypes))
    if (isa<FloatType>(result.getType()))
      result = builder.castFloat(result, getElementTypeOrSelf(type));
  linalg::YieldOp::create(builder, results);
}

SmallVector<Value> resid::createElementwise(Code &builder, ArrayRef<ElementwiseOperand> operands,
                                            ArrayRef<OpFoldResult> sizes, TypeRange resultTypes,
                                            FloatType arithmeticType, ElementwiseBody body) {
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  for (const ElementwiseOperand &operand : operands) {
    if (!operand.tensor)
      continue;
    inputs.push_back(operand.tensor);
    maps.push_back(operand.map);
  }
  for (Type type : resultTypes) {
    inits.push_back(tensor::EmptyOp::create(builder, sizes, getElementTypeOrSelf(type)));
    maps.push_back(getIdentityMap(builder.getContext(), sizes.size()));
  }
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(builder, TypeRange(ValueRange(inits)), inputs, inits, maps, iterators,
                                           [&](OpBuilder &nested, Location location, ValueRange arguments) {
                                             Code inner(nested, location);
                                             buildBody(inner, operands, arguments, resultTypes, arithmeticType, body);
                                           });
  // The sizes may be known better than the declared type says; users see the declared one.
  SmallVector<Value> results;
  for (auto [result, type] : llvm::zip_equal(generic.getResults(), resultTypes))
    results.push_back(result.getType() == type ? Value(result) : tensor::CastOp::create(builder, type, result));
  return results;
}

Value resid::createElementwise(Code &builder, ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes,
                               Type resultType, FloatType arithmeticType, TermBody body) {
  auto single = [&](Code &inner, ValueRange elements) { return SmallVector<Value>{body(inner, elements)}; };
  return createElementwise(builder, operands, sizes, TypeRange(resultType), arithmeticType, single).front();
}
