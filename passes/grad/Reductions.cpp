// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Reductions.h.

#include "passes/grad/Reductions.h"

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

FailureOr<Reduction> resid::matchReduction(linalg::GenericOp op, unsigned result) {
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

void resid::addExtremum(linalg::GenericOp op, const Reduction &reduction, Gradients &gradients, BodyBuilder &body,
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
