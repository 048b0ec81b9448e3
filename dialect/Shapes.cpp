// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Shapes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::resid;

FloatType resid::getArithmeticType(Type elementType) {
  if (elementType.isF64())
    return cast<FloatType>(elementType);
  return Float32Type::get(elementType.getContext());
}

llvm::APFloat resid::roundToArithmetic(const llvm::APFloat &value, Type elementType) {
  llvm::APFloat rounded = value;
  bool losesInfo;
  rounded.convert(getArithmeticType(elementType).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded;
}

RankedTensorType resid::getStatisticsType(RankedTensorType x, int64_t normalizedRank) {
  return RankedTensorType::get(x.getShape().drop_back(normalizedRank), getArithmeticType(x.getElementType()));
}

bool resid::fitsByteLimit(Type type) {
  constexpr int64_t limit = int64_t(1) << 47;
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  int64_t bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : tensor.getShape()) {
    if (ShapedType::isDynamic(size) || size == 0)
      continue;
    if (size > limit / bytes)
      return false;
    bytes *= size;
  }
  return true;
}

void resid::uniteLeading(Value value, Value whole, int64_t count, UniteSizes unite) {
  for (int64_t dimension = 0; value && dimension < count; ++dimension)
    unite(value, dimension, whole, dimension);
}

void resid::uniteLeading(Value value, Value whole, UniteSizes unite) {
  uniteLeading(value, whole, cast<RankedTensorType>(value.getType()).getRank(), unite);
}
