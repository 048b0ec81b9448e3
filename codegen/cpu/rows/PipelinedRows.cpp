// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two rows at a time: the last phase of a row and the first one of the next row are one loop over the columns. Memory
// is read while the row before is worked on, and both are in one place of the program. No more stack memory is needed
// than for one row at a time: in each step, the last phase of the row before reads its columns of the scratch rows
// before the first phase of the next row replaces them.

#include "codegen/cpu/rows/VectorRows.h"
#include "codegen/rows/Segments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

/// For each row, the last phase of the row before, if there is one, together with the first phase, and what stands
/// between the two; the last phase of the last row. So only these two phases are emitted twice, alone and together.
void VectorRowEmitter::emitPipelinedRows(rows::KernelOp kernel, Value low, Value high) {
  Location loc = kernel.getLoc();
  rows::EndPhases phases = *rows::EndPhases::find(kernel);
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
  rows::EndPhases phases = *rows::EndPhases::find(kernel);
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
