// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-rotate-pre-norm: rewrites the loops that LoopRotation finds. What is rotated, and why not, stands there.

#include "passes/Passes.h"
#include "passes/rewrite/LoopRotation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::resid {
#define GEN_PASS_DEF_ROTATEPRENORM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

static bool usesCounter(const LoopRotation &rotation) {
  scf::ForOp loop = rotation.loop;
  Value counter = loop.getInductionVar();
  return llvm::any_of(rotation.tail, [&](Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          return llvm::is_contained(inner->getOperands(), counter) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

namespace {
/// Rewrites one loop: the first head, a loop of [tail head], the last tail.
class Rotator {
public:
  Rotator(OpBuilder &builder, LoopRotation &rotation)
      : builder(builder), rotation(rotation), loop(rotation.loop), loc(loop.getLoc()),
        readsCounter(usesCounter(rotation)) {
    builder.setInsertionPoint(loop);
  }

  void rotate() {
    SmallVector<Value> first = cloneHead(builder, loop.getLowerBound(), loop.getInitArgs());
    Value second = builder.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), loop.getStep());
    auto rotated = scf::ForOp::create(
        builder, loc, second, loop.getUpperBound(), loop.getStep(), first,
        [&](OpBuilder &inner, Location, Value counter, ValueRange state) {
          Value previous = readsCounter ? inner.createOrFold<arith::SubIOp>(loc, counter, loop.getStep()) : Value();
          SmallVector<Value> values = cloneTail(inner, previous, state);
          scf::YieldOp::create(inner, loc, cloneHead(inner, counter, values));
        },
        loop.getUnsignedCmp());
    rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    loop->replaceAllUsesWith(cloneTail(builder, readsCounter ? makeLastCounter() : Value(), rotated.getResults()));
    loop->erase();
  }

private:
  /// One head. Takes the values that the loop carries, returns those that the rotated one carries: in the stream's
  /// place stands what the tail reads.
  SmallVector<Value> cloneHead(OpBuilder &at, Value counter, ValueRange values) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), counter);
    mapping.map(loop.getRegionIterArgs(), values);
    for (Operation *op : rotation.head)
      at.clone(*op, mapping);
    SmallVector<Value> state;
    for (auto [index, value] : llvm::enumerate(loop.getYieldedValues()))
      if (index != rotation.stream)
        state.push_back(mapping.lookupOrDefault(value));
      else
        for (Value carried : rotation.carried)
          state.push_back(mapping.lookupOrDefault(carried));
    return state;
  }

  /// One tail, the way back: from what the rotated loop carries to what the loop carries.
  SmallVector<Value> cloneTail(OpBuilder &at, Value counter, ValueRange state) {
    ValueRange carried = state.slice(rotation.stream, rotation.carried.size());
    IRMapping mapping;
    if (counter)
      mapping.map(loop.getInductionVar(), counter);
    mapping.map(rotation.carried, carried);
    for (Operation *op : rotation.tail)
      at.clone(*op, mapping);
    SmallVector<Value> values(state.take_front(rotation.stream));
    values.push_back(mapping.lookup(loop.getYieldedValues()[rotation.stream]));
    llvm::append_range(values, state.drop_front(rotation.stream + rotation.carried.size()));
    return values;
  }

  /// lower + (upper - lower - 1) / step · step
  Value makeLastCounter() {
    Value lower = loop.getLowerBound(), step = loop.getStep();
    Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(lower.getType(), 1));
    Value distance = builder.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), lower);
    distance = builder.createOrFold<arith::SubIOp>(loc, distance, one);
    Value count = builder.createOrFold<arith::DivUIOp>(loc, distance, step);
    return builder.createOrFold<arith::AddIOp>(loc, lower, builder.createOrFold<arith::MulIOp>(loc, count, step));
  }

  OpBuilder &builder;
  LoopRotation &rotation;
  scf::ForOp loop;
  Location loc;
  bool readsCounter;
};

struct RotatePreNorm : resid::impl::RotatePreNormBase<RotatePreNorm> {
  using RotatePreNormBase::RotatePreNormBase;

  void runOnOperation() override {
    llvm::DenseSet<Operation *> running = findLoopsThatRun(getOperation());
    // Inner loops first: rotated, they hand their last add to the loop around them.
    getOperation()->walk([&](scf::ForOp loop) {
      SmallVector<RotationRefusal> refusals;
      std::optional<LoopRotation> rotation = findLoopRotation(loop, running.contains(loop), refusals);
      if (report)
        emitRefusals(refusals);
      if (!rotation)
        return;
      if (report)
        loop.emitRemark() << "rotated (bit-exact): the residual add of one iteration meets the norm of the next";
      OpBuilder builder(loop);
      Rotator(builder, *rotation).rotate();
    });
  }

  void emitRefusals(ArrayRef<RotationRefusal> refusals) {
    for (const RotationRefusal &refusal : refusals) {
      InFlightDiagnostic remark = refusal.op->emitRemark() << refusal.reason;
      if (refusal.place)
        remark.attachNote(refusal.place->getLoc()) << "found here";
    }
  }
};
} // namespace
