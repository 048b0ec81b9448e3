// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of linalg.generic: one elementwise op over the loops of the forward, after which the gradient of what was
// broadcast is summed. Contractions have rules of their own.

#include "dialect/Contraction.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyGradient.h"
#include "passes/grad/Reductions.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

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
