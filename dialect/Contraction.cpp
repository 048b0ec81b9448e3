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

std::optional<Contraction> resid::matchProductSum(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumReductionLoops() + op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  OpOperand *a = op.getDpsInputOperand(0), *b = op.getDpsInputOperand(1), *init = op.getDpsInitOperand(0);
  AffineMap aMap = op.getMatchingIndexingMap(a), bMap = op.getMatchingIndexingMap(b),
            outMap = op.getMatchingIndexingMap(init);
  for (AffineMap map : {aMap, bMap, outMap})
    if (!map.isProjectedPermutation())
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
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (outMap.isFunctionOfDim(loop) == (kind == utils::IteratorType::reduction))
      return std::nullopt;
  Builder builder(op.getContext());
  return Contraction{op, a, b, init, isWide ? builder.getF64Type() : builder.getF32Type()};
}

std::optional<Contraction> resid::matchContraction(linalg::LinalgOp op) {
  std::optional<Contraction> found = matchProductSum(op);
  if (!found)
    return std::nullopt;
  AffineMap aMap = found->getMap(found->a), bMap = found->getMap(found->b);
  for (unsigned loop = 0; loop != op.getNumLoops(); ++loop)
    if (aMap.isFunctionOfDim(loop) != bMap.isFunctionOfDim(loop))
      return found;
  return std::nullopt;
}
