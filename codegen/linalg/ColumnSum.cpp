// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/linalg/ColumnSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

/// Adds up the terms of all rows to `old`.
static SmallVector<Value> addTerms(Code &builder, ArrayRef<ElementwiseOperand> operands, ValueRange old,
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
    Code inner(nested, location);
    SmallVector<Value> elements, sums;
    unsigned next = 0;
    for (const ElementwiseOperand &operand : operands)
      elements.push_back(operand.tensor ? inner.castFloat(arguments[next++], arithmeticType) : Value());
    for (auto [element, term] : llvm::zip_equal(arguments.take_back(old.size()), body(inner, elements)))
      sums.push_back(inner.add(element, term));
    linalg::YieldOp::create(inner, sums);
  };
  return linalg::GenericOp::create(builder, TypeRange(old), inputs, old, maps, iterators, build).getResults();
}

SmallVector<Value> resid::createColumnSums(Code &builder, ArrayRef<ElementwiseOperand> operands,
                                           ArrayRef<OpFoldResult> sizes, int64_t columns, FloatType arithmeticType,
                                           unsigned count, ElementwiseBody body, Value condition) {
  Value zero = createConstant(builder, arithmeticType, 0.0);
  Value empty = tensor::EmptyOp::create(builder, sizes.take_back(columns), arithmeticType);
  SmallVector<Value> old(count, linalg::FillOp::create(builder, zero, empty).getResult(0));
  if (!condition)
    return addTerms(builder, operands, old, columns, arithmeticType, body);
  return builder.choose(
      condition, TypeRange(ValueRange(old)),
      [&] { return addTerms(builder, operands, old, columns, arithmeticType, body); }, [&] { return old; });
}

Value resid::createColumnSum(Code &builder, ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes,
                             int64_t columns, FloatType arithmeticType, TermBody body) {
  auto single = [&](Code &inner, ValueRange elements) -> SmallVector<Value> { return {body(inner, elements)}; };
  return createColumnSums(builder, operands, sizes, columns, arithmeticType, /*count=*/1, single).front();
}

Value resid::roundColumnSum(Code &builder, Value sum, Type resultType) {
  auto type = cast<RankedTensorType>(sum.getType());
  if (getElementTypeOrSelf(resultType) == type.getElementType())
    return type == resultType ? sum : Value(tensor::CastOp::create(builder, resultType, sum));
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  return createElementwise(builder, {{sum, identity}}, getSizes(builder, sum), resultType,
                           cast<FloatType>(type.getElementType()), takeElement);
}
