// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of linalg.generic: one elementwise op over the loops of the forward, after which the gradient of what was
// broadcast is summed. Reductions have a gradient if they are sums, maxima or minima. Contractions have rules of their
// own.

#include "dialect/Contraction.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyGradient.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// result = init ∘ term ∘ term …, where ∘ is a sum, a maximum or a minimum.
struct Reduction {
  OpResult result;
  OpOperand *init;
  /// The value of the body that each point of the loops adds.
  Value term;
  bool isSum;
};

} // namespace

/// How a result is reduced. An error where it is done in another way.
static FailureOr<Reduction> matchReduction(linalg::GenericOp op, unsigned result) {
  Value accumulator = op.getRegionOutputArgs()[result];
  Operation *combiner = op.getBody()->getTerminator()->getOperand(result).getDefiningOp();
  bool isSum = isa_and_present<arith::AddFOp>(combiner);
  bool isExtremum = isa_and_present<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(combiner);
  if ((!isSum && !isExtremum) || !accumulator.hasOneUse() || !combiner->hasOneUse() ||
      !llvm::is_contained(combiner->getOperands(), accumulator))
    return op.emitOpError("has no gradient as a reduction: expected arith.addf, or a maximum or minimum, of the result "
                          "so far and another value, but result ")
           << result << " is reduced in another way";
  Value term = combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  return Reduction{op->getResult(result), op.getDpsInitOperand(result), term, isSum};
}

/// 1 where a value is the extremum, else 0.
static Value createMatch(ImplicitLocOpBuilder &builder, Value value, Value extremum, FloatType type) {
  Value one = arith::ConstantFloatOp::create(builder, type, roundToArithmetic(APFloat(1.0), type));
  Value zero = arith::ConstantFloatOp::create(builder, type, APFloat::getZero(type.getFloatSemantics()));
  Value isEqual = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, value, extremum);
  return arith::SelectOp::create(builder, isEqual, one, zero);
}

namespace {

/// What the gradient of one extremum is made of, in the loops of its result.
struct Extremum {
  linalg::GenericOp op;
  const Reduction &reduction;
  Gradients &gradients;
  Value y, dy;

  ImplicitLocOpBuilder &getBuilder() const { return gradients.getBuilder(); }
  AffineMap getMap() const { return linalg::GenericOp(op).getMatchingIndexingMap(reduction.init); }
  AffineMap getIdentity() const { return getBuilder().getMultiDimIdentityMap(getMap().getNumResults()); }
  FloatType getType() const { return getArithmeticType(getElementTypeOrSelf(y.getType())); }
  Value createEmpty(Type type) const {
    return tensor::EmptyOp::create(getBuilder(), tensor::getMixedSizes(getBuilder(), getBuilder().getLoc(), dy), type);
  }
  linalg::GenericOp finish(BodyBuilder &body, Value yielded) const {
    SmallVector<utils::IteratorType> loops(getMap().getNumResults(), utils::IteratorType::parallel);
    return body.finish(loops, yielded);
  }

  Value createFirstCount() const;
  Value createCount() const;
  Value createShare() const;
  Value createInitGradient(Value share) const;
};

} // namespace

/// Whether the init is the extremum, as a number; it is no part of the count where nothing asks for its gradient.
Value Extremum::createFirstCount() const {
  ImplicitLocOpBuilder &builder = getBuilder();
  Value empty = createEmpty(getType());
  if (!gradients.isNeeded(reduction.init->get())) {
    Value zero = arith::ConstantFloatOp::create(builder, getType(), APFloat::getZero(getType().getFloatSemantics()));
    return linalg::FillOp::create(builder, zero, empty).getResult(0);
  }
  BodyBuilder body(builder);
  Value init = body.read(gradients.getPrimal(reduction.init->get()), getIdentity());
  Value extremum = body.read(y, getIdentity());
  body.addResult(empty, getIdentity());
  return finish(body, createMatch(body.getBuilder(), init, extremum, getType())).getResult(0);
}

/// How many terms equal the extremum.
Value Extremum::createCount() const {
  Value first = createFirstCount();
  BodyBuilder body(getBuilder());
  BodyGradient recomputed(op, gradients, body);
  Value term = recomputed.getPrimal(reduction.term), extremum = body.read(y, getMap());
  Value sum = body.addResult(first, getMap());
  Value match = createMatch(body.getBuilder(), term, extremum, getType());
  Value added = arith::AddFOp::create(body.getBuilder(), sum, match);
  return body.finish(linalg::GenericOp(op).getIteratorTypesArray(), added).getResult(0);
}

/// dy divided by the count.
Value Extremum::createShare() const {
  Value count = createCount();
  BodyBuilder body(getBuilder());
  Value gradient = convertElements(body.getBuilder(), body.read(dy, getIdentity()), getType());
  Value divisor = body.read(count, getIdentity());
  body.addResult(createEmpty(getType()), getIdentity());
  return finish(body, arith::DivFOp::create(body.getBuilder(), gradient, divisor)).getResult(0);
}

