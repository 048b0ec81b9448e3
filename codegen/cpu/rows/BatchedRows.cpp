// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow rows in batches: each phase goes over a few rows before the next one begins. The sums, roots and divisions of
// a row wait for each other, and wide rows hide that by their columns; narrow ones hide it by other rows, which a
// processor sees as independent only if they are near in the program. Wider rows are batches of their own. Scalars that
// later phases need wait in arrays on the stack; rows that are kept on the stack are as many as a batch has.

#include "codegen/cpu/rows/VectorRows.h"
#include "codegen/rows/ElementMemory.h"
#include "codegen/rows/Segments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

/// The columns of a batch / width in whole chunks; at least 1, and no more than there is room for on the stack.
Value VectorRowEmitter::computeBatchRows(Location loc) {
  int64_t room = stream && !stream->getKept().empty() ? stream->getBatchColumns() : target.schedule.table.batchColumns;
  if (std::optional<int64_t> known = tail.getKnownWidth())
    return constantI64(builder, loc,
                       std::max<int64_t>(1, room / std::max<int64_t>(llvm::alignTo(*known, kLanes), kLanes)));
  Value one = constantI64(builder, loc, 1), chunk = constantI64(builder, loc, kLanes);
  Value columns = arith::MaxSIOp::create(builder, loc, emitPaddedWidth(loc), chunk);
  Value fitting = arith::DivUIOp::create(builder, loc, constantI64(builder, loc, room), columns);
  return arith::MaxSIOp::create(builder, loc, fitting, one);
}

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Memory on the stack for one value of each row of a batch.
Value VectorRowEmitter::allocatePerRow(Location loc, Type element) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  auto type = LLVM::LLVMArrayType::get(rows::getMemoryType(element), target.schedule.table.batchColumns / kLanes);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
                                constantI64(builder, loc, 1), kLineBytes);
}

/// Says which of the rows on the stack belong to a row of the batch.
void VectorRowEmitter::chooseScratch(Location loc, Value place) {
  if (!stream)
    return;
  for (BlockArgument row : stream->getKept()) {
    Value first = firstScratch.lookup(row);
    Value columns = arith::MulIOp::create(builder, loc, place, paddedWidth);
    Type element = rows::getMemoryType(cast<rows::RowType>(row.getType()).getElementType());
    scratch[row] = LLVM::GEPOp::create(builder, loc, first.getType(), element, first, ValueRange(columns));
  }
}

void VectorRowEmitter::emitBatchedRows(rows::KernelOp kernel, Value low, Value high) {
  Location loc = kernel.getLoc();
  SmallVector<rows::Segment> segments = rows::findSegments(kernel);
  DenseMap<Value, Value> arrays;
  for (const rows::Segment &segment : segments)
    for (Value value : segment.carried)
      if (!isConstant(value) && !arrays.contains(value))
        arrays[value] = allocatePerRow(loc, value.getType());
  LaneLoops loops(builder, loc, /*vectorLanes=*/1);
  loops.emitLoop(low, high, batchRows, [&](Value first) {
    Value behind = arith::AddIOp::create(builder, loc, first, batchRows);
    Value end = arith::MinSIOp::create(builder, loc, behind, high);
    for (const rows::Segment &segment : segments)
      loops.emitLoop(first, end, 1, [&](Value row) {
        Value place = arith::SubIOp::create(builder, loc, row, first);
        beginRow(kernel, row);
        chooseScratch(loc, place);
        for (Value value : segment.carried)
          isConstant(value) ? emitOperation(value.getDefiningOp())
                            : mapping.map(value, loops.load(value.getType(), arrays.lookup(value), place));
        for (Operation &op : llvm::make_range(segment.begin, segment.end)) {
          emitOperation(&op);
          for (Value value : op.getResults())
            if (Value array = arrays.lookup(value))
              loops.store(mapping.lookup(value), array, place);
        }
      });
  });
}
