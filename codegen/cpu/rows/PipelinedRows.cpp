// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two rows at a time: the last phase of a row and the first one of the next row are one loop over the columns. Memory
// is read while the row before is worked on, and both are in one place of the program. No more stack memory is needed
// than for one row at a time: in each step, the last phase of the row before reads its columns of the scratch rows
// before the first phase of the next row replaces them.

#include "codegen/cpu/rows/RowOrders.h"
#include "codegen/rows/Segments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

namespace {

/// Drives an emitter over two rows at a time.
class RowPipeline {
public:
  RowPipeline(VectorRowEmitter &emitter, rows::KernelOp kernel)
      : emitter(emitter), builder(emitter.getBuilder()), kernel(kernel), phases(*rows::EndPhases::find(kernel)),
        crossing(phases.findCarried()) {}

  void emit(Value low, Value high);

private:
  void beginRow(Value row, ValueRange carried);
  void emitBothRows(Value row, Value isFirst);
  Value createPlaceholder(Value value);

  VectorRowEmitter &emitter;
  Code &builder;
  rows::KernelOp kernel;
  rows::EndPhases phases;
  /// What the last phase of a row takes from the phases before it.
  SmallVector<Value> crossing;
};

} // namespace

void cpu::emitPipelinedRows(VectorRowEmitter &emitter, rows::KernelOp kernel, Value low, Value high) {
  RowPipeline(emitter, kernel).emit(low, high);
}

/// For each row, the last phase of the row before, if there is one, together with the first phase, and what stands
/// between the two; the last phase of the last row. So only these two phases are emitted twice, alone and together.
void RowPipeline::emit(Value low, Value high) {
  builder.choose(builder.compare(arith::CmpIPredicate::slt, low, high), [&] {
    SmallVector<Value> first = llvm::map_to_vector(crossing, [&](Value value) { return createPlaceholder(value); });
    SmallVector<Value> carried = builder.rolledLoop(low, high, 1, first, [&](Value row, ValueRange before) {
      Value isFirst = builder.isEqual(row, low);
      beginRow(builder.subtract(row, 1), before);
      emitBothRows(row, isFirst);
      return llvm::map_to_vector(crossing, [&](Value value) { return emitter.getState().mapping.lookup(value); });
    });
    beginRow(builder.subtract(high, 1), carried);
    for (Operation &op : llvm::make_range(phases.last->getIterator(), phases.getEnd().end()))
      emitter.emitOperation(&op);
  });
}

/// A row whose last phase comes next.
void RowPipeline::beginRow(Value row, ValueRange carried) {
  emitter.beginRow(kernel, row);
  emitter.getState().mapping.map(crossing, carried);
}

/// What stands for a value of the row before the first one: nobody reads it. A constant stays one.
Value RowPipeline::createPlaceholder(Value value) {
  if (matchPattern(value, m_Constant()))
    return builder.clone(*value.getDefiningOp())->getResult(0);
  return builder.create<arith::ConstantOp>(cast<TypedAttr>(builder.getZeroAttr(value.getType())));
}

/// The row at hand from its last phase on, unless `row`, the next one, `isFirst`; and the next one up to there.
void RowPipeline::emitBothRows(Value row, Value isFirst) {
  RowState before = emitter.getState();
  RowPlaces placesBefore = emitter.createPlaces(before.pointers);
  VectorBody last(emitter.getFunction(), phases.last, before.mapping, placesBefore);
  emitter.beginRow(kernel, row);
  for (Operation &op : phases.getBegin())
    &op == phases.first.getOperation() ? emitter.emitTogether(last, phases.first, isFirst) : emitter.emitOperation(&op);
  std::swap(emitter.getState(), before);
  builder.choose(
      isFirst, [] {},
      [&] {
        emitter.getMemory().endPhase(phases.last, emitter.getState().pointers);
        for (Operation &op : phases.getEnd())
          emitter.emitOperation(&op);
      });
  std::swap(emitter.getState(), before);
  for (Operation &op : phases.getMiddle())
    emitter.emitOperation(&op);
}
