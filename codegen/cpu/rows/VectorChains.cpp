// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The terms of sums down the rows on vectors, and chains of eight rows whose sums stay in registers: one pass over the
// columns of all eight. Not: what becomes of a chain (SumRows.cpp).

#include "codegen/cpu/rows/SumRows.h"

#include "codegen/cpu/choice/Obstacles.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/Reductions.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <deque>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

//===------------------------------------------- terms ------------------------------------------------------------===//

VectorBody::Parts VectorBody::evaluateTerm(rows::AccumulateOp term) { return evaluate(term.getValue()); }

SmallVector<VectorBody::Parts> VectorBody::emitTerms(Value firstColumn, std::optional<PresentColumns> presentColumns) {
  withTerms = false;
  emit(firstColumn, presentColumns);
  withTerms = true;
  SmallVector<Parts> terms;
  for (auto term : phase.getBody().front().getOps<rows::AccumulateOp>())
    terms.push_back(evaluateTerm(term));
  return terms;
}

void VectorBody::storeTerms(ArrayRef<Parts> terms, bool isFirst) {
  for (auto [term, values] : llvm::zip_equal(phase.getBody().front().getOps<rows::AccumulateOp>(), terms))
    storeTerm(term, values, isFirst);
}

/// Chains are in consecutive order, and have room for absent columns.
void VectorBody::storeTerm(rows::AccumulateOp term, const Parts &values, bool isFirst) {
  Parts ordered = values;
  if (order == ColumnOrder::EvenOdd)
    for (size_t part = 0; part + 1 < ordered.size(); part += 2)
      std::tie(ordered[part], ordered[part + 1]) = mergeEvenOdd(builder, ordered[part], ordered[part + 1]);
  Type element = term.getValue().getType();
  int64_t alignment = element.getIntOrFloatBitWidth() / 8;
  for (auto [part, value] : llvm::enumerate(ordered)) {
    Value place = address(places.chain(term), element, part * lanes);
    if (!isFirst) {
      Value sum = builder.create<LLVM::LoadOp>(value.getType(), place, alignment);
      value = builder.add(sum, value);
    }
    builder.create<LLVM::StoreOp>(value, place, alignment);
  }
}

//===------------------------------------------- chains -----------------------------------------------------------===//

/// Short rows are many short streams, which processors find too late: what a row of the next chain reads, into a level
/// of the cache.
static SmallVector<Prefetch> getPrefetches(VectorFunction &function, rows::KernelOp kernel, const RowPointers &pointers,
                                           unsigned level) {
  Code &builder = function.builder;
  SmallVector<Prefetch> prefetches;
  for (unsigned operand = 0; operand < kernel.getInputs().size(); ++operand) {
    const OperandAddress &address = function.addresses.operands[operand];
    if (!kernel.isAlongColumns(operand) || kernel.getMove(operand) || !address.linearStride)
      continue;
    Value ahead = builder.multiply(address.linearStride, rows::kChainRows);
    Value next = builder.at(pointers.lookup(kernel.getRowArgument(operand)), address.elementType, ahead);
    prefetches.push_back({next, address.elementType, level});
  }
  return prefetches;
}

/// One step of all rows: their terms, added up from +0.
static SmallVector<VectorBody::Parts> addTerms(Code &builder, std::deque<VectorBody> &bodies, Value column,
                                               std::optional<PresentColumns> present) {
  SmallVector<VectorBody::Parts> sums;
  for (VectorBody &body : bodies) {
    bool isFirst = &body == &bodies.front();
    SmallVector<VectorBody::Parts> terms = body.emitTerms(column, present);
    for (auto [number, parts] : llvm::enumerate(terms))
      for (auto [part, value] : llvm::enumerate(parts)) {
        constexpr auto kind = rows::ReductionKind::Sum;
        Value before = isFirst ? createNeutral(builder, value.getLoc(), kind, value.getType()) : sums[number][part];
        value = combine(builder, kind, before, value);
      }
    sums = std::move(terms);
  }
  return sums;
}

/// The rows [low, low + 8). Those of the next chain are fetched into a level of the cache.
static void emitWholeChain(VectorRowEmitter &emitter, rows::KernelOp kernel, rows::PhaseOp phase, Value low,
                           unsigned level) {
  struct Row {
    RowState state;
    RowPlaces places;
  };
  Code &builder = emitter.getBuilder();
  VectorFunction &function = emitter.getFunction();
  std::deque<Row> rows;
  std::deque<VectorBody> bodies;
  Block &block = kernel.getBody().front();
  for (int64_t i = 0; i < rows::kChainRows; ++i) {
    emitter.beginRow(kernel, builder.add(low, i));
    for (Operation &op : llvm::make_range(block.begin(), phase->getIterator()))
      emitter.emitOperation(&op);
    Row &row = rows.emplace_back(Row{emitter.getState(), {}});
    row.places = emitter.createPlaces(row.state.pointers);
    row.places.prefetches = getPrefetches(function, kernel, row.state.pointers, level);
    bodies.emplace_back(function, phase, row.state.mapping, row.places);
  }
  ColumnLoops(function, phase, bodies.front())
      .emitElementwise([&](Value column, std::optional<PresentColumns> present) {
        bodies.front().storeTerms(addTerms(builder, bodies, column, present), /*isFirst=*/true);
      });
  for (Row &row : rows) {
    emitter.getState() = row.state;
    for (Operation &op : llvm::make_range(std::next(phase->getIterator()), block.end()))
      emitter.emitOperation(&op);
  }
}

/// Columns of which a chain's rows take that much, in all inputs.
static int64_t countFirstLevelColumns(VectorFunction &function, rows::KernelOp kernel) {
  int64_t bytes = 0;
  for (unsigned operand = 0; operand < kernel.getInputs().size(); ++operand)
    if (kernel.isAlongColumns(operand))
      bytes += kernels::getElementBytes(function.addresses.operands[operand].elementType);
  return kFirstLevelBytes / (rows::kChainRows * std::max<int64_t>(bytes, 1));
}

/// As emitWholeChain, for rows of any length.
static void emitWholeChain(VectorRowEmitter &emitter, rows::KernelOp kernel, rows::PhaseOp phase, Value low) {
  VectorFunction &function = emitter.getFunction();
  int64_t shortColumns = countFirstLevelColumns(function, kernel);
  if (std::optional<int64_t> known = function.tail.getKnownWidth())
    return emitWholeChain(emitter, kernel, phase, low, *known <= shortColumns ? 1 : 2);
  auto emit = [&](unsigned level) {
    RowState before = emitter.getState();
    emitWholeChain(emitter, kernel, phase, low, level);
    emitter.getState() = before;
  };
  Code &builder = emitter.getBuilder();
  builder.choose(
      builder.isAtMost(function.addresses.width, shortColumns), [&] { emit(1); }, [&] { emit(2); });
}

void cpu::emitVectorChain(VectorRowEmitter &emitter, rows::KernelOp kernel, Value low, Value high) {
  auto emitSingle = [&] { emitChain(emitter, kernel, emitter.getFunction().addresses.width, low, high); };
  rows::PhaseOp phase = findChainPhase(kernel);
  if (!phase)
    return emitSingle();
  Code &builder = emitter.getBuilder();
  Value isWhole = builder.isEqual(builder.subtract(high, low), rows::kChainRows);
  builder.choose(
      isWhole, [&] { emitWholeChain(emitter, kernel, phase, low); }, emitSingle);
}
