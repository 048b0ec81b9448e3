// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of casts between float types, on tensors: the gradient is cast back. A rounding counts as the identity.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
template <typename CastOp> struct CastRule : GradientOpInterface::ExternalModel<CastRule<CastOp>, CastOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    Value operand = op->getOperand(0);
    if (!isa<RankedTensorType>(operand.getType()))
      return op->emitOpError("has no gradient on scalars: expected a tensor but got ") << operand.getType();
    gradients.add(operand, createCast(gradients.getBuilder(), gradients.get(op->getResult(0)),
                                      getElementTypeOrSelf(operand.getType())));
    return success();
  }
};
} // namespace

void resid::registerCastRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    arith::ExtFOp::attachInterface<CastRule<arith::ExtFOp>>(*context);
    arith::TruncFOp::attachInterface<CastRule<arith::TruncFOp>>(*context);
  });
}
