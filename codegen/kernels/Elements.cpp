// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

ResultRange kernels::emitElements(OpBuilder &builder, Operation *op, ValueRange operands, int64_t lanes) {
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), [&](Type type) -> Type { return VectorType::get(lanes, type); });
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    auto all = DenseElementsAttr::get(cast<VectorType>(types.front()), constant);
    return arith::ConstantOp::create(builder, op->getLoc(), all)->getResults();
  }
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  return builder.create(state)->getResults();
}
