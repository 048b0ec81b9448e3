// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-track-destinations: buffers that results are written to, as tensors that the analysis of bufferization follows.

#include "codegen/buffers/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_TRACKDESTINATIONS
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

/// Writes into the tensor of a buffer first, and that into the buffer, which is no copy then.
static void writeThroughTensor(bufferization::MaterializeInDestinationOp op) {
  OpBuilder builder(op.getContext());
  Location loc = op.getLoc();
  // As early as can be, so that what becomes the result can be computed there.
  builder.setInsertionPointAfterValue(op.getDest());
  auto tensor = bufferization::ToTensorOp::create(builder, loc, op.getSource().getType(), op.getDest(),
                                                  /*restrict=*/true, /*writable=*/true);
  builder.setInsertionPoint(op);
  auto written = bufferization::MaterializeInDestinationOp::create(builder, loc, tensor.getType(), op.getSource(),
                                                                   tensor.getResult());
  op.getSourceMutable().assign(written.getResult());
  op.setRestrict(false);
}

/// Splits the destination's dimensions where the value's are joined, so that the value is written there as it is made.
/// Only where each dimension of the destination becomes at most one of unknown size.
static void writeBeforeJoining(bufferization::MaterializeInDestinationOp op) {
  auto joined = op.getSource().getDefiningOp<tensor::CollapseShapeOp>();
  if (!joined || !joined->hasOneUse())
    return;
  ArrayRef<int64_t> shape = joined.getSrcType().getShape();
  SmallVector<ReassociationIndices> dimensions = joined.getReassociationIndices();
  auto isUnknown = [&](int64_t dim) { return ShapedType::isDynamic(shape[dim]); };
  if (llvm::any_of(dimensions, [&](const ReassociationIndices &parts) { return llvm::count_if(parts, isUnknown) > 1; }))
    return;
  FailureOr<MemRefType> type =
      memref::ExpandShapeOp::computeExpandedType(cast<MemRefType>(op.getDest().getType()), shape, dimensions);
  if (failed(type))
    return;
  OpBuilder builder(op.getContext());
  Location loc = op.getLoc();
  builder.setInsertionPointAfterValue(op.getDest());
  SmallVector<OpFoldResult> sizes;
  for (auto [whole, parts] : llvm::enumerate(dimensions)) {
    int64_t known = 1;
    for (int64_t dim : parts)
      known *= isUnknown(dim) ? 1 : shape[dim];
    for (int64_t dim : parts) {
      if (!isUnknown(dim)) {
        sizes.push_back(builder.getIndexAttr(shape[dim]));
        continue;
      }
      Value size = memref::DimOp::create(builder, loc, op.getDest(), whole);
      if (known != 1)
        size = arith::DivUIOp::create(builder, loc, size, arith::ConstantIndexOp::create(builder, loc, known));
      sizes.push_back(size);
    }
  }
  auto split = memref::ExpandShapeOp::create(builder, loc, *type, op.getDest(), dimensions, sizes);
  op.getSourceMutable().assign(joined.getSrc());
  op.getDestMutable().assign(split);
  joined.erase();
}

/// Gives each reader of a fill one of its own: in place, one of them would need a copy of what the others overwrite. It
/// stands right before the reader, or the loop around it, so that its memory serves others till then.
static void fillForEachReader(linalg::FillOp fill) {
  if (!fill.getDpsInits().front().getDefiningOp<tensor::EmptyOp>())
    return;
  for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
    OpBuilder builder(fill->getBlock()->findAncestorOpInBlock(*use.getOwner()));
    use.set(builder.clone(*fill)->getResult(0));
  }
  fill.erase();
}

/// One branch of a condition writes to a fill, the other one hands it on: one fill for both, which is the buffer that
/// the condition hands on too.
static void fillForBothBranches(scf::IfOp condition) {
  if (condition.getNumResults() == 0)
    return;
  MutableArrayRef<OpOperand> written = condition.thenYield()->getOpOperands();
  for (auto [then, other] : llvm::zip_equal(written, condition.elseYield()->getOpOperands())) {
    auto fill = other.get().getDefiningOp<linalg::FillOp>();
    auto writer = then.get().getDefiningOp<DestinationStyleOpInterface>();
    OpOperand *start = writer ? writer.getTiedOpOperand(cast<OpResult>(then.get())) : nullptr;
    if (!fill || !start || start->get() != other.get() || condition->isAncestor(fill))
      continue;
    OpBuilder builder(condition);
    Value own = builder.clone(*fill)->getResult(0);
    start->set(own);
    other.set(own);
  }
}

