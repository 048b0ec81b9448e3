// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/Segments.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

/// The values that the operations of [begin, end) take from those of their block that stand before `begin`. Not rows,
/// which are places.
static SmallVector<Value> findCarriedInto(Block &block, Block::iterator begin, Block::iterator end) {
  SetVector<Value> carried;
  for (Operation &op : llvm::make_range(begin, end))
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *source = operand.getDefiningOp())
          if (source->getBlock() == &block && source->isBeforeInBlock(&*begin) && !isa<RowType>(operand.getType()))
            carried.insert(operand);
    });
  return carried.takeVector();
}

SmallVector<Segment> rows::findSegments(KernelOp kernel) {
  Block &block = kernel.getBody().front();
  SmallVector<Segment> segments{{block.begin(), block.end(), {}}};
  bool isFirst = true;
  for (auto phase : block.getOps<PhaseOp>()) {
    if (std::exchange(isFirst, false))
      continue;
    segments.back().end = phase->getIterator();
    segments.push_back({phase->getIterator(), block.end(), {}});
  }
  for (Segment &segment : segments)
    segment.carried = findCarriedInto(block, segment.begin, segment.end);
  return segments;
}

std::optional<EndPhases> EndPhases::find(KernelOp kernel) {
  auto phases = llvm::to_vector(kernel.getBody().front().getOps<PhaseOp>());
  if (phases.size() < 2)
    return std::nullopt;
  return EndPhases{phases.front(), phases.back()};
}

llvm::iterator_range<Block::iterator> EndPhases::getBegin() const {
  Operation *op = first;
  return llvm::make_range(op->getBlock()->begin(), std::next(op->getIterator()));
}

llvm::iterator_range<Block::iterator> EndPhases::getMiddle() const {
  Operation *from = first, *to = last;
  return llvm::make_range(std::next(from->getIterator()), to->getIterator());
}

llvm::iterator_range<Block::iterator> EndPhases::getEnd() const {
  Operation *op = last;
  return llvm::make_range(std::next(op->getIterator()), op->getBlock()->end());
}

SmallVector<Value> EndPhases::findCarried() const {
  Operation *op = last;
  return findCarriedInto(*op->getBlock(), op->getIterator(), op->getBlock()->end());
}

bool EndPhases::storeToOneRow() const {
  PhaseOp from = first, to = last;
  auto later = to.getBody().front().getOps<StoreOp>();
  return llvm::any_of(from.getBody().front().getOps<StoreOp>(), [&](StoreOp store) {
    return llvm::any_of(later, [&](StoreOp other) { return store.getRow() == other.getRow(); });
  });
}
