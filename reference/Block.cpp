// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Block: a residual sub-layer by the formula of its placement. The six formulas stand here once more, apart from
// the rules that the expansion follows, so that one can be held against the other.

#include "dialect/AddParts.h"
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

/// x, or one row of several streams.
FailureOr<Array> Interpreter::evaluateReadOf(BlockOp op, FailureOr<Array> x) {
  if (failed(x) || !op.getStreams())
    return x;
  Array weights = getOptional(op.getReadWeights());
  return handOnTaint(read(op, *x, op.getReadWeights(), op.getReadScale().convertToDouble(), op.getRowType()),
                     {*x, weights});
}

/// The add of dropout(f), with all clauses, or with several streams what they become.
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
  AddParts parts = getAddParts(op);
  Array gate = getOptional(parts.gate);
  if (op.getStreams()) {
    // To add -0 changes nothing.
    Array none = Array::zeros(op.getRowType(), f->getShape());
    llvm::fill(none.mutableFloats(), -0.0);
    if (parts.scalesBranch())
      f = handOnTaint(add(op, none, *f, parts, op.getRowType()), {*f, gate});
    if (failed(f))
      return failure();
    Array weights = getOptional(op.getWriteWeights()), mix = getOptional(op.getMix());
    return handOnTaint(
        write(op, *x, *f, op.getWriteWeights(), op.getMix(), /*isTransposed=*/false, op.getResult().getType()),
        {*x, *f, weights, mix});
  }
  return handOnTaint(add(op, *x, *f, parts, op.getResult().getType()),
                     {*x, *f, gate, getOptional(parts.skip), getOptional(parts.also), getOptional(parts.alsoScale)});
}

FailureOr<Array> Interpreter::evaluate(BlockOp op) {
  FailureOr<Array> x = get(op.getX());
  Type row = op.getRowType(), input = op.getBranch().getArgument(0).getType();
  auto f = [&](FailureOr<Array> value) { return evaluateBranchOf(op, std::move(value)); };
  auto n = [&](unsigned index, FailureOr<Array> value, Type type) {
    return evaluateNormOf(op, index, std::move(value), type);
  };
  // The first norm of the stream itself, which is a row of its own where it is the only one of several.
  auto normOfStream = [&](FailureOr<Array> value) -> FailureOr<Array> {
    if (failed(value) || !op.getStreams())
      return n(0, std::move(value), row);
    SmallVector<int64_t> shape(value->getShape()), one(shape);
    one.erase(one.end() - 2);
    FailureOr<Array> normalized = n(0, value->reshaped(one), row);
    return failed(normalized) ? normalized : FailureOr<Array>(normalized->reshaped(shape));
  };
  auto r = [&](FailureOr<Array> value) { return evaluateReadOf(op, std::move(value)); };
  auto sum = [&](FailureOr<Array> value, FailureOr<Array> branch) {
    return evaluateResidualOf(op, std::move(value), std::move(branch));
  };
  switch (op.getPlacement()) {
  case Placement::Post:
    return normOfStream(sum(x, f(r(x))));
  case Placement::Pre:
    return sum(x, f(n(0, r(x), input)));
  case Placement::BranchPost:
    return sum(x, n(0, f(r(x)), row));
  case Placement::Peri:
    return sum(x, n(1, f(n(0, r(x), input)), row));
  case Placement::PostShifted: {
    FailureOr<Array> h = normOfStream(x);
    return sum(h, f(r(h)));
  }
  case Placement::None:
    return sum(x, f(r(x)));
  }
  llvm_unreachable("a placement without a formula");
}

} // namespace mlir::resid::reference
