// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/PlaceNumbers.h"
#include "codegen/cuda/points/SerialLoops.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/IndependentLoops.h"
#include "codegen/kernels/KernelOpInterface.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

namespace {

/// A use of a slice, or of another view of it.
struct SliceUse {
  OpOperand *operand;
  /// The op of the host that it stands in, or is.
  Operation *user;
  /// Whether the view has all elements of the slice.
  bool isWhole;
};

class MovedSlice {
public:
  MovedSlice(memref::SubViewOp slice, NumberCopies &copies) : slice(slice), loc(slice.getLoc()), copies(copies) {}

  void move();

private:
  bool collectUses(Value view, bool isWhole);
  bool moveCopy(memref::CopyOp copy);
  void readInNest(linalg::GenericOp nest);
  void moveUse(Operation *user, Value elements);
  /// The index of the slice's source for an element of the slice, before `place`.
  SmallVector<Value> locate(OpBuilder &builder, ValueRange indices, Operation *place);
  void gather(Operation *place, Value elements);
  void scatter(OpBuilder builder, Value elements);
  SmallVector<OpFoldResult> getSizes();

  memref::SubViewOp slice;
  Location loc;
  NumberCopies &copies;
  SmallVector<SliceUse> uses;
};

} // namespace

/// Those of the slice's own dimensions.
SmallVector<OpFoldResult> MovedSlice::getSizes() {
  SmallVector<OpFoldResult> sizes;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [dimension, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(dimension))
      sizes.push_back(size);
  return sizes;
}

SmallVector<Value> MovedSlice::locate(OpBuilder &builder, ValueRange indices, Operation *place) {
  SmallVector<Value> located;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  auto toValue = [&](OpFoldResult number) { return getValueOrCreateConstantIndexOp(builder, loc, number); };
  for (auto [dimension, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    Value at = toValue(offset);
    if (isFromMemory(at))
      at = copies.compute(at, place);
    if (!dropped.test(dimension)) {
      Value distance =
          builder.createOrFold<arith::MulIOp>(loc, indices.front(), toValue(slice.getMixedStrides()[dimension]));
      at = builder.createOrFold<arith::AddIOp>(loc, at, distance);
      indices = indices.drop_front();
    }
    located.push_back(at);
  }
  return located;
}

/// A thread for each element, which reads it.
void MovedSlice::gather(Operation *place, Value elements) {
  OpBuilder builder(place);
  int64_t rank = slice.getType().getRank();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto nest = linalg::GenericOp::create(builder, loc, ValueRange(), elements, builder.getMultiDimIdentityMap(rank),
                                        loops, [](OpBuilder &, Location, ValueRange) {});
  OpBuilder inner = OpBuilder::atBlockEnd(nest.getBody());
  SmallVector<Value> indices;
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    indices.push_back(linalg::IndexOp::create(inner, loc, dimension));
  Value element = memref::LoadOp::create(inner, loc, slice.getSource(), locate(inner, indices, nest));
  linalg::YieldOp::create(inner, loc, element);
}

/// A step for each element, which writes it.
void MovedSlice::scatter(OpBuilder builder, Value elements) {
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value zero = index(0), one = index(1), count = one;
  SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(builder, loc, getSizes());
  for (Value size : sizes)
    count = builder.createOrFold<arith::MulIOp>(loc, count, size);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
  loop->setAttr(kernels::kIndependentAttribute, builder.getUnitAttr());
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  SmallVector<Value> indices(sizes.size());
  Value rest = loop.getInductionVar();
  for (int64_t dimension = int64_t(sizes.size()) - 1; dimension >= 0; --dimension) {
    indices[dimension] = builder.createOrFold<arith::RemUIOp>(loc, rest, sizes[dimension]);
    rest = builder.createOrFold<arith::DivUIOp>(loc, rest, sizes[dimension]);
  }
  Value element = memref::LoadOp::create(builder, loc, elements, indices);
  SmallVector<Value> place = locate(builder, indices, loop.getBody()->getTerminator());
  memref::StoreOp::create(builder, loc, element, slice.getSource(), place);
}

//===------------------------------------------- uses -------------------------------------------------------------===//

/// The loops that become one kernel around an op, or the op that the host's loops and branches hold.
static Operation *findUser(Operation *op) {
  if (scf::ForOp loops = findSerialLoops(op))
    return loops;
  while (!isa<func::FuncOp>(op->getParentOp()) && !isa_and_present<scf::SCFDialect>(op->getParentOp()->getDialect()))
    op = op->getParentOp();
  return op;
}

/// False where a view goes where it cannot be followed.
bool MovedSlice::collectUses(Value view, bool isWhole) {
  for (OpOperand &use : view.getUses()) {
    Operation *user = use.getOwner();
    bool isShape = isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(user);
    if (isShape || isa<memref::SubViewOp>(user)) {
      if (!collectUses(user->getResult(0), isWhole && isShape))
        return false;
    } else if (isa<DestinationStyleOpInterface, memref::CopyOp, memref::LoadOp, memref::StoreOp>(user)) {
      uses.push_back({&use, findUser(user), isWhole});
    } else if (!isa<memref::DimOp>(user)) {
      return false;
    }
  }
  return true;
}

static bool writes(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(user))
    return destination.isDpsInit(&use);
  if (auto copy = dyn_cast<memref::CopyOp>(user))
    return use.getOperandNumber() == 1;
  return isa<memref::StoreOp>(user);
}

