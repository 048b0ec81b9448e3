// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of scf.for: the backward is a loop that runs the other way. What the rules of its body read is saved for
// every iteration, in tensors with one more dimension, *stacks*.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/grad/Activity.h"
#include "passes/grad/BlockRules.h"
#include "passes/grad/LoopStacks.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// Runs the rules of the body on gradients of what it carries on; the gradients of what it was handed, then of what it
/// captures. `sums` are those so far.
static FailureOr<SmallVector<Value>> differentiateBody(const LoopSources &sources, Gradients &gradients,
                                                       ValueRange sums) {
  scf::ForOp loop = sources.loop;
  ValueRange yields = loop.getYieldedValues();
  unsigned count = sources.carries.size();
  for (auto [index, sum] : llvm::zip_equal(sources.carries, sums.take_front(count)))
    gradients.add(yields[index], sum);
  for (auto [value, sum] : llvm::zip_equal(sources.captured, sums.drop_front(count)))
    gradients.add(value, sum);
  if (failed(differentiateBlock(*loop.getBody(), sources.getAll(), gradients)))
    return failure();
  SmallVector<Value> made;
  for (unsigned index : sources.carries) {
    Value carried = loop.getRegionIterArg(index), gradient = gradients.get(carried);
    made.push_back(gradient ? gradient : createZeros(gradients, carried));
  }
  for (Value value : sources.captured)
    made.push_back(gradients.get(value));
  return made;
}

/// What the rules of the body read of each iteration. They run for this alone, in a block that is thrown away.
static FailureOr<SetVector<Value>> findSaved(const LoopSources &sources, const Forward &forward) {
  scf::ForOp loop = sources.loop;
  Block scratch;
  OpBuilder builder(loop.getContext());
  builder.setInsertionPointToEnd(&scratch);
  auto addArgument = [&](Value like) -> Value { return scratch.addArgument(like.getType(), like.getLoc()); };
  SetVector<Value> saved;
  Gradients *nested = nullptr;
  auto getSaved = [&](Value value) -> Value {
    if (value == loop.getInductionVar() || !loop.getRegion().isAncestor(value.getParentRegion()))
      return addArgument(value);
    if (!findSizes(builder, loop, value))
      return nested->clone(cast<OpResult>(value));
    saved.insert(value);
    return addArgument(value);
  };
  DenseSet<Value> needed = Activity(*loop.getBody(), sources.getAll()).needed;
  Gradients gradients(builder, needed, loop.getRegion(), getSaved, forward);
  nested = &gradients;
  SmallVector<Value> sums;
  for (unsigned index : sources.carries)
    sums.push_back(addArgument(loop.getRegionIterArg(index)));
  for (Value value : sources.captured)
    sums.push_back(addArgument(value));
  if (failed(differentiateBody(sources, gradients, sums)))
    return failure();
  return saved;
}

/// The loop's gradient, in steps of `differentiate`.
static LogicalResult runBackward(const LoopSources &sources, const LoopBounds &bounds, scf::ForOp backward, Value last,
                                 Gradients &gradients) {
  scf::ForOp loop = sources.loop;
  OpBuilder body = OpBuilder::atBlockEnd(backward.getBody());
  ImplicitLocOpBuilder builder(loop.getLoc(), body);
  Value slot = arith::SubIOp::create(builder, last, backward.getInductionVar());
  Gradients *nested = nullptr;
  auto getSaved = [&](Value value) -> Value {
    ImplicitLocOpBuilder &inner = nested->getBuilder();
    if (value == loop.getInductionVar())
      return scaleIndex(inner, slot, bounds.step, bounds.lower);
    if (!loop.getRegion().isAncestor(value.getParentRegion()))
      return gradients.getPrimal(value);
    if (Value stack = gradients.getForward().stacks.lookup(value))
      return takeFromStack(inner, value.getType(), gradients.getPrimal(stack), slot);
    return nested->clone(cast<OpResult>(value));
  };
  DenseSet<Value> needed = Activity(*loop.getBody(), sources.getAll()).needed;
  Gradients inner(body, needed, loop.getRegion(), getSaved, gradients.getForward());
  nested = &inner;
  FailureOr<SmallVector<Value>> made = differentiateBody(sources, inner, backward.getRegionIterArgs());
  if (failed(made))
    return failure();
  builder.setInsertionPointToEnd(backward.getBody());
  scf::YieldOp::create(builder, *made);
  return success();
}

namespace {

struct ForRule : GradientOpInterface::ExternalModel<ForRule, scf::ForOp> {
  LogicalResult verifyRule(Operation *op, const DenseSet<Value> &needed) const {
    auto loop = cast<scf::ForOp>(op);
    return failure(
        failed(LoopBounds::find(loop)) ||
        failed(verifyBlock(*loop.getBody(), LoopSources(loop, needed, Forward(GradSave::Default)).getAll())));
  }

  LogicalResult prepareForward(Operation *op, OpBuilder &, Forward &forward, const DenseSet<Value> &needed) const {
    LoopSources sources(cast<scf::ForOp>(op), needed, forward);
    if (failed(prepareBlock(*sources.loop.getBody(), sources.getAll(), forward)))
      return failure();
    FailureOr<SetVector<Value>> saved = findSaved(sources, forward);
    if (failed(saved))
      return failure();
    addStacks(sources.loop, *LoopBounds::find(sources.loop), saved->getArrayRef(), forward);
    return success();
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    LoopSources sources(cast<scf::ForOp>(op), gradients.getNeeded(), gradients.getForward());
    LoopBounds bounds = *LoopBounds::find(sources.loop);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    SmallVector<Value> inits;
    for (unsigned index : sources.carries) {
      Value dy = gradients.get(sources.loop.getResult(index));
      inits.push_back(dy ? dy : createZeros(gradients, sources.loop.getInitArgs()[index]));
    }
    for (Value value : sources.captured) {
      Value sum = gradients.take(value);
      inits.push_back(sum ? sum : createZeros(gradients, value));
    }
    Value zero = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
    Value count = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), createSize(gradients, bounds.count));
    Value last = arith::SubIOp::create(builder, count, one);
    auto backward = scf::ForOp::create(builder, zero, count, one, inits);
    // What the body reads from outside is made in front of the loop.
    builder.setInsertionPoint(backward);
    LogicalResult done = runBackward(sources, bounds, backward, last, gradients);
    builder.setInsertionPointAfter(backward);
    if (failed(done))
      return failure();
    unsigned next = 0;
    for (unsigned index : sources.carries)
      gradients.add(sources.loop.getInitArgs()[index], backward.getResult(next++));
    for (Value value : sources.captured)
      gradients.add(value, backward.getResult(next++));
    return success();
  }
};

} // namespace

void resid::registerLoopRules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, scf::SCFDialect *) { scf::ForOp::attachInterface<ForRule>(*context); });
}