/// A branch that hands on what others read, too, where the condition makes a result: it hands on a copy, which is made
/// in the result's buffer. That could not be the buffer of both.
static void copyForResult(Operation *condition) {
  if (!isa<scf::IfOp, scf::IndexSwitchOp>(condition))
    return;
  auto isDestination = [](Operation *user) { return isa<bufferization::MaterializeInDestinationOp>(user); };
  auto isElsewhere = [&](Operation *user) { return !condition->isAncestor(user); };
  for (OpResult result : condition->getResults()) {
    if (llvm::none_of(result.getUsers(), isDestination))
      continue;
    for (Region &branch : condition->getRegions()) {
      Operation *yield = branch.front().getTerminator();
      Value value = yield->getOperand(result.getResultNumber());
      if (branch.isAncestor(value.getParentRegion()) || llvm::none_of(value.getUsers(), isElsewhere))
        continue;
      OpBuilder builder(yield);
      Location loc = yield->getLoc();
      Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, value),
                                            cast<RankedTensorType>(value.getType()).getElementType());
      yield->setOperand(result.getResultNumber(), linalg::CopyOp::create(builder, loc, value, empty).getResult(0));
    }
  }
}

/// The same for tensors without contents: what one op is done with is no memory that another one has to wait for.
static void allocateForEachUser(tensor::EmptyOp empty) {
  for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
    OpBuilder builder(use.getOwner());
    use.set(builder.clone(*empty)->getResult(0));
  }
  empty.erase();
}

/// Gives each step of a loop a copy of a tensor from outside of the loop that it inserts into. The analysis of
/// bufferization takes an op that writes to the slice for a part of the insertion, and misses that the next step reads
/// what it overwrites. The copy stands before the op that makes the slice, so that this is made in its place.
static void copyForEachStep(tensor::InsertSliceOp insert) {
  if (getEnclosingRepetitiveRegion(insert.getOperation()) == getEnclosingRepetitiveRegion(insert.getDest()))
    return;
  Operation *maker = insert.getSource().getDefiningOp();
  OpBuilder builder(maker && maker->getBlock() == insert->getBlock() ? maker : insert);
  insert.getDestMutable().assign(bufferization::AllocTensorOp::create(builder, insert.getLoc(), insert.getDestType(),
                                                                      ValueRange(), insert.getDest()));
}

namespace {
struct TrackDestinations : public buffers::impl::TrackDestinationsBase<TrackDestinations> {
  void runOnOperation() override {
    SmallVector<linalg::FillOp> fills;
    SmallVector<bufferization::MaterializeInDestinationOp> writes;
    SmallVector<tensor::EmptyOp> empties;
    getOperation()->walk([&](Operation *op) {
      if (auto fill = dyn_cast<linalg::FillOp>(op); fill && fill.hasPureTensorSemantics())
        fills.push_back(fill);
      else if (auto empty = dyn_cast<tensor::EmptyOp>(op))
        empties.push_back(empty);
      else if (auto write = dyn_cast<bufferization::MaterializeInDestinationOp>(op);
               write && isa<MemRefType>(write.getDest().getType()) && write.getRestrict())
        writes.push_back(write);
    });
    getOperation()->walk(fillForBothBranches);
    getOperation()->walk(copyForResult);
    for (linalg::FillOp fill : fills)
      fillForEachReader(fill);
    for (tensor::EmptyOp empty : empties)
      allocateForEachUser(empty);
    getOperation()->walk(copyForEachStep);
    for (bufferization::MaterializeInDestinationOp write : writes) {
      writeBeforeJoining(write);
      writeThroughTensor(write);
    }
  }
};
} // namespace
