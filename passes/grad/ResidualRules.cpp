// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family Residual and of dropout. None has a backward op: their adjoints are ops already.

#include "dialect/ResidDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// dx = skip_scale·dy, df = branch_scale·(gate ⊙ dy), dgate = Σ branch_scale·(f ⊙ dy). The branch is a value of the
/// forward only for dgate.
struct AddRule : GradientOpInterface::ExternalModel<AddRule, AddOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto add = cast<AddOp>(op);
    Value dy = gradients.get(add.getResult()), gate = add.getGate();
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Type element = getElementTypeOrSelf(add.getX().getType());
    if (gradients.isNeeded(add.getX()))
      gradients.add(add.getX(), createScaled(builder, dy, Value(), add.getSkipScale(), element));
    if (gradients.isNeeded(add.getF()))
      gradients.add(add.getF(), createScaled(builder, dy, gradients.getPrimal(gate), add.getBranchScale(), element));
    if (gradients.isNeeded(gate))
      gradients.add(gate, GateGradOp::create(builder, gate.getType(), dy, gradients.getPrimal(add.getF()),
                                             add.getBranchScaleAttr()));
    return success();
  }
};

/// df = dy, dbias = Σ dy over the rows.
struct AddBiasRule : GradientOpInterface::ExternalModel<AddBiasRule, AddBiasOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto add = cast<AddBiasOp>(op);
    Value dy = gradients.get(add.getResult());
    gradients.add(add.getF(), dy);
    if (gradients.isNeeded(add.getBias()))
      gradients.add(add.getBias(),
                    createColumnSum(gradients.getBuilder(), dy, cast<RankedTensorType>(add.getBias().getType())));
    return success();
  }
};

/// dx = dropout(dy), with the mask of the same site, computed again.
struct DropoutRule : GradientOpInterface::ExternalModel<DropoutRule, DropoutOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    IRMapping mapping;
    for (Value operand : op->getOperands().drop_front())
      mapping.map(operand, gradients.getPrimal(operand));
    auto drop = cast<DropoutOp>(op);
    mapping.map(drop.getX(), gradients.get(drop.getResult()));
    gradients.add(drop.getX(), gradients.getBuilder().clone(*op, mapping)->getResult(0));
    return success();
  }
};

} // namespace

void resid::registerResidualRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) {
    AddOp::attachInterface<AddRule>(*context);
    AddBiasOp::attachInterface<AddBiasRule>(*context);
    DropoutOp::attachInterface<DropoutRule>(*context);
  });
}
