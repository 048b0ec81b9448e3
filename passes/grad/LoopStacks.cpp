// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopStacks.h.

#include "passes/grad/LoopStacks.h"

#include "dialect/Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

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

std::optional<SmallVector<OpFoldResult>> resid::findSizes(OpBuilder &builder, scf::ForOp loop, Value value) {
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

Value resid::takeFromStack(ImplicitLocOpBuilder &builder, Type type, Value stack, Value slot) {
  auto slice = dyn_cast<RankedTensorType>(type);
  if (!slice)
    return tensor::ExtractOp::create(builder, stack, slot);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), stack);
  sizes.front() = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return extractSlice(builder, builder.getLoc(), slice, stack, getOffsets(builder, slot, slice.getRank()), sizes,
                      strides);
}

Value resid::scaleIndex(ImplicitLocOpBuilder &builder, Value index, int64_t factor, int64_t term) {
  if (factor != 1)
    index = arith::MulIOp::create(builder, index, arith::ConstantIndexOp::create(builder, factor));
  return term == 0 ? index : arith::AddIOp::create(builder, index, arith::ConstantIndexOp::create(builder, term));
}

void resid::addStacks(scf::ForOp loop, const LoopBounds &bounds, ArrayRef<Value> saved, Forward &forward) {
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
