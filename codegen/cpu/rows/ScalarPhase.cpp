// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one phase of a row: spans of 1,024 columns, chunks of 64 and the lanes of a chunk, sums in the fixed order.

#include "codegen/arithmetic/Philox.h"
#include "codegen/cpu/choice/StepShape.h"
#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/cpu/rows/LaneSums.h"
#include "codegen/cpu/rows/ScalarRows.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/ColumnMoves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;
using namespace mlir::resid::arithmetic;

//===------------------------------------------- lanes ------------------------------------------------------------===//

static LLVM::LoopAnnotationAttr annotateLanes(OpBuilder &builder, LLVM::AccessGroupAttr group, unsigned lanes) {
  MLIRContext *context = builder.getContext();
  // A width without "enable" is a wish and no demand: LLVM warns about demands that it does not meet.
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, {}, {}, {}, builder.getI32IntegerAttr(lanes), {}, {}, {});
  auto interleave = LLVM::LoopInterleaveAttr::get(context, builder.getI32IntegerAttr(1));
  return LLVM::LoopAnnotationAttr::get(context, {}, vectorize, interleave, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                       group);
}

void ScalarRowEmitter::emitLanes(Operand count, function_ref<void(Value)> body, unsigned lanes) {
  group = LLVM::AccessGroupAttr::get(builder.getContext(), DistinctAttr::create(builder.getUnitAttr()));
  scf::ForOp loop = builder.loop(0, count, 1, body);
  loop->setDiscardableAttr(LLVM::LoopAnnotationAttr::name, annotateLanes(builder, group, lanes ? lanes : vectorLanes));
  group = {};
}

Value ScalarRowEmitter::loadElement(Type type, Value pointer, Value index) {
  Type memory = getMemoryType(type);
  auto load = builder.create<LLVM::LoadOp>(memory, getElementAddress(builder, builder.getLoc(), memory, pointer, index),
                                           /*alignment=*/1);
  if (group)
    load.setAccessGroupsAttr(builder.getArrayAttr(group));
  return fromMemory(builder, builder.getLoc(), load, type);
}

void ScalarRowEmitter::storeElement(Value value, Value pointer, Value index) {
  Type memory = getMemoryType(value.getType());
  Value address = getElementAddress(builder, builder.getLoc(), memory, pointer, index);
  auto store = builder.create<LLVM::StoreOp>(toMemory(builder, builder.getLoc(), value, memory), address,
                                             /*alignment=*/1);
  if (group)
    store.setAccessGroupsAttr(builder.getArrayAttr(group));
}

//===------------------------------------------- buffers ----------------------------------------------------------===//

void ScalarRowEmitter::allocateLocalRows(rows::KernelOp kernel) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  Location loc = kernel.getLoc();
  for (auto row : kernel.getBody().front().getOps<rows::LocalRowOp>()) {
    auto array = LLVM::LLVMArrayType::get(row.getRow().getType().getElementType(), *getStaticWidth(kernel));
    state.pointers[row] = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), array,
                                                 builder.constant(1), kLineBytes);
  }
}

/// A buffer for one element per lane on the stack, until the phase ends. Where all loops over it get unrolled, LLVM
/// keeps it in registers; else buffers of different phases share their place.
Value ScalarRowEmitter::allocateLanes(Location loc, Type type) {
  auto array = LLVM::LLVMArrayType::get(type, kLanes);
  Value buffer;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Value one = builder.constant(1);
    buffer = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), array, one,
                                    /*alignment=*/64);
  }
  LLVM::LifetimeStartOp::create(builder, loc, buffer);
  phaseBuffers.push_back(buffer);
  return buffer;
}

void ScalarRowEmitter::prepareReductions(rows::PhaseOp phase) {
  reductions.clear();
  for (auto [kind, result] :
       llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), phase.getResults())) {
    Reduction reduction{kind.getValue(), result.getType(), {}, {}, {}};
    for (Value *buffer : {&reduction.total, &reduction.lanes, &reduction.tail})
      *buffer = allocateLanes(phase.getLoc(), reduction.type);
    reductions.push_back(reduction);
  }
}

/// Where only the column changes from number to number, they are made eight at a time, before the lanes of a chunk need
/// them.
void ScalarRowEmitter::prepareRandomHalves(rows::PhaseOp phase) {
  randomHalves.clear();
  phase.walk([&](rows::RandomHalfOp half) {
    bool isInvariant = llvm::all_of(half.getRowWords(),
                                    [&](Value value) { return !phase.getBody().isAncestor(value.getParentRegion()); });
    if (isInvariant)
      randomHalves.push_back({half, allocateLanes(phase.getLoc(), builder.getI16Type())});
  });
}