/// The share of the first value, where it is the extremum.
Value Extremum::createInitGradient(Value share) const {
  Type element = getElementTypeOrSelf(y.getType());
  BodyBuilder body(getBuilder());
  ImplicitLocOpBuilder &inner = body.getBuilder();
  Value init = body.read(gradients.getPrimal(reduction.init->get()), getIdentity());
  Value extremum = body.read(y, getIdentity()), part = body.read(share, getIdentity());
  body.addResult(createEmpty(element), getIdentity());
  Value isEqual = arith::CmpFOp::create(inner, arith::CmpFPredicate::OEQ, init, extremum);
  Value zero = arith::ConstantFloatOp::create(inner, getType(), APFloat::getZero(getType().getFloatSemantics()));
  Value chosen = arith::SelectOp::create(inner, isEqual, part, zero);
  return finish(body, convertElements(inner, chosen, element)).getResult(0);
}

/// The gradient of a maximum or minimum goes to the terms that equal it, in equal parts; one of them is the init where
/// its gradient is needed.
static void addExtremum(linalg::GenericOp op, const Reduction &reduction, Gradients &gradients, BodyBuilder &body,
                        BodyGradient &bodyGradient) {
  Extremum extremum{op, reduction, gradients, gradients.getPrimal(reduction.result), gradients.get(reduction.result)};
  Value share = extremum.createShare();
  if (gradients.isNeeded(reduction.init->get()))
    gradients.add(reduction.init->get(), extremum.createInitGradient(share));
  ImplicitLocOpBuilder &builder = body.getBuilder();
  Value term = bodyGradient.getPrimal(reduction.term), y = body.read(extremum.y, extremum.getMap());
  Value part = body.read(share, extremum.getMap());
  Value isEqual = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, term, y);
  Value zero = arith::ConstantFloatOp::create(builder, extremum.getType(),
                                              APFloat::getZero(extremum.getType().getFloatSemantics()));
  bodyGradient.add(reduction.term, arith::SelectOp::create(builder, isEqual, part, zero));
}

/// An operand's dimensions, which are loops, each at most once, or of size 1.
static bool isBroadcast(AffineMap map) {
  SmallVector<AffineExpr> seen;
  return llvm::all_of(map.getResults(), [&](AffineExpr expression) {
    bool isNew = isa<AffineDimExpr>(expression) && !llvm::is_contained(seen, expression);
    seen.push_back(expression);
    return isNew || expression == getAffineConstantExpr(0, map.getContext());
  });
}

static LogicalResult verifyForm(linalg::GenericOp op, Gradients &gradients) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (gradients.isNeeded(operand.get()) && !isBroadcast(map))
      return op.emitOpError("has no gradient with this map: expected loops, each once, as the dimensions of operand ")
             << operand.getOperandNumber() << " but got " << AffineMapAttr::get(map);
    if (op.isDpsInit(&operand) && !map.isProjectedPermutation())
      return op.emitOpError("has no gradient with this map: expected loops, each once, as the dimensions of a result "
                            "but got ")
             << AffineMapAttr::get(map);
  }
  return verifyCaptures(op, gradients);
}

namespace {

/// The gradient of one operand: an element of it at each point of the loops.
struct Term {
  OpOperand *operand;
  AffineMap map;
  Value element;
  /// The tensor that has these elements; with all loops where the operand lacks some.
  Value tensor;

  /// A number counts as a tensor without dimensions.
  RankedTensorType getType() const {
    Type type = operand->get().getType();
    return isa<FloatType>(type) ? RankedTensorType::get({}, type) : cast<RankedTensorType>(type);
  }
  bool isSummed() const { return !map.isPermutation(); }
};

/// The backward of one op.
class GenericGradient {
public:
  GenericGradient(linalg::GenericOp op, Gradients &gradients)
      : op(op), gradients(gradients), builder(gradients.getBuilder()), body(builder),
        bodyGradient(op, gradients, body) {}

  LogicalResult run();

private:
  LogicalResult seed(OpResult result);
  void findTerms();
  bool isHandedOn(Term &term);
  OpFoldResult getExtent(unsigned loop);
  void createTerms();

  linalg::GenericOp op;
  Gradients &gradients;
  ImplicitLocOpBuilder &builder;
  BodyBuilder body;
  BodyGradient bodyGradient;
  SmallVector<Term> terms;
};

} // namespace

/// The gradient of a result becomes that of what the body yields, or, in a reduction, of what it adds to the rest.
LogicalResult GenericGradient::seed(OpResult result) {
  Value dy = gradients.get(result);
  if (!dy)
    return success();
  unsigned number = result.getResultNumber();
  OpOperand *init = op.getDpsInitOperand(number);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (op.getNumReductionLoops() == 0) {
    bodyGradient.add(op.getBody()->getTerminator()->getOperand(number), body.read(dy, map));
    return success();
  }
  FailureOr<Reduction> reduction = matchReduction(op, number);
  if (failed(reduction))
    return failure();
  if (!reduction->isSum) {
    addExtremum(op, *reduction, gradients, body, bodyGradient);
    return success();
  }
  gradients.add(init->get(), dy);
  bodyGradient.add(reduction->term, body.read(dy, map));
  return success();
}

