// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of scf.for: the backward is a loop that runs the other way. What the rules of its body read is saved for
// every iteration, in tensors with one more dimension in front, *stacks*. Iterations are counted from 0 in slots.

#include "dialect/Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/grad/Activity.h"
#include "passes/grad/BlockRules.h"
#include "passes/grad/Gradients.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

//===------------------------------------------- what goes in and comes out ----------------------------------------===//

namespace {
/// The values through which gradients enter and leave the body.
struct LoopSources {
  LoopSources(scf::ForOp loop, const DenseSet<Value> &needed, const Forward &forward);

  SmallVector<Value> getAll() const;

  scf::ForOp loop;
  /// The numbers of the carries that have gradients.
  SmallVector<unsigned> carries;
  /// What the body reads from outside.
  SmallVector<Value> captured;
};

/// Iterations are counted from 0 in slots.
struct LoopBounds {
  static FailureOr<LoopBounds> find(scf::ForOp loop);

  int64_t lower, step;
  /// How often the loop runs, as the forward has it.
  OpFoldResult count;
};
} // namespace

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

namespace {
/// The size of a dimension, by whatever tells it.
struct Size {
  Value tensor;
  int64_t dimension;
};
} // namespace

/// The dimension that has the size with which a tensor was made.
static std::optional<Size> findMeasured(Value value, int64_t dimension) {
  OpFoldResult size;
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    size = empty.getMixedSizes()[dimension];
  else if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>(); slice && slice.getDroppedDims().none())
    size = slice.getMixedSizes()[dimension];
  auto index = dyn_cast_if_present<Value>(size);
  auto measured = index ? index.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (!measured || !measured.getConstantIndex() || !isa<RankedTensorType>(measured.getSource().getType()))
    return std::nullopt;
  return Size{measured.getSource(), *measured.getConstantIndex()};
}

/// The size of a value of the body where the loop begins; none where it shows only inside.
static std::optional<OpFoldResult> findSize(OpBuilder &builder, scf::ForOp loop, Value value, int64_t dimension) {
  for (;;) {
    value = getShapeSource(value, dimension);
    if (auto type = cast<RankedTensorType>(value.getType()); !type.isDynamicDim(dimension))
      return builder.getIndexAttr(type.getDimSize(dimension));
    if (!loop.getRegion().isAncestor(value.getParentRegion()))
      return tensor::getMixedSize(builder, loop.getLoc(), value, dimension);
    if (std::optional<Size> size = findMeasured(value, dimension)) {
      value = size->tensor;
      dimension = size->dimension;
      continue;
    }
    auto carried = dyn_cast<BlockArgument>(value);
    if (!carried || carried.getOwner() != loop.getBody())
      return std::nullopt;
    value = loop.getTiedLoopInit(carried)->get();
  }
}

/// The sizes of a value of the body where the loop begins; none where they show only inside. A number has no sizes.
static std::optional<SmallVector<OpFoldResult>> findSizes(OpBuilder &builder, scf::ForOp loop, Value value) {
  SmallVector<OpFoldResult> sizes;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dimension = 0; type && dimension != type.getRank(); ++dimension) {
    std::optional<OpFoldResult> size = findSize(builder, loop, value, dimension);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// The place of a slot in a stack, for a value of that many dimensions.
static SmallVector<OpFoldResult> getOffsets(Builder &builder, Value slot, unsigned rank) {
  SmallVector<OpFoldResult> offsets(rank + 1, builder.getIndexAttr(0));
  offsets.front() = slot;
  return offsets;
}

/// The stack with the value in a slot. `sizes` are those of the value.
static Value putIntoStack(ImplicitLocOpBuilder &builder, Value value, Value stack, Value slot,
                          SmallVector<OpFoldResult> sizes) {
  if (!isa<RankedTensorType>(value.getType()))
    return tensor::InsertOp::create(builder, value, stack, slot);
  SmallVector<OpFoldResult> offsets = getOffsets(builder, slot, sizes.size());
  sizes.insert(sizes.begin(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return insertSlice(builder, builder.getLoc(), value, stack, offsets, sizes, strides);
}

/// The value, of `type`, in a slot.
static Value takeFromStack(ImplicitLocOpBuilder &builder, Type type, Value stack, Value slot) {
  auto slice = dyn_cast<RankedTensorType>(type);
  if (!slice)
    return tensor::ExtractOp::create(builder, stack, slot);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), stack);
  sizes.front() = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return extractSlice(builder, builder.getLoc(), slice, stack, getOffsets(builder, slot, slice.getRank()), sizes,
                      strides);
}

/// index·factor + term.
static Value scaleIndex(ImplicitLocOpBuilder &builder, Value index, int64_t factor, int64_t term) {
  if (factor != 1)
    index = arith::MulIOp::create(builder, index, arith::ConstantIndexOp::create(builder, factor));
  return term == 0 ? index : arith::AddIOp::create(builder, index, arith::ConstantIndexOp::create(builder, term));
}

/// Gives the loop a stack for each value, after its results, and notes that in `forward`. The loop becomes another op.
static void addStacks(scf::ForOp loop, const LoopBounds &bounds, ArrayRef<Value> saved, Forward &forward) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  SmallVector<Value> stacks;
  SmallVector<SmallVector<OpFoldResult>> sizes;
  for (Value value : saved) {
    sizes.push_back(*findSizes(builder, loop, value));
    SmallVector<OpFoldResult> all = sizes.back();
    all.insert(all.begin(), bounds.count);
    stacks.push_back(tensor::EmptyOp::create(builder, all, getElementTypeOrSelf(value.getType())));
  }
  auto fill = [&](OpBuilder &nested, Location location, ArrayRef<BlockArgument> arguments) {
    ImplicitLocOpBuilder inner(location, nested);
    Value slot = scaleIndex(inner, loop.getInductionVar(), 1, -bounds.lower);
    if (bounds.step != 1)
      slot = arith::DivUIOp::create(inner, slot, arith::ConstantIndexOp::create(inner, bounds.step));
    SmallVector<Value> filled;
    for (auto [value, stack, size] : llvm::zip_equal(saved, arguments, sizes))
      filled.push_back(putIntoStack(inner, value, stack, slot, size));
    return filled;
  };
  // Carries are other values in the new loop.
  auto numbers = llvm::map_to_vector(saved, [&](Value value) -> int64_t {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? int64_t(argument.getArgNumber()) : -1;
  });
  unsigned results = loop.getNumResults();
  IRRewriter rewriter(builder);
  rewriter.setInsertionPoint(loop);
  auto stacked = cast<scf::ForOp>(*cast<LoopLikeOpInterface>(*loop).replaceWithAdditionalYields(
      rewriter, stacks, /*replaceInitOperandUsesInLoop=*/false, fill));
  for (auto [index, value] : llvm::enumerate(saved)) {
    Value body = numbers[index] < 0 ? value : stacked.getBody()->getArgument(numbers[index]);
    forward.stacks[body] = stacked.getResult(results + index);
  }
}

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