void ScalarRowEmitter::fillRandomHalves(Value first) {
  static_assert(kColumnsPerCounter == 8, "a word has the halves of two columns, the first one's below");
  constexpr int64_t wordsPerCall = kColumnsPerCounter / 2, calls = kLanes / kColumnsPerCounter;
  for (auto &[half, buffer] : randomHalves) {
    Location loc = half.getLoc();
    rows::RandomHalfOp op = half;
    Value target = buffer;
    Value firstCall = emitCounterOf(builder, loc, first);
    emitLanes(
        calls,
        [&](Value call) {
          SmallVector<Value, 4> counter = counterOf(op, builder.add(firstCall, call));
          SmallVector<Value, 4> words = emitPhilox(builder, loc, counter, state.mapping.lookup(op.getSeed()));
          Value base = builder.multiply(call, wordsPerCall);
          // Both platforms are little-endian: the low half of a word is the element before its high half.
          for (auto [i, word] : llvm::enumerate(words))
            storeElement(word, target, builder.add(base, i));
        },
        calls);
  }
}

void ScalarRowEmitter::emitChunk(rows::PhaseOp phase, Value first, Value count,
                                 function_ref<void(Value, ArrayRef<Value>)> consume) {
  Location loc = phase.getLoc();
  Block &body = phase.getBody().front();
  fillRandomHalves(first);
  emitLanes(count, [&](Value lane) {
    Value column = builder.add(first, lane);
    position = Position{body.getArgument(0), column, lane};
    state.mapping.map(body.getArgument(0),
                      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), column).getResult());
    emitBlock(body);
    SmallVector<Value> values;
    for (Value value : body.getTerminator()->getOperands())
      values.push_back(state.mapping.lookup(value));
    consume(lane, values);
    position.reset();
  });
}

void ScalarRowEmitter::emitFullChunks(rows::PhaseOp phase, Value first, Value end) {
  builder.rolledLoop(first, end, kLanes, [&](Value chunk) {
    emitChunk(phase, chunk, builder.constant(kLanes), [&](Value lane, ArrayRef<Value> values) {
      for (auto [reduction, value] : llvm::zip_equal(reductions, values)) {
        Value accumulator = loadElement(reduction.type, reduction.lanes, lane);
        storeElement(combine(builder, reduction.kind, accumulator, value), reduction.lanes, lane);
      }
    });
  });
}

/// The last columns, fewer than 64. Their values go through a buffer, so that the accumulators' lanes are only ever
/// visited by loops of constant length and stay in registers. What stands for absent elements changes no bit: a lane of
/// a sum is never -0.
void ScalarRowEmitter::emitTail(rows::PhaseOp phase, Value first, Value end) {
  Location loc = phase.getLoc();
  Value lanes = builder.constant(kLanes);
  Value count = builder.subtract(end, first);
  builder.choose(builder.compare(arith::CmpIPredicate::slt, first, end), [&] {
    for (Reduction &reduction : reductions) {
      Value neutral = createNeutral(builder, loc, reduction.kind, reduction.type);
      emitLanes(lanes, [&](Value lane) { storeElement(neutral, reduction.tail, lane); });
    }
    emitChunk(phase, first, count, [&](Value lane, ArrayRef<Value> values) {
      for (auto [reduction, value] : llvm::zip_equal(reductions, values))
        storeElement(value, reduction.tail, lane);
    });
    for (Reduction &reduction : reductions)
      emitLanes(lanes, [&](Value lane) {
        Value value = loadElement(reduction.type, reduction.tail, lane);
        Value accumulator = loadElement(reduction.type, reduction.lanes, lane);
        storeElement(combine(builder, reduction.kind, accumulator, value), reduction.lanes, lane);
      });
  });
}

void ScalarRowEmitter::emitSpan(rows::PhaseOp phase, Value first) {
  Location loc = phase.getLoc();
  Value lanes = builder.constant(kLanes);
  Value end = builder.min(builder.add(first, kSpanColumns), addresses.width);
  Value fullEnd = computeFullEnd(builder, first, end);
  for (Reduction &reduction : reductions) {
    Value neutral = createNeutral(builder, loc, reduction.kind, reduction.type);
    emitLanes(lanes, [&](Value lane) { storeElement(neutral, reduction.lanes, lane); });
  }
  emitFullChunks(phase, first, fullEnd);
  emitTail(phase, fullEnd, end);
  for (Reduction &reduction : reductions)
    emitLanes(lanes, [&](Value lane) {
      Value total = loadElement(reduction.type, reduction.total, lane);
      Value value = loadElement(reduction.type, reduction.lanes, lane);
      storeElement(combine(builder, getCombiningKind(reduction.kind), total, value), reduction.total, lane);
    });
}

