// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Block: a residual sub-layer by the formula of its placement. The six formulas stand here once more, apart from
// the rules that the expansion follows, so that one can be held against the other.

#include "dialect/Placement.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

/// Values that came from an inexact one are judged by tolerances; a norm sees to its own results.
static FailureOr<Array> handOnTaint(FailureOr<Array> result, ArrayRef<Array> inputs) {
  if (succeeded(result) && isAnyTainted(inputs))
    result->setAccuracy(getToleranceAccuracy());
  return result;
}

FailureOr<Array> Interpreter::evaluateNormOf(BlockOp op, unsigned index, FailureOr<Array> x, Type resultType) {
  if (failed(x))
    return failure();
  Results results = norm(op, *x, getBlockNorms(op)[index], resultType);
  if (failed(results))
    return failure();
  return results->front();
}

FailureOr<Array> Interpreter::evaluateBranchOf(BlockOp op, FailureOr<Array> input) {
  if (failed(input))
    return failure();
  Results yielded = runBlock(op.getBranch().front(), *input);
  if (failed(yielded))
    return failure();
  return yielded->front();
}

/// a·x + branch_scale·(gate ⊙ dropout(f))
FailureOr<Array> Interpreter::evaluateResidualOf(BlockOp op, FailureOr<Array> x, FailureOr<Array> f) {
  if (failed(x) || failed(f))
    return failure();
  if (op.hasDropout()) {
    DropoutParameters parameters = getDropoutParameters(op.getP()->convertToDouble(), *op.getSite(), op.getSeed(),
                                                        op.getStep(), getDropoutOrigin(op));
    f = handOnTaint(dropout(op, *f, parameters), *f);
    if (failed(f))
      return failure();
  }
  Array gate = getOptional(op.getGate());
  return handOnTaint(
      add(op, *x, *f, gate, op.getSkipScale().convertToDouble(), op.getBranchScale().convertToDouble(), op.getType()),
      {*x, *f, gate});
}

FailureOr<Array> Interpreter::evaluatePlacement(BlockOp op) {
  FailureOr<Array> x = get(op.getX());
  Type stream = op.getType(), input = op.getBranch().getArgument(0).getType();
  auto f = [&](FailureOr<Array> value) { return evaluateBranchOf(op, std::move(value)); };
  auto n = [&](unsigned index, FailureOr<Array> value, Type type) {
    return evaluateNormOf(op, index, std::move(value), type);
  };
  auto sum = [&](FailureOr<Array> value, FailureOr<Array> branch) {
    return evaluateResidualOf(op, std::move(value), std::move(branch));
  };
  switch (op.getPlacement()) {
  case Placement::Post:
    return n(0, sum(x, f(x)), stream);
  case Placement::Pre:
    return sum(x, f(n(0, x, input)));
  case Placement::BranchPost:
    return sum(x, n(0, f(x), stream));
  case Placement::Peri:
    return sum(x, n(1, f(n(0, x, input)), stream));
  case Placement::PostShifted: {
    FailureOr<Array> h = n(0, x, stream);
    return sum(h, f(h));
  }
  case Placement::None:
    return sum(x, f(x));
  }
  llvm_unreachable("a placement without a formula");
}

} // namespace mlir::resid::reference
