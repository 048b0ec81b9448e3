// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions beside loops and branches: switches, regions that run once, and loops in any order, whose turns run one after
// the other here.

#include "reference/Interpreter.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid::reference {

Interpreter::Results Interpreter::evaluate(scf::IndexSwitchOp op) {
  int64_t argument = get(op.getArg()).asInteger();
  for (auto [number, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions()))
    if (number == argument)
      return runBlock(region.front(), {});
  return runBlock(op.getDefaultRegion().front(), {});
}

Interpreter::Results Interpreter::evaluate(scf::ExecuteRegionOp op) {
  if (!op.getRegion().hasOneBlock())
    return LogicalResult(unsupported(op));
  return runBlock(op.getRegion().front(), {});
}

/// Runs `turn` for each tuple of counters, the last of which moves fastest; fails where a step is no step, or a turn
/// fails.
static LogicalResult forEachTurn(Operation *op, ArrayRef<int64_t> lower, ArrayRef<int64_t> upper,
                                 ArrayRef<int64_t> steps, llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> turn) {
  for (int64_t step : steps)
    if (step <= 0)
      return op->emitOpError() << "expected a step of 1 or more but got " << step;
  for (auto [from, to] : llvm::zip_equal(lower, upper))
    if (from >= to)
      return success();
  SmallVector<int64_t> counters(lower);
  while (true) {
    if (failed(turn(counters)))
      return failure();
    size_t place = counters.size();
    while (place > 0 && upper[place - 1] - counters[place - 1] <= steps[place - 1]) {
      counters[place - 1] = lower[place - 1];
      --place;
    }
    if (place == 0)
      return success();
    counters[place - 1] += steps[place - 1];
  }
}

Interpreter::Results Interpreter::evaluate(scf::ForallOp op) {
  SmallVector<Array> outputs = llvm::map_to_vector(op.getOutputs(), [&](Value v) { return get(v); });
  Block &body = *op.getBody();
  auto turn = [&](ArrayRef<int64_t> counters) -> LogicalResult {
    for (auto [variable, counter] : llvm::zip_equal(op.getInductionVars(), counters))
      (*frame)[variable] = Array::scalar(variable.getType(), counter);
    for (auto [argument, output] : llvm::zip_equal(op.getRegionIterArgs(), outputs))
      (*frame)[argument] = output;
    for (Operation &inner : body.without_terminator())
      if (failed(run(inner)))
        return failure();
    for (Operation &inner : op.getTerminator().getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(inner);
      if (!insert)
        return unsupported(&inner);
      auto argument = cast<BlockArgument>(insert.getDest());
      Array &output =
          outputs[op.getTiedOpOperand(argument)->getOperandNumber() - op.getOutputs().getBeginOperandIndex()];
      FailureOr<Array> result = insertSlice(insert, insert.getSource(), output, insert.getDroppedDims());
      if (failed(result))
        return failure();
      if (get(insert.getSource()).getAccuracy() || output.getAccuracy())
        result->setAccuracy(getToleranceAccuracy());
      output = *result;
    }
    return success();
  };
  if (failed(forEachTurn(op, getIntegers(op.getMixedLowerBound()), getIntegers(op.getMixedUpperBound()),
                         getIntegers(op.getMixedStep()), turn)))
    return failure();
  return outputs;
}

Interpreter::Results Interpreter::evaluate(scf::ParallelOp op) {
  auto integers = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return get(value).asInteger(); });
  };
  SmallVector<Array> sums = llvm::map_to_vector(op.getInitVals(), [&](Value v) { return get(v); });
  auto turn = [&](ArrayRef<int64_t> counters) -> LogicalResult {
    auto arguments = llvm::map_to_vector(
        counters, [&](int64_t counter) { return Array::scalar(IndexType::get(op.getContext()), counter); });
    Results terms = runBlock(*op.getBody(), arguments);
    if (failed(terms))
      return failure();
    auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
    for (auto [sum, term, region] : llvm::zip_equal(sums, *terms, reduce.getReductions())) {
      Results next = runBlock(region.front(), {sum, term});
      if (failed(next))
        return failure();
      sum = next->front();
    }
    return success();
  };
  if (failed(forEachTurn(op, integers(op.getLowerBound()), integers(op.getUpperBound()), integers(op.getStep()), turn)))
    return failure();
  return sums;
}

} // namespace mlir::resid::reference
