// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow rows in batches: each phase goes over a few rows before the next one begins. The sums, roots and divisions of
// a row wait for each other, and wide rows hide that by their columns; narrow ones hide it by other rows, which a
// processor sees as independent only if they are near in the program. Wider rows are batches of their own. Scalars that
// later phases need wait in arrays on the stack; rows that are kept on the stack are as many as a batch has.

#include "codegen/cpu/rows/RowOrders.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/Segments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// The room / width in whole chunks.
Value cpu::emitBatchRows(VectorFunction &function, Location loc, int64_t room) {
  Code &builder = function.builder;
  if (std::optional<int64_t> known = function.tail.getKnownWidth())
    return builder.constant(std::max<int64_t>(1, room / std::max<int64_t>(llvm::alignTo(*known, kLanes), kLanes)));
  return builder.max(builder.divide(room, builder.max(function.getPaddedWidth(loc), kLanes)), 1);
}

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Memory on the stack for one value of each row of a batch.
static Value allocatePerRow(VectorFunction &function, Location loc, Type element, int64_t mostRows) {
  return function.allocate(loc, LLVM::LLVMArrayType::get(kernels::getMemoryType(element), mostRows));
}

void cpu::emitBatchedRows(VectorRowEmitter &emitter, rows::KernelOp kernel, int64_t room, Value batchRows, Value low,
                          Value high) {
  Location loc = kernel.getLoc();
  Code &builder = emitter.getBuilder();
  IRMapping &mapping = emitter.getState().mapping;
  SmallVector<rows::Segment> segments = rows::findSegments(kernel);
  DenseMap<Value, Value> arrays;
  // A row has a chunk of columns at least.
  int64_t mostRows = std::max<int64_t>(room / kLanes, 1);
  for (const rows::Segment &segment : segments)
    for (Value value : segment.carried)
      if (!isConstant(value) && !arrays.contains(value))
        arrays[value] = allocatePerRow(emitter.getFunction(), loc, value.getType(), mostRows);
  builder.rolledLoop(low, high, batchRows, [&](Value first) {
    Value end = builder.min(builder.add(first, batchRows), high);
    for (const rows::Segment &segment : segments)
      builder.rolledLoop(first, end, 1, [&](Value row) {
        Value place = builder.subtract(row, first);
        emitter.beginRow(kernel, row);
        emitter.getMemory().choosePlace(loc, place);
        for (Value value : segment.carried)
          isConstant(value) ? emitter.emitOperation(value.getDefiningOp())
                            : mapping.map(value, loadElement(builder, loc, value.getType(), arrays.lookup(value), place,
                                                             Alignment::None));
        for (Operation &op : llvm::make_range(segment.begin, segment.end)) {
          emitter.emitOperation(&op);
          for (Value value : op.getResults())
            if (Value array = arrays.lookup(value))
              storeElement(builder, loc, mapping.lookup(value), array, place, Alignment::None);
        }
      });
  });
}
