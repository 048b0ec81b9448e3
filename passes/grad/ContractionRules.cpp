// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of contractions, and of other sums of products: the gradient of a factor is one again, of the gradient of
// the result and the other factor.

#include "dialect/Contraction.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// The gradient of `operand`, whose products with `other` are summed.
static void addFactor(Contraction &contraction, OpOperand *operand, OpOperand *other, Gradients &gradients) {
  Value tensor = operand->get();
  if (!gradients.isNeeded(tensor))
    return;
  Factor dy{gradients.get(contraction.op->getResult(0)), contraction.getMap(contraction.init)};
  Factor factor{gradients.getPrimal(other->get()), contraction.getMap(other)};
  gradients.add(tensor, createProductSum(gradients.getBuilder(), dy, factor, cast<RankedTensorType>(tensor.getType()),
                                         contraction.getMap(operand), [&] { return gradients.getPrimal(tensor); }));
}

/// The result is init + Σ a·b.
LogicalResult resid::differentiateContraction(linalg::LinalgOp op, Gradients &gradients) {
  std::optional<Contraction> contraction = matchProductSum(op);
  if (!contraction)
    return op->emitOpError("has no gradient of this form: expected a sum of products of f16, bf16, f32 or f64");
  addFactor(*contraction, contraction->a, contraction->b, gradients);
  addFactor(*contraction, contraction->b, contraction->a, gradients);
  gradients.add(contraction->init->get(), gradients.get(op->getResult(0)));
  return success();
}

namespace {
template <typename Op> struct ContractionRule : GradientOpInterface::ExternalModel<ContractionRule<Op>, Op> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    return differentiateContraction(cast<linalg::LinalgOp>(op), gradients);
  }
};
} // namespace

template <typename... Ops> static void attachContractionRules(MLIRContext *context) {
  (Ops::template attachInterface<ContractionRule<Ops>>(*context), ...);
}

void resid::registerContractionRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachContractionRules<linalg::MatmulOp, linalg::BatchMatmulOp, linalg::BatchReduceMatmulOp, linalg::MatvecOp,
                           linalg::VecmatOp, linalg::BatchMatvecOp, linalg::BatchVecmatOp, linalg::DotOp,
                           linalg::ContractOp>(context);
  });
}
