// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds such kernels, and emits them on the vector path. No more stack memory is needed than for one row at a time: in
// each step, the last phase of the row before reads its columns of the scratch rows before the first phase of the next
// row replaces them.

#include "codegen/cpu/rows/PipelinedRows.h"

#include "codegen/cpu/rows/VectorRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

namespace {

/// The phases of two rows that share a loop; null where a kernel has no two phases on the way of every row.
struct SharedPhases {
  rows::PhaseOp first, last;

  explicit SharedPhases(rows::KernelOp kernel) {
    auto phases = llvm::to_vector(kernel.getBody().front().getOps<rows::PhaseOp>());
    if (phases.size() < 2)
      return;
    first = phases.front();
    last = phases.back();
  }

  /// The operations before and in, between, and behind the two.
  auto getBegin() { return llvm::make_range(first->getBlock()->begin(), std::next(first->getIterator())); }
  auto getMiddle() { return llvm::make_range(std::next(first->getIterator()), last->getIterator()); }
  auto getEnd() { return llvm::make_range(std::next(last->getIterator()), first->getBlock()->end()); }

  /// What the last phase and the operations behind it take from those before.
  SmallVector<Value> findCarried();
};

} // namespace

SmallVector<Value> SharedPhases::findCarried() {
  SetVector<Value> carried;
  Block *block = last->getBlock();
  for (Operation &op : llvm::make_range(last->getIterator(), block->end()))
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *source = operand.getDefiningOp())
          if (source->getBlock() == block && source->isBeforeInBlock(last))
            carried.insert(operand);
    });
  return carried.takeVector();
}

/// Whether both phases store to one row.
static bool storeToOneRow(SharedPhases phases) {
  auto last = phases.last.getBody().front().getOps<rows::StoreOp>();
  return llvm::any_of(phases.first.getBody().front().getOps<rows::StoreOp>(), [&](rows::StoreOp store) {
    return llvm::any_of(last, [&](rows::StoreOp other) { return store.getRow() == other.getRow(); });
  });
}

static bool hasPhase(Operation &op) {
  return op.walk([](rows::PhaseOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

std::optional<std::string> cpu::findPipelineObstacle(rows::KernelOp kernel, const CPUTarget &target) {
  SharedPhases phases(kernel);
  if (!phases.first || phases.first.getReduced().empty() || !phases.last.getReduced().empty())
    return "no phase with sums comes before one without";
  if (llvm::any_of(phases.getEnd(), hasPhase))
    return "the last phase depends on a condition";
  if (countStepColumns(phases.first, target) != kLanes || countStepColumns(phases.last, target) != kLanes)
    return "registers are too narrow for 64 columns at a time";
  // Where rows do not begin at cache lines, the result of the last phase would stay there until its row is complete.
  if (storeToOneRow(phases))
    return "the first and the last phase share a row on the stack";
  return std::nullopt;
}

//===------------------------------------------- the emitter ------------------------------------------------------===//

/// For each row, the last phase of the row before, if there is one, together with the first phase, and what stands
/// between the two; the last phase of the last row. So only these two phases are emitted twice, alone and together.
void VectorRowEmitter::emitPipelinedRows(rows::KernelOp kernel, Value low, Value high) {
  Location loc = kernel.getLoc();
  SharedPhases phases(kernel);
  SmallVector<Value> crossing = phases.findCarried();
  Value isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, low, high);
  auto choice = scf::IfOp::create(builder, loc, isAny, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value one = constantI64(builder, loc, 1);
  LaneLoops loops(builder, loc, /*vectorLanes=*/1);
  SmallVector<Value> first = llvm::map_to_vector(crossing, [&](Value value) { return createPlaceholder(value); });
  SmallVector<Value> carried = loops.emitLoop(low, high, 1, first, [&](Value row, ValueRange before) {
    isFirstRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, row, low);
    beginRow(kernel, arith::SubIOp::create(builder, loc, row, one));
    mapping.map(crossing, before);
    emitFusedRows(kernel, row);
    return llvm::map_to_vector(crossing, [&](Value value) { return mapping.lookup(value); });
  });
  beginRow(kernel, arith::SubIOp::create(builder, loc, high, one));
  mapping.map(crossing, carried);
  for (Operation &op : llvm::make_range(phases.last->getIterator(), phases.getEnd().end()))
    emitOperation(&op);
}

/// What stands for a value of the row before the first one: nobody reads it. A constant stays one.
Value VectorRowEmitter::createPlaceholder(Value value) {
  if (matchPattern(value, m_Constant()))
    return builder.clone(*value.getDefiningOp())->getResult(0);
  return arith::ConstantOp::create(builder, value.getLoc(), cast<TypedAttr>(builder.getZeroAttr(value.getType())));
}

/// The row at hand from its last phase on, and `row`, the next one, up to there.
void VectorRowEmitter::emitFusedRows(rows::KernelOp kernel, Value row) {
  SharedPhases phases(kernel);
  IRMapping mappingBefore = mapping;
  RowPointers pointersBefore = rowPointers;
  RowPlaces placesBefore = createPlaces(pointersBefore);
  VectorBody last(builder, entry, phases.last, mappingBefore, placesBefore, target, tail, buffers);
  beginRow(kernel, row);
  for (Operation &op : phases.getBegin()) {
    behind = &op == phases.first.getOperation() ? &last : nullptr;
    emitOperation(&op);
  }
  behind = nullptr;
  auto changeRow = [&] {
    std::swap(mapping, mappingBefore);
    std::swap(rowPointers, pointersBefore);
  };
  changeRow();
  auto choice = scf::IfOp::create(builder, kernel.getLoc(), isFirstRow, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    copyUnaligned(phases.last);
    for (Operation &op : phases.getEnd())
      emitOperation(&op);
  }
  changeRow();
  for (Operation &op : phases.getMiddle())
    emitOperation(&op);
}

/// The blocks of the first phase: of the first row alone, of others together with the last phase of the row before.
VectorRowEmitter::Accumulators VectorRowEmitter::emitSharedBlocks(rows::PhaseOp phase, VectorBody &body) {
  Location loc = phase.getLoc();
  SmallVector<Type> types;
  for (Type type : phase.getReduced().getTypes())
    types.append(kLanes / body.getLanes(), VectorType::get(body.getLanes(), type));
  auto choice = scf::IfOp::create(builder, loc, types, isFirstRow, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, emitBlocks(phase, body));
  behind = nullptr;
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, emitBlocks(phase, body));
  return Accumulators(choice.getResults());
}
