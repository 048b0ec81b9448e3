// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building sums down the rows; see ColumnSum.h.

#include "codegen/linalg/ColumnSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::createColumnSum(ImplicitLocOpBuilder &builder, ArrayRef<ElementwiseOperand> operands,
                             ArrayRef<OpFoldResult> sizes, int64_t columns, FloatType arithmeticType, TermBody body) {
  Value zero = createConstant(builder, arithmeticType, 0.0);
  Value empty = tensor::EmptyOp::create(builder, sizes.take_back(columns), arithmeticType);
  Value old = linalg::FillOp::create(builder, zero, empty).getResult(0);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const ElementwiseOperand &operand : operands)
    if (operand.tensor) {
      inputs.push_back(operand.tensor);
      maps.push_back(operand.map);
    }
  maps.push_back(getColumnMap(builder.getContext(), sizes.size(), columns));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::reduction);
  std::fill_n(iterators.rbegin(), columns, utils::IteratorType::parallel);
  auto build = [&](OpBuilder &nested, Location location, ValueRange arguments) {
    ImplicitLocOpBuilder inner(location, nested);
    SmallVector<Value> elements;
    unsigned next = 0;
    for (const ElementwiseOperand &operand : operands)
      elements.push_back(operand.tensor ? convertFloat(inner, arguments[next++], arithmeticType) : Value());
    Value term = body(inner, elements);
    linalg::YieldOp::create(inner, Value(arith::AddFOp::create(inner, arguments.back(), term)));
  };
  return linalg::GenericOp::create(builder, old.getType(), inputs, old, maps, iterators, build).getResult(0);
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
