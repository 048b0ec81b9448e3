// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/SizeExpression.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid::boundary;

static bool isSizeType(Type type) { return type.isIndex() || type.isInteger(64); }
static bool isTruth(Type type) { return type.isInteger(1); }

//===------------------------------------------- affine maps ------------------------------------------------------===//

/// Nothing is known of affine quotients whose divisor is below 0.
static SizeExpr toSizeExpression(AffineExpr affine, ArrayRef<SizeExpr> operands, unsigned dims) {
  MLIRContext *context = affine.getContext();
  if (auto constant = dyn_cast<AffineConstantExpr>(affine))
    return SizeExpr::constant(context, constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(affine))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(affine))
    return operands[dims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(affine);
  SizeExpr a = toSizeExpression(binary.getLHS(), operands, dims), b = toSizeExpression(binary.getRHS(), operands, dims);
  bool divides = affine.getKind() != AffineExprKind::Add && affine.getKind() != AffineExprKind::Mul;
  if (!a || !b || (divides && !isNeverNegative(b)))
    return {};
  switch (affine.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return floorRemainder(a, b);
  case AffineExprKind::FloorDiv:
    return floorDivide(a, b);
  default:
    return ceilDivide(a, b);
  }
}

/// The results of the map, from the first to the last, by `join`.
static SizeExpr ofMap(AffineMap map, ArrayRef<SizeExpr> operands, SizeExpr join(SizeExpr, SizeExpr)) {
  SizeExpr all;
  for (auto [index, result] : llvm::enumerate(map.getResults())) {
    SizeExpr one = toSizeExpression(result, operands, map.getNumDims());
    all = index == 0 ? one : join(all, one);
  }
  return all;
}

//===------------------------------------------- arithmetic -------------------------------------------------------===//

/// Negative numbers are above all others.
static SizeExpr isLessUnsigned(SizeExpr a, SizeExpr b) {
  if (!a || !b)
    return {};
  SizeExpr zero = SizeExpr::constant(a.getContext(), 0), less = isLess(a, b);
  SizeExpr isNegativeA = isLess(a, zero), isNegativeB = isLess(b, zero);
  return select(isEqual(isNegativeA, isNegativeB), less, isNegativeB);
}

static SizeExpr opposite(SizeExpr truth) { return truth * -1 + 1; }

static SizeExpr ofComparison(arith::CmpIPredicate predicate, SizeExpr a, SizeExpr b) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::eq:
    return isEqual(a, b);
  case Predicate::ne:
    return opposite(isEqual(a, b));
  case Predicate::slt:
    return isLess(a, b);
  case Predicate::sge:
    return opposite(isLess(a, b));
  case Predicate::sgt:
    return isLess(b, a);
  case Predicate::sle:
    return opposite(isLess(b, a));
  case Predicate::ult:
    return isLessUnsigned(a, b);
  case Predicate::uge:
    return opposite(isLessUnsigned(a, b));
  case Predicate::ugt:
    return isLessUnsigned(b, a);
  case Predicate::ule:
    return opposite(isLessUnsigned(b, a));
  }
  llvm_unreachable("expected a predicate");
}

/// 1 is true, where the operation takes or gives truths.
static SizeExpr ofTruths(Operation *op, ArrayRef<SizeExpr> operands) {
  SizeExpr a = operands[0], b = operands.back();
  return llvm::TypeSwitch<Operation *, SizeExpr>(op)
      .Case([&](arith::AndIOp) { return a * b; })
      .Case([&](arith::OrIOp) { return a + b - a * b; })
      .Case([&](arith::XOrIOp) { return a + b - a * b * 2; })
      .Default([](Operation *) { return SizeExpr(); });
}

static SizeExpr ofCast(Operation *op, SizeExpr operand) {
  bool isFromTruth = isTruth(op->getOperand(0).getType());
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return operand;
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op)) // true is -1
    return isFromTruth ? operand * -1 : operand;
  return {};
}

static SizeExpr ofArithmetic(Operation *op, ArrayRef<SizeExpr> operands) {
  SizeExpr a = operands[0], b = operands.back();
  return llvm::TypeSwitch<Operation *, SizeExpr>(op)
      .Case([&](arith::AddIOp) { return a + b; })
      .Case([&](arith::SubIOp) { return a - b; })
      .Case([&](arith::MulIOp) { return a * b; })
      .Case([&](arith::FloorDivSIOp) { return floorDivide(a, b); })
      .Case([&](arith::CeilDivSIOp) { return ceilDivide(a, b); })
      .Case([&](arith::DivSIOp) { return truncateDivide(a, b); })
      .Case([&](arith::RemSIOp) { return truncateRemainder(a, b); })
      .Case([&](arith::DivUIOp) { return divideUnsigned(a, b); })
      .Case([&](arith::RemUIOp) { return remainderUnsigned(a, b); })
      .Case([&](arith::CeilDivUIOp) {
        if (isNeverNegative(a) && isNeverNegative(b))
          return ceilDivide(a, b);
        SizeExpr zero = SizeExpr::constant(op->getContext(), 0);
        return divideUnsigned(a, b) + opposite(isEqual(remainderUnsigned(a, b), zero));
      })
      .Case([&](arith::MinSIOp) { return minimum(a, b); })
      .Case([&](arith::MaxSIOp) { return maximum(a, b); })
      .Case([&](arith::MinUIOp) { return select(isLessUnsigned(a, b), a, b); })
      .Case([&](arith::MaxUIOp) { return select(isLessUnsigned(a, b), b, a); })
      .Case([&](arith::CmpIOp compare) { return ofComparison(compare.getPredicate(), a, b); })
      .Case([&](affine::AffineApplyOp apply) { return ofMap(apply.getAffineMap(), operands, minimum); })
      .Case([&](affine::AffineMinOp min) { return ofMap(min.getMap(), operands, minimum); })
      .Case([&](affine::AffineMaxOp max) { return ofMap(max.getMap(), operands, maximum); })
      .Default([&](Operation *other) { return ofCast(other, a); });
}

SizeExpr mlir::resid::boundary::toSizeExpression(Operation *op, llvm::function_ref<SizeExpr(Value)> operand) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  if (!type || !(isSizeType(type) || isTruth(type)))
    return {};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    int64_t value = cast<IntegerAttr>(constant.getValue()).getInt();
    return SizeExpr::constant(op->getContext(), isTruth(type) ? value & 1 : value);
  }
  if (!isa_and_nonnull<arith::ArithDialect, affine::AffineDialect>(op->getDialect()))
    return {};
  SmallVector<SizeExpr> operands;
  for (Value value : op->getOperands()) {
    bool isKnown = isSizeType(value.getType()) || isTruth(value.getType());
    operands.push_back(isKnown ? operand(value) : SizeExpr());
    if (!operands.back())
      return {};
  }
  if (operands.empty())
    return isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op) ? ofArithmetic(op, {SizeExpr()})
                                                                                    : SizeExpr();
  if (isa<arith::SelectOp>(op))
    return select(operands[0], operands[1], operands[2]);
  bool isOfTruths = llvm::all_of(op->getOperandTypes(), isTruth) && isTruth(type);
  return isOfTruths ? ofTruths(op, operands) : ofArithmetic(op, operands);
}

Value mlir::resid::boundary::getDivisor(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp>(op)
             ? op->getOperand(1)
             : Value();
}