/// A tensor that is read twice at the same place has one term, so that nothing is added outside of the body.
void GenericGradient::findTerms() {
  for (OpOperand &operand : op->getOpOperands()) {
    Value element = bodyGradient.get(op.getMatchingBlockArgument(&operand));
    if (!element)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto *same =
        llvm::find_if(terms, [&](const Term &term) { return term.operand->get() == operand.get() && term.map == map; });
    if (same == terms.end())
      terms.push_back({&operand, map, element, {}});
    else
      same->element = arith::AddFOp::create(body.getBuilder(), same->element, element);
  }
}

/// Whether the elements of the term are those of a tensor that is there already.
bool GenericGradient::isHandedOn(Term &term) {
  Value element = term.element;
  if (auto widening = element.getDefiningOp<arith::ExtFOp>())
    element = widening.getIn();
  auto source = body.getSource(element);
  if (!source || (term.isSummed() ? !source->second.isIdentity()
                                  : source->second != term.map || source->first.getType() != term.getType()))
    return false;
  term.tensor = source->first;
  return true;
}

/// Of what the backward reads anyway, if it can: nothing is saved for its size alone.
OpFoldResult GenericGradient::getExtent(unsigned loop) {
  if (int64_t range = op.getStaticLoopRanges()[loop]; !ShapedType::isDynamic(range))
    return builder.getIndexAttr(range);
  if (auto [tensor, dimension] = body.findExtent(loop); tensor)
    return tensor::getMixedSize(builder, builder.getLoc(), tensor, dimension);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [place, expression] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expression == builder.getAffineDimExpr(loop))
        return createSize(gradients, operand.get(), place);
  llvm_unreachable("each loop is a dimension of an operand");
}

/// The loops that the tensor of a term has as dimensions, and its element type.
static std::pair<AffineMap, Type> getLayout(const Term &term) {
  Type element = term.getType().getElementType();
  if (!term.isSummed())
    return {term.map, element};
  return {AffineMap::getMultiDimIdentityMap(term.map.getNumDims(), element.getContext()), getArithmeticType(element)};
}

/// One op computes all terms that are no tensor yet; operands with equal terms share them.
void GenericGradient::createTerms() {
  SmallVector<Term *> computed;
  for (Term &term : terms)
    if (!isHandedOn(term))
      computed.push_back(&term);
  if (computed.empty())
    return;
  SmallVector<OpFoldResult> extents;
  for (unsigned loop = 0; loop != op.getNumLoops(); ++loop)
    extents.push_back(getExtent(loop));
  SmallVector<Value> yielded;
  SmallVector<unsigned> places;
  for (auto [index, term] : llvm::enumerate(computed)) {
    auto isSame = [&, term = term](Term *other) {
      return other->element == term->element && getLayout(*other) == getLayout(*term);
    };
    // It finds the term itself at the latest.
    unsigned first = llvm::find_if(computed, isSame) - computed.begin();
    if (first != index) {
      places.push_back(places[first]);
      continue;
    }
    auto [map, type] = getLayout(*term);
    SmallVector<OpFoldResult> sizes;
    for (AffineExpr expression : map.getResults())
      sizes.push_back(extents[cast<AffineDimExpr>(expression).getPosition()]);
    body.addResult(tensor::EmptyOp::create(builder, sizes, type), map);
    places.push_back(yielded.size());
    yielded.push_back(convertElements(body.getBuilder(), term->element, type));
  }
  SmallVector<utils::IteratorType> loops(op.getNumLoops(), utils::IteratorType::parallel);
  linalg::GenericOp created = body.finish(loops, yielded);
  for (auto [term, place] : llvm::zip_equal(computed, places))
    term->tensor = created.getResult(place);
}

LogicalResult GenericGradient::run() {
  for (OpResult result : op->getResults())
    if (failed(seed(result)))
      return failure();
  if (failed(bodyGradient.run()))
    return failure();
  findTerms();
  createTerms();
  for (Term &term : terms) {
    Value gradient = term.isSummed() ? createBroadcastSum(builder, term.tensor, term.map, term.getType()) : term.tensor;
    if (gradient.getType() != term.getType())
      gradient = tensor::CastOp::create(builder, term.getType(), gradient);
    if (isa<FloatType>(term.operand->get().getType()))
      gradient = tensor::ExtractOp::create(builder, gradient, ValueRange());
    gradients.add(term.operand->get(), gradient);
  }
  return success();
}

namespace {
struct GenericRule : GradientOpInterface::ExternalModel<GenericRule, linalg::GenericOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto generic = cast<linalg::GenericOp>(op);
    if (matchProductSum(generic))
      return differentiateContraction(generic, gradients);
    if (failed(verifyForm(generic, gradients)))
      return failure();
    return GenericGradient(generic, gradients).run();
  }
};
} // namespace

void resid::registerLinalgRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::GenericOp::attachInterface<GenericRule>(*context);
    attachSoftmaxRule(*context);
  });
}
