// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/linalg/ColumnSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

/// Adds up the terms of all rows to `old`.
static SmallVector<Value> addTerms(ImplicitLocOpBuilder &builder, ArrayRef<ElementwiseOperand> operands, ValueRange old,
                                   int64_t columns, FloatType arithmeticType, ElementwiseBody body) {
  int64_t rank = operands.front().map.getNumDims();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const ElementwiseOperand &operand : operands)
    if (operand.tensor) {
      inputs.push_back(operand.tensor);
      maps.push_back(operand.map);
    }
  maps.append(old.size(), getColumnMap(builder.getContext(), rank, columns));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::reduction);
  std::fill_n(iterators.rbegin(), columns, utils::IteratorType::parallel);
  auto build = [&](OpBuilder &nested, Location location, ValueRange arguments) {
    ImplicitLocOpBuilder inner(location, nested);
    SmallVector<Value> elements, sums;
    unsigned next = 0;
    for (const ElementwiseOperand &operand : operands)
      elements.push_back(operand.tensor ? convertFloat(inner, arguments[next++], arithmeticType) : Value());
    for (auto [element, term] : llvm::zip_equal(arguments.take_back(old.size()), body(inner, elements)))
      sums.push_back(arith::AddFOp::create(inner, element, term));
    linalg::YieldOp::create(inner, sums);
  };
  return linalg::GenericOp::create(builder, TypeRange(old), inputs, old, maps, iterators, build).getResults();
}

SmallVector<Value> resid::createColumnSums(ImplicitLocOpBuilder &builder, ArrayRef<ElementwiseOperand> operands,
                                           ArrayRef<OpFoldResult> sizes, int64_t columns, FloatType arithmeticType,
                                           unsigned count, ElementwiseBody body, Value condition) {
  Value zero = createConstant(builder, arithmeticType, 0.0);
  Value empty = tensor::EmptyOp::create(builder, sizes.take_back(columns), arithmeticType);
  SmallVector<Value> old(count, linalg::FillOp::create(builder, zero, empty).getResult(0));
  if (!condition)
    return addTerms(builder, operands, old, columns, arithmeticType, body);
  auto emitSums = [&](OpBuilder &nested, Location location) {
    ImplicitLocOpBuilder inner(location, nested);
    scf::YieldOp::create(inner, addTerms(inner, operands, old, columns, arithmeticType, body));
  };
  auto emitNone = [&](OpBuilder &nested, Location location) { scf::YieldOp::create(nested, location, old); };
  return scf::IfOp::create(builder, condition, emitSums, emitNone).getResults();
}

Value resid::createColumnSum(ImplicitLocOpBuilder &builder, ArrayRef<ElementwiseOperand> operands,
                             ArrayRef<OpFoldResult> sizes, int64_t columns, FloatType arithmeticType, TermBody body) {
  auto single = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {body(inner, elements)};
  };
  return createColumnSums(builder, operands, sizes, columns, arithmeticType, /*count=*/1, single).front();
}

Value resid::roundColumnSum(ImplicitLocOpBuilder &builder, Value sum, Type resultType) {
  auto type = cast<RankedTensorType>(sum.getType());
  if (getElementTypeOrSelf(resultType) == type.getElementType())
    return type == resultType ? sum : Value(tensor::CastOp::create(builder, resultType, sum));
  auto body = [](ImplicitLocOpBuilder &, ValueRange elements) -> SmallVector<Value> { return {elements.front()}; };
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  return createElementwise(builder, {{sum, identity}}, getSizes(builder, sum), resultType,
                           cast<FloatType>(type.getElementType()), body)
      .front();
}
