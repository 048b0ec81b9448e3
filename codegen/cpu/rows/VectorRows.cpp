// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one phase of a row on the vector path, by itself or together with a phase of the row before.

#include "codegen/cpu/rows/VectorRows.h"

#include "codegen/cpu/rows/LaneSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

RowPlaces VectorRowEmitter::createPlaces(const RowPointers &pointers) {
  RowPlaces created;
  created.source = [&](rows::LoadOp load) { return memory.getSource(load, pointers); };
  created.targets = [&](rows::StoreOp store) { return memory.getTargets(store, pointers); };
  created.chain = [&](rows::AccumulateOp term) { return pointers.lookup(term.getRow()); };
  return created;
}

void VectorRowEmitter::emitColumnOperation(Operation *op) {
  llvm_unreachable("column operations stand in phases, which VectorBody emits");
}

void VectorRowEmitter::emitPhase(rows::PhaseOp phase) {
  prefetches.choose(phase, state.pointers, function.target.schedule.table.prefetchBytes, places);
  VectorBody body(function, phase, state.mapping, places);
  ColumnLoops loops(function, phase, body);
  if (phase.getReduced().empty())
    loops.emitElementwise();
  else
    reduce(phase, body, loops.emitSpans([&](Value column, std::optional<PresentColumns> present, ValueRange drawn) {
      return body.emit(column, present, drawn);
    }));
  memory.endPhase(phase, state.pointers);
}

void VectorRowEmitter::emitTogether(VectorBody &before, rows::PhaseOp phase, Value isFirst) {
  prefetches.choose(phase, state.pointers, function.target.schedule.table.pipelinedPrefetchBytes, places);
  VectorBody body(function, phase, state.mapping, places);
  ColumnLoops loops(function, phase, body);
  auto emitAlone = [&](Value column, std::optional<PresentColumns> present, ValueRange drawn) {
    return body.emit(column, present, drawn);
  };
  // What the row before has left in a scratch row is read before it is replaced.
  auto emitBoth = [&](Value column, std::optional<PresentColumns> present, ValueRange drawn) {
    before.emitWithoutStores(column, present);
    SmallVector<VectorBody::Parts> values = body.emit(column, present, drawn);
    before.emitStores();
    return values;
  };
  Location loc = phase.getLoc();
  SmallVector<Type> types;
  for (Type type : phase.getReduced().getTypes())
    types.append(kLanes / body.getLanes(), VectorType::get(body.getLanes(), type));
  auto choice = scf::IfOp::create(builder, loc, types, isFirst, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, loops.emitSpans(emitBoth));
    builder.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(builder, loc, loops.emitSpans(emitAlone));
  }
  reduce(phase, body, SmallVector<Value>(choice.getResults()));
  memory.endPhase(phase, state.pointers);
}

/// Adds up the 64 lanes of each reduction's total.
void VectorRowEmitter::reduce(rows::PhaseOp phase, VectorBody &body, ArrayRef<Value> totals) {
  int64_t partsOfLanes = kLanes / body.getLanes();
  for (auto [kind, result] :
       llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), phase.getReduced())) {
    SmallVector<Value> parts(totals.take_front(partsOfLanes));
    totals = totals.drop_front(partsOfLanes);
    state.mapping.map(result, reduceLanes(builder, kind.getValue(), std::move(parts), body.getOrder()));
  }
}