/// Whether the op needs what was there, be it because it leaves some of it.
static bool reads(const SliceUse &use) {
  Operation *user = use.operand->getOwner();
  if (!writes(*use.operand) || !use.isWhole || isa<memref::StoreOp>(user) || user != use.user)
    return true;
  if (auto kernel = dyn_cast<kernels::KernelOpInterface>(user))
    return kernel.readsInit(*use.operand);
  auto nest = dyn_cast<linalg::LinalgOp>(user);
  return nest && nest.payloadUsesValueFromOperand(use.operand);
}

/// The same view of `elements`, which are those of the slice.
static Value rebuildView(Value view, memref::SubViewOp slice, Value elements, OpBuilder &builder) {
  if (view == slice.getResult())
    return elements;
  Operation *op = view.getDefiningOp();
  Value source = rebuildView(op->getOperand(0), slice, elements, builder);
  Location loc = op->getLoc();
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return memref::CollapseShapeOp::create(builder, loc, source, collapse.getReassociationIndices());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return memref::ExpandShapeOp::create(builder, loc, expand.getResultType().getShape(), source,
                                         expand.getReassociationIndices(), expand.getMixedOutputShape());
  auto part = dyn_cast<memref::SubViewOp>(op);
  if (!part)
    return source;
  auto type = memref::SubViewOp::inferRankReducedResultType(part.getType().getShape(),
                                                            cast<MemRefType>(source.getType()), part.getMixedOffsets(),
                                                            part.getMixedSizes(), part.getMixedStrides());
  return memref::SubViewOp::create(builder, loc, cast<MemRefType>(type), source, part.getMixedOffsets(),
                                   part.getMixedSizes(), part.getMixedStrides());
}

/// A copy of the slice needs no array between; whether it was one.
bool MovedSlice::moveCopy(memref::CopyOp copy) {
  Value source = copy.getSource(), target = copy.getTarget();
  if (source == slice.getResult() && kernels::areDisjoint(target, slice.getSource()))
    gather(copy, target);
  else if (target == slice.getResult() && kernels::areDisjoint(source, slice.getSource()))
    scatter(OpBuilder(copy), source);
  else
    return false;
  copy.erase();
  return true;
}

