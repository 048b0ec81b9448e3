// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family Norm: of the kinds that have a backward op.

#include "dialect/NormGrad.h"
#include "dialect/ResidDialect.h"
#include "passes/grad/NormStatistics.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// The types of dgamma and dbeta, which are there exactly where gamma is.
static SmallVector<Type> getParameterTypes(Value gamma, Value beta) {
  if (!gamma)
    return {};
  return {gamma.getType(), (beta ? beta : gamma).getType()};
}

static void addParameters(Gradients &gradients, Value gamma, Value beta, ValueRange parameters) {
  if (!gamma)
    return;
  gradients.add(gamma, parameters[0]);
  gradients.add(beta, parameters[1]);
}

namespace {

/// The forward gives its statistics, and the backward takes in the gradient that x has already: that of the sum.
template <typename NormOp> struct NormGradRule : GradientOpInterface::ExternalModel<NormGradRule<NormOp>, NormOp> {
  LogicalResult prepareForward(Operation *op, OpBuilder &builder, Forward &, const DenseSet<Value> &) const {
    auto norm = cast<NormOp>(op);
    if (!norm.getStatistics().empty())
      return success();
    NormParts parts = norm.getNormParts();
    SmallVector<Type> types(getNormRule(parts.kind).statistics.size(), parts.getStatisticsType(norm.getX().getType()));
    builder.setInsertionPoint(op);
    Operation *asked = createNorm(builder, op->getLoc(), parts, parts.x, norm.getResult().getType(), types);
    asked->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    norm.getResult().replaceAllUsesWith(asked->getResult(0));
    op->erase();
    return success();
  }

  /// The rule reads x anyway, so the result costs arithmetic alone.
  Value recompute(Operation *op, unsigned number, Gradients &gradients) const {
    auto norm = cast<NormOp>(op);
    if (number != 0)
      return {};
    NormParts parts = norm.getNormParts();
    for (Value *operand : {&parts.x, &parts.gamma, &parts.beta})
      *operand = gradients.getPrimal(*operand);
    return createNorm(gradients.getBuilder(), op->getLoc(), parts, parts.x, norm.getResult().getType(), {})
        ->getResult(0);
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto norm = cast<NormOp>(op);
    NormParts parts = norm.getNormParts();
    addStatisticsGradient(gradients, parts, norm.getStatistics());
    if (!gradients.get(norm.getResult()))
      return success();
    NormGradParts backward{parts.kind,
                           gradients.get(norm.getResult()),
                           gradients.getPrimal(parts.x),
                           {},
                           gradients.getPrimal(parts.gamma),
                           gradients.take(parts.x),
                           parts.zeroCenteredGamma,
                           parts.rank,
                           parts.groups};
    for (Value statistic : norm.getStatistics())
      backward.statistics.push_back(gradients.getPrimal(statistic));
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Operation *created =
        createNormGrad(builder, builder.getLoc(), backward, getParameterTypes(parts.gamma, parts.beta));
    gradients.add(parts.x, created->getResult(0));
    addParameters(gradients, parts.gamma, parts.beta, created->getResults().drop_front());
    return success();
  }
};

/// The tanh is computed again.
struct DyTRule : GradientOpInterface::ExternalModel<DyTRule, DyTOp> {
  /// As for a norm.
  Value recompute(Operation *op, unsigned, Gradients &gradients) const { return gradients.clone(op->getOpResult(0)); }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto dyt = cast<DyTOp>(op);
    Value x = dyt.getX(), alpha = dyt.getAlpha(), gamma = dyt.getGamma(), dsum = gradients.take(x);
    auto created =
        DyTGradOp::create(gradients.getBuilder(), x.getType(), alpha.getType(), getParameterTypes(gamma, dyt.getBeta()),
                          gradients.get(dyt.getResult()), gradients.getPrimal(x), gradients.getPrimal(alpha),
                          gradients.getPrimal(gamma), dsum, dyt.getZeroCenteredGammaAttr());
    gradients.add(x, created.getDx());
    gradients.add(alpha, created.getDalpha());
    addParameters(gradients, gamma, dyt.getBeta(), created.getParameters());
    return success();
  }
};

/// The forward gives all of its statistics, unless it was handed some.
struct BatchNormRule : GradientOpInterface::ExternalModel<BatchNormRule, BatchNormOp> {
  LogicalResult prepareForward(Operation *op, OpBuilder &builder, Forward &, const DenseSet<Value> &) const {
    auto norm = cast<BatchNormOp>(op);
    constexpr unsigned all = 4;
    if (!norm.getGiven().empty() || norm.getStatistics().size() == all)
      return success();
    RankedTensorType x = norm.getX().getType();
    auto type = RankedTensorType::get(x.getShape().take_back(), getArithmeticType(x.getElementType()));
    builder.setInsertionPoint(op);
    auto asked = BatchNormOp::create(builder, op->getLoc(), norm.getResult().getType(), SmallVector<Type>(all, type),
                                     norm.getX(), ValueRange(), norm.getGamma(), norm.getBeta(), norm.getEpsilonAttr());
    asked->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(asked->getResults().take_front(op->getNumResults()));
    op->erase();
    return success();
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto norm = cast<BatchNormOp>(op);
    Value x = norm.getX(), gamma = norm.getGamma();
    bool isFixed = !norm.getGiven().empty();
    if (llvm::any_of(norm.getStatistics(), [&](Value statistic) { return gradients.get(statistic); }))
      return op->emitOpError("has no gradient through its statistics: expected them to reach no result whose gradient "
                             "is taken");
    if (llvm::any_of(norm.getGiven(), [&](Value statistic) { return gradients.isNeeded(statistic); }))
      return op->emitOpError("has no gradient of the statistics that it is handed: expected them to depend on no "
                             "argument whose gradient is taken");
    // All but the variance, or what the norm was handed.
    SmallVector<Value> statistics(isFixed ? ValueRange(norm.getGiven()) : ValueRange(norm.getStatistics()));
    if (!isFixed)
      statistics.erase(statistics.begin() + 1);
    for (Value &statistic : statistics)
      statistic = gradients.getPrimal(statistic);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value dsum = gradients.take(x);
    auto created = BatchNormGradOp::create(builder, x.getType(), getParameterTypes(gamma, norm.getBeta()),
                                           gradients.get(norm.getResult()), gradients.getPrimal(x), statistics,
                                           gradients.getPrimal(gamma), dsum, norm.getEpsilonAttr(),
                                           isFixed ? builder.getUnitAttr() : UnitAttr());
    gradients.add(x, created.getDx());
    addParameters(gradients, gamma, norm.getBeta(), created.getParameters());
    return success();
  }
};

} // namespace

void resid::registerNormRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) {
    LayerNormOp::attachInterface<NormGradRule<LayerNormOp>>(*context);
    RMSNormOp::attachInterface<NormGradRule<RMSNormOp>>(*context);
    GroupNormOp::attachInterface<NormGradRule<GroupNormOp>>(*context);
    DyTOp::attachInterface<DyTRule>(*context);
    BatchNormOp::attachInterface<BatchNormRule>(*context);
  });
}
