// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

/// What `value` is, through casts between float types.
static Value skipCasts(Value value) {
  while (isa_and_present<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Whether `body` yields `acc` plus the product of `a` and `b`.
static bool accumulatesProducts(Block &body, Value a, Value b, Value acc) {
  Value sum = skipCasts(body.getTerminator()->getOperand(0));
  auto areFactors = [&](Value x, Value y) {
    x = skipCasts(x), y = skipCasts(y);
    return (x == a && y == b) || (x == b && y == a);
  };
  if (auto fma = sum.getDefiningOp<math::FmaOp>())
    return skipCasts(fma.getC()) == acc && areFactors(fma.getA(), fma.getB());
  auto addition = sum.getDefiningOp<arith::AddFOp>();
  if (!addition)
    return false;
  for (auto [old, term] :
       {std::pair(addition.getLhs(), addition.getRhs()), std::pair(addition.getRhs(), addition.getLhs())})
    if (auto product = skipCasts(term).getDefiningOp<arith::MulFOp>())
      if (skipCasts(old) == acc && areFactors(product.getLhs(), product.getRhs()))
        return true;
  return false;
}

static bool isFloat(Type type) { return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type); }

/// Whether the op has two inputs, one result and the maps of a sum of products.
static bool hasMapsOfSum(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumReductionLoops() + op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  return llvm::none_of(llvm::enumerate(op.getIteratorTypesArray()), [&](auto loop) {
    return outMap.isFunctionOfDim(loop.index()) == (loop.value() == utils::IteratorType::reduction);
  });
}

static Contraction makeContraction(linalg::LinalgOp op, Type arithmetic) {
  return {op, op.getDpsInputOperand(0), op.getDpsInputOperand(1), op.getDpsInitOperand(0), arithmetic};
}

std::optional<Contraction> resid::matchProductSum(linalg::LinalgOp op) {
  if (!hasMapsOfSum(op))
    return std::nullopt;
  Block &body = *op.getBlock();
  bool isWide = false;
  for (Value argument : body.getArguments()) {
    if (!isFloat(argument.getType()))
      return std::nullopt;
    isWide |= argument.getType().isF64();
  }
  if (!accumulatesProducts(body, body.getArgument(0), body.getArgument(1), body.getArgument(2)))
    return std::nullopt;
  Builder builder(op.getContext());
  return makeContraction(op, isWide ? builder.getF64Type() : builder.getF32Type());
}

/// Whether some loop is in one factor only.
static bool hasLoopOfOneFactor(Contraction contraction) {
  AffineMap aMap = contraction.getMap(contraction.a), bMap = contraction.getMap(contraction.b);
  return llvm::any_of(llvm::seq<unsigned>(0, contraction.op.getNumLoops()),
                      [&](unsigned loop) { return aMap.isFunctionOfDim(loop) != bMap.isFunctionOfDim(loop); });
}

std::optional<Contraction> resid::matchContraction(linalg::LinalgOp op) {
  std::optional<Contraction> found = matchProductSum(op);
  return found && hasLoopOfOneFactor(*found) ? found : std::nullopt;
}

std::optional<Contraction> resid::matchIntegerContraction(linalg::LinalgOp op) {
  if (!hasMapsOfSum(op))
    return std::nullopt;
  Block &body = *op.getBlock();
  Value a = body.getArgument(0), b = body.getArgument(1), acc = body.getArgument(2);
  auto sum = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!a.getType().isInteger(8) || !b.getType().isInteger(8) || !acc.getType().isInteger(32) || !sum)
    return std::nullopt;
  auto isWidened = [](Value value, Value argument) {
    auto widening = value.getDefiningOp<arith::ExtSIOp>();
    return widening && widening.getIn() == argument;
  };
  bool isFirst = sum.getLhs() == acc;
  auto product = (isFirst ? sum.getRhs() : sum.getLhs()).getDefiningOp<arith::MulIOp>();
  if (!product || (isFirst ? sum.getLhs() : sum.getRhs()) != acc)
    return std::nullopt;
  Value x = product.getLhs(), y = product.getRhs();
  if (!(isWidened(x, a) && isWidened(y, b)) && !(isWidened(x, b) && isWidened(y, a)))
    return std::nullopt;
  Contraction found = makeContraction(op, acc.getType());
  return hasLoopOfOneFactor(found) ? std::optional(found) : std::nullopt;
}

std::optional<Contraction> resid::matchAnyContraction(linalg::LinalgOp op) {
  std::optional<Contraction> found = matchContraction(op);
  return found ? found : matchIntegerContraction(op);
}