/// A nest reads elements of the slice itself. What is left of an input says how far loops go.
void MovedSlice::readInNest(linalg::GenericOp nest) {
  OpBuilder builder(nest), inner = OpBuilder::atBlockBegin(nest.getBody());
  for (OpOperand *input : nest.getDpsInputOperands()) {
    BlockArgument argument = nest.getMatchingBlockArgument(input);
    if (input->get() != slice.getResult())
      continue;
    SmallVector<OpFoldResult> begin(slice.getMixedOffsets().size(), builder.getIndexAttr(0));
    auto type = memref::SubViewOp::inferRankReducedResultType(slice.getType().getShape(), slice.getSourceType(), begin,
                                                              slice.getMixedSizes(), slice.getMixedStrides());
    input->set(memref::SubViewOp::create(builder, loc, cast<MemRefType>(type), slice.getSource(), begin,
                                         slice.getMixedSizes(), slice.getMixedStrides()));
    SmallVector<Value> loops = llvm::map_to_vector(llvm::seq<int64_t>(nest.getNumLoops()), [&](int64_t loop) -> Value {
      return linalg::IndexOp::create(inner, loc, loop);
    });
    SmallVector<Value> indices = *affine::expandAffineMap(inner, loc, nest.getMatchingIndexingMap(input), loops);
    Value element = memref::LoadOp::create(inner, loc, slice.getSource(), locate(inner, indices, nest));
    argument.replaceAllUsesWith(element);
  }
}

void MovedSlice::moveUse(Operation *user, Value elements) {
  OpBuilder builder(user);
  bool isRead = false, isWritten = false;
  for (const SliceUse &use : uses) {
    if (use.user != user)
      continue;
    isRead |= reads(use);
    isWritten |= writes(*use.operand);
    use.operand->set(rebuildView(use.operand->get(), slice, elements, builder));
  }
  if (isRead)
    gather(user, elements);
  builder.setInsertionPointAfter(user);
  if (isWritten)
    scatter(builder, elements);
}

void MovedSlice::move() {
  if (!collectUses(slice, /*isWhole=*/true))
    return;
  llvm::SetVector<Operation *> users;
  for (const SliceUse &use : uses)
    users.insert(use.user);
  Value elements;
  IRRewriter rewriter(slice.getContext());
  auto isRead = [&](linalg::LinalgOp nest) {
    return llvm::all_of(uses, [&](const SliceUse &use) {
      return use.user != nest || (use.operand->getOwner() == nest && use.operand->get() == slice.getResult() &&
                                  nest.isDpsInput(use.operand));
    });
  };
  for (Operation *user : users) {
    if (auto copy = dyn_cast<memref::CopyOp>(user); copy && moveCopy(copy))
      continue;
    if (auto nest = dyn_cast<linalg::LinalgOp>(user); nest && isRead(nest)) {
      rewriter.setInsertionPoint(nest);
      auto generic = dyn_cast<linalg::GenericOp>(user);
      FailureOr<linalg::GenericOp> general = generic ? generic : linalg::generalizeNamedOp(rewriter, nest);
      if (succeeded(general))
        readInNest(*general);
      continue;
    }
    if (!elements) {
      OpBuilder builder(slice);
      auto [sizes, values] = decomposeMixedValues(getSizes());
      auto type = MemRefType::get(sizes, slice.getType().getElementType());
      elements = memref::AllocOp::create(builder, loc, type, values);
    }
    moveUse(user, elements);
  }
}

void cuda::moveSlices(ModuleOp module, NumberCopies &copies) {
  SmallVector<memref::SubViewOp> slices;
  module.walk([&](memref::SubViewOp slice) {
    bool isPlaced = llvm::any_of(slice.getOffsets(), isFromMemory) && llvm::none_of(slice.getSizes(), isFromMemory) &&
                    llvm::none_of(slice.getStrides(), isFromMemory);
    if (isPlaced && !findSerialLoops(slice))
      slices.push_back(slice);
  });
  // A slice of a slice comes first.
  for (memref::SubViewOp slice : llvm::reverse(slices))
    MovedSlice(slice, copies).move();
}