/// The lanes of a total, read from their buffer in vectors.
Value ScalarRowEmitter::reduceTotal(const Reduction &reduction) {
  int64_t width = std::min<int64_t>(vectorLanes, kLanes);
  SmallVector<Value> parts;
  for (int64_t first = 0; first < kLanes; first += width)
    parts.push_back(loadVector(builder, VectorType::get(width, reduction.type), reduction.total, first));
  return reduceLanes(builder, reduction.kind, parts);
}

void ScalarRowEmitter::emitPhase(rows::PhaseOp phase) {
  Location loc = phase.getLoc();
  vectorLanes = std::max(vectorBits / getWidestFloat(phase), 2u);
  prepareReductions(phase);
  prepareRandomHalves(phase);
  if (reductions.empty()) {
    emitElementwisePhase(phase);
  } else {
    Value lanes = builder.constant(kLanes);
    for (Reduction &reduction : reductions) {
      Value neutral = createNeutral(builder, loc, reduction.kind, reduction.type);
      emitLanes(lanes, [&](Value lane) { storeElement(neutral, reduction.total, lane); });
    }
    builder.rolledLoop(0, addresses.width, kSpanColumns, [&](Value first) { emitSpan(phase, first); });
  }
  for (auto [reduction, result] : llvm::zip_equal(reductions, phase.getResults()))
    state.mapping.map(result, reduceTotal(reduction));
  for (Value buffer : phaseBuffers)
    LLVM::LifetimeEndOp::create(builder, loc, buffer);
  phaseBuffers.clear();
}

void ScalarRowEmitter::emitElementwisePhase(rows::PhaseOp phase) {
  Value zero = builder.constant(0);
  Value fullEnd = computeFullEnd(builder, zero, addresses.width);
  emitFullChunks(phase, zero, fullEnd);
  emitTail(phase, fullEnd, addresses.width);
}

//===------------------------------------------- columns ----------------------------------------------------------===//

Value ScalarRowEmitter::columnOf(Value column) {
  Location loc = column.getLoc();
  if (position && column == position->argument)
    return position->column;
  return castToI64(builder, loc, state.mapping.lookup(column));
}

void ScalarRowEmitter::emitColumnOperation(Operation *op) {
  if (auto load = dyn_cast<rows::LoadOp>(op)) {
    Value column = columnOf(load.getColumn());
    if (AffineExpr move = load.getMove())
      column = rows::moveColumn(builder, move, column);
    Value element = loadElement(load.getType(), getRowPointer(load.getRow()), column);
    state.mapping.map(load.getResult(), element);
  } else if (auto store = dyn_cast<rows::StoreOp>(op)) {
    Value element = state.mapping.lookup(store.getValue());
    storeElement(element, getRowPointer(store.getRow()), columnOf(store.getColumn()));
  } else if (auto term = dyn_cast<rows::AccumulateOp>(op)) {
    Value chain = getRowPointer(term.getRow()), column = columnOf(term.getColumn());
    Value sum = loadElement(term.getValue().getType(), chain, column);
    storeElement(combine(builder, rows::ReductionKind::Sum, sum, state.mapping.lookup(term.getValue())), chain, column);
  } else {
    emitRandomHalf(cast<rows::RandomHalfOp>(op));
  }
}

void ScalarRowEmitter::emitRandomHalf(rows::RandomHalfOp half) {
  Location loc = half.getLoc();
  for (auto &[prepared, buffer] : randomHalves) {
    if (prepared != half)
      continue;
    Value number = loadElement(builder.getI16Type(), buffer, position->lane);
    state.mapping.map(half.getResult(), builder.castInteger(number, builder.getI32Type()));
    return;
  }
  // The row, site, step or seed changes along the columns: one generator call per element.
  Value column = columnOf(half.getColumn());
  Value call = emitCounterOf(builder, loc, column);
  SmallVector<Value, 4> counter = counterOf(half, call);
  state.mapping.map(half.getResult(),
                    emitPhiloxHalf(builder, loc, counter, state.mapping.lookup(half.getSeed()), column));
}
