// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopForm.h.

#include "passes/grad/LoopForm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/grad/Activity.h"

using namespace mlir;
using namespace mlir::resid;

LoopSources::LoopSources(scf::ForOp loop, const DenseSet<Value> &needed, const Forward &forward) : loop(loop) {
  SetVector<Value> reads;
  getUsedValuesDefinedAbove(loop.getRegion(), reads);
  for (Value read : reads)
    if (hasGradient(read.getType()) && needed.contains(read))
      captured.push_back(read);
  // A carry that starts without a gradient may get one from another.
  ValueRange inits = loop.getInitArgs(), yields = loop.getYieldedValues();
  for (size_t before = -1; before != carries.size();) {
    before = carries.size();
    Activity activity(*loop.getBody(), getAll());
    carries.clear();
    for (unsigned index = 0; index != inits.size(); ++index)
      if (hasGradient(inits[index].getType()) && !forward.isStack(loop.getResult(index)) &&
          (needed.contains(inits[index]) || activity.needed.contains(yields[index])))
        carries.push_back(index);
  }
}

SmallVector<Value> LoopSources::getAll() const {
  SmallVector<Value> all(captured);
  scf::ForOp op = loop;
  for (unsigned index : carries)
    all.push_back(op.getRegionIterArg(index));
  return all;
}

FailureOr<LoopBounds> LoopBounds::find(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  if (lower && upper && step && *step > 0 && loop.getInductionVar().getType().isIndex())
    return LoopBounds{*lower, *step,
                      Builder(loop.getContext())
                          .getIndexAttr(*upper > *lower ? llvm::divideCeil(uint64_t(*upper - *lower), *step) : 0)};
  if (lower == 0 && step == 1 && loop.getUpperBound().getDefiningOp<tensor::DimOp>())
    return LoopBounds{0, 1, loop.getUpperBound()};
  return loop.emitOpError("has no gradient with these bounds: expected constants, or a loop from 0 in steps of 1 to a "
                          "size of a tensor");
}
