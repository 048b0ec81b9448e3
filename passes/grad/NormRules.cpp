// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family Norm: of the kinds that have a backward op, and the gradient through the statistics that a
// norm gives as results.

#include "dialect/NormGrad.h"
#include "dialect/NormKinds.h"
#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Gradients.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

/// The product of sizes as a float.
static Value createCount(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> sizes, FloatType type) {
  int64_t count = 1;
  Value open;
  for (OpFoldResult size : sizes) {
    auto value = dyn_cast<Value>(size);
    if (!value)
      count *= *getConstantIntValue(size);
    else
      open = open ? Value(arith::MulIOp::create(builder, open, value)) : value;
  }
  if (!open)
    return arith::ConstantFloatOp::create(builder, type, roundToArithmetic(APFloat(double(count)), type));
  if (count != 1)
    open = arith::MulIOp::create(builder, open, arith::ConstantIndexOp::create(builder, count));
  Value integer = arith::IndexCastOp::create(builder, builder.getI64Type(), open);
  return arith::SIToFPOp::create(builder, type, integer);
}

namespace {
/// x with the groups of its columns as a dimension of their own, and how rows and elements are read.
struct Groups {
  Groups(Gradients &gradients, const NormParts &parts);

  /// x in this form.
  Value split(Gradients &gradients, Value x) const {
    return places.empty() ? x
                          : tensor::ExpandShapeOp::create(gradients.getBuilder(), type, x, places, sizes).getResult();
  }
  Value join(ImplicitLocOpBuilder &builder, RankedTensorType whole, Value split) const {
    return places.empty() ? split : tensor::CollapseShapeOp::create(builder, whole, split, places).getResult();
  }

  RankedTensorType type;
  SmallVector<OpFoldResult> sizes;
  /// Empty where there are no groups.
  SmallVector<ReassociationIndices> places;
  /// How many of the dimensions are those of a statistic.
  int64_t leading;
};
} // namespace

Groups::Groups(Gradients &gradients, const NormParts &parts)
    : type(cast<RankedTensorType>(parts.x.getType())), sizes(createSizes(gradients, parts.x)),
      leading(type.getRank() - parts.rank) {
  if (!parts.groups)
    return;
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  int64_t count = parts.getGroupCount(), last = type.getRank() - 1, width = type.getDimSize(last);
  for (int64_t place = 0; place != last; ++place)
    places.push_back({place});
  places.push_back({last, last + 1});
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = count;
  shape.push_back(ShapedType::isDynamic(width) ? width : width / count);
  OpFoldResult inGroup = builder.getIndexAttr(shape.back());
  if (auto open = dyn_cast<Value>(sizes.back()))
    inGroup = arith::DivUIOp::create(builder, open, arith::ConstantIndexOp::create(builder, count)).getResult();
  sizes.back() = builder.getIndexAttr(count);
  sizes.push_back(inGroup);
  type = type.clone(shape);
  ++leading;
}

/// Adds to the gradient of x what comes through the statistics of each row (of each group) of N elements:
/// (dmean - (drstd·rstd³)·(x - mean))/N. A correction of the mean has no gradient: it is what the mean is rounded by,
/// and that counts as the identity. Of an L2 norm N is 1, and rows that are no longer than epsilon get 0. Nothing is
/// made where no statistic has a gradient.
static void addStatisticsGradient(Gradients &gradients, const NormParts &parts, ValueRange statistics) {
  Value mean, correction, rstd;
  for (auto [kind, statistic] : llvm::zip(getNormRule(parts.kind).statistics, statistics))
    (kind == NormStatistic::Mean ? mean : kind == NormStatistic::Rstd ? rstd : correction) = statistic;
  Value dmean = mean ? gradients.get(mean) : Value(), drstd = rstd ? gradients.get(rstd) : Value();
  if (!gradients.isNeeded(parts.x) || (!dmean && !drstd))
    return;
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  Groups groups(gradients, parts);
  auto whole = cast<RankedTensorType>(parts.x.getType());
  FloatType arithmetic = getArithmeticType(whole.getElementType());
  unsigned rank = groups.type.getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap ofRow = AffineMap::get(rank, 0, identity.getResults().take_front(groups.leading), builder.getContext());
  Value count = createCount(builder, ArrayRef(groups.sizes).drop_front(groups.leading), arithmetic);

  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  auto read = [&](Value tensor, AffineMap map) { return convertElements(inner, body.read(tensor, map), arithmetic); };
  Value element;
  if (drstd) {
    Value r = read(gradients.getPrimal(rstd), ofRow);
    element = read(groups.split(gradients, gradients.getPrimal(parts.x)), identity);
    for (Value part : {mean, correction})
      if (part)
        element = arith::SubFOp::create(inner, element, read(gradients.getPrimal(part), ofRow));
    Value cube = arith::MulFOp::create(inner, arith::MulFOp::create(inner, r, r), r);
    Value factor = arith::MulFOp::create(inner, read(drstd, ofRow), cube);
    element = arith::NegFOp::create(inner, arith::MulFOp::create(inner, factor, element));
    if (getNormRule(parts.kind).hasLength()) {
      Numbers numbers(inner, arithmetic);
      Value least = numbers.constant(getStatisticOfShortRows(parts.epsilon, arithmetic).convertToDouble());
      element = numbers.select(numbers.compare(arith::CmpFPredicate::OLT, r, least), element, numbers.constant(0.0));
    }
  }
  if (dmean) {
    Value d = read(dmean, ofRow);
    element = element ? Value(arith::AddFOp::create(inner, d, element)) : d;
  }
  if (!getNormRule(parts.kind).hasLength())
    element = arith::DivFOp::create(inner, element, count);
  Value empty = tensor::EmptyOp::create(builder, groups.sizes, whole.getElementType());
  body.addResult(empty, identity);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  linalg::GenericOp created = body.finish(loops, convertElements(inner, element, whole.getElementType()));
  Value made = created.getResult(0);
  if (made.getType() != groups.type)
    made = tensor::CastOp::create(builder, groups.type, made);
  gradients.add(parts.x, groups.join(builder, whole, made));
}

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
                           parts.groups,
                           parts.epsilon};
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
    L2NormOp::attachInterface<NormGradRule<L2NormOp>>(*context);
    GroupNormOp::attachInterface<NormGradRule<GroupNormOp>>(*context);
    DyTOp::attachInterface<DyTRule>(*context);
    BatchNormOp::attachInterface<BatchNormRule>(*context);
  });
}
