// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/GradVerification.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

/// The results beside dx that belong to gamma and beta.
static constexpr StringLiteral parameterNames[] = {"dgamma", "dbeta"};

LogicalResult resid::verifyTypeOfX(Operation *op, Type x, Value value, StringRef name) {
  if (!value || value.getType() == x)
    return success();
  return op->emitOpError("expected ") << name << " of x's type " << x << " but got " << value.getType();
}

LogicalResult resid::verifyParameterGradients(Operation *op, RankedTensorType x, Value gamma, ValueRange parameters) {
  size_t expected = gamma ? 2 : 0;
  if (parameters.size() != expected)
    return op->emitOpError("expected ") << (gamma ? "dgamma and dbeta beside gamma" : "no dgamma without gamma")
                                        << " but got " << parameters.size() << " results beside dx";
  for (auto [parameter, name] : llvm::zip(parameters, parameterNames)) {
    auto type = cast<RankedTensorType>(parameter.getType()), gammaType = cast<RankedTensorType>(gamma.getType());
    if (type.getShape() != gammaType.getShape())
      return op->emitOpError("expected ") << name << " of gamma's shape, " << gammaType << ", but got " << type;
    if (failed(verifyParameterType(op, x, parameter, name)))
      return failure();
  }
  return success();
}

void resid::nameParameterGradients(ValueRange parameters, OpAsmSetValueNameFn setName) {
  for (auto [parameter, name] : llvm::zip(parameters, parameterNames))
    setName(parameter, name);
}

void resid::uniteDimensions(UniteSizes unite, Value value, Value other, int64_t first, int64_t count) {
  for (int64_t dimension = 0; value && dimension < count; ++dimension)
    unite(value, dimension, other, first + dimension);
}
