// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one phase of a row: blocks of 1,024 columns, chunks of 64 and the lanes of a chunk, sums in the fixed order.

#include "codegen/cpu/Philox.h"
#include "codegen/cpu/RowFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// A buffer for one element per lane on the stack, until the phase ends. Where all loops over it get unrolled, LLVM
/// keeps it in registers; else buffers of different phases share their place.
Value RowFunctionEmitter::allocateLanes(Location loc, Type type) {
  auto array = LLVM::LLVMArrayType::get(type, kLanes);
  Value buffer;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Value one = constantI64(builder, loc, 1);
    buffer = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), array, one,
                                    /*alignment=*/64);
  }
  LLVM::LifetimeStartOp::create(builder, loc, buffer);
  phaseBuffers.push_back(buffer);
  return buffer;
}

/// The widest arithmetic of the phase decides how many lanes a register holds.
static unsigned getWidestFloat(rows::PhaseOp phase) {
  unsigned widest = 32;
  phase.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isa<FloatType>(type))
        widest = std::max(widest, type.getIntOrFloatBitWidth());
  });
  return widest;
}

Value RowFunctionEmitter::combine(rows::ReductionKind kind, Value accumulator, Value value) {
  Location loc = value.getLoc();
  switch (kind) {
  case rows::ReductionKind::Sum:
    return arith::AddFOp::create(builder, loc, accumulator, value);
  case rows::ReductionKind::SumOfSquares:
    return math::FmaOp::create(builder, loc, value, value, accumulator);
  case rows::ReductionKind::Max:
    return arith::MaximumFOp::create(builder, loc, accumulator, value);
  }
  llvm_unreachable("unknown kind of reduction");
}

/// How partial results are added up, once squares have been taken.
static rows::ReductionKind getCombiningKind(rows::ReductionKind kind) {
  return kind == rows::ReductionKind::SumOfSquares ? rows::ReductionKind::Sum : kind;
}

void RowFunctionEmitter::prepareReductions(rows::PhaseOp phase) {
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
void RowFunctionEmitter::prepareRandomHalves(rows::PhaseOp phase) {
  randomHalves.clear();
  phase.walk([&](rows::RandomHalfOp half) {
    bool isInvariant = llvm::all_of(ValueRange{half.getSeed(), half.getStep(), half.getRow(), half.getSite()},
                                    [&](Value value) { return !phase.getBody().isAncestor(value.getParentRegion()); });
    if (isInvariant)
      randomHalves.push_back({half, allocateLanes(phase.getLoc(), builder.getI16Type())});
  });
}

void RowFunctionEmitter::fillRandomHalves(Value first) {
  constexpr int64_t columnsPerCall = 8, wordsPerCall = 4, calls = kLanes / columnsPerCall;
  for (auto &[half, buffer] : randomHalves) {
    Location loc = half.getLoc();
    rows::RandomHalfOp op = half;
    Value target = buffer;
    Value firstCall = arith::ShRUIOp::create(builder, loc, first, constantI64(builder, loc, 3));
    loops->emitLanes(
        constantI64(builder, loc, calls),
        [&](Value call) {
          SmallVector<Value, 4> counter = counterOf(op, arith::AddIOp::create(builder, loc, firstCall, call));
          SmallVector<Value, 4> words = emitPhilox(builder, loc, counter, mapping.lookup(op.getSeed()));
          Value base = arith::MulIOp::create(builder, loc, call, constantI64(builder, loc, wordsPerCall));
          // Both platforms are little-endian: the low half of a word is the element before its high half.
          for (auto [i, word] : llvm::enumerate(words))
            loops->store(word, target, arith::AddIOp::create(builder, loc, base, constantI64(builder, loc, i)));
        },
        calls);
  }
}

void RowFunctionEmitter::emitChunk(rows::PhaseOp phase, Value first, Value count,
                                   function_ref<void(Value, ArrayRef<Value>)> consume) {
  Location loc = phase.getLoc();
  Block &body = phase.getBody().front();
  fillRandomHalves(first);
  loops->emitLanes(count, [&](Value lane) {
    Value column = arith::AddIOp::create(builder, loc, first, lane);
    position = Position{body.getArgument(0), column, lane};
    mapping.map(body.getArgument(0),
                arith::IndexCastOp::create(builder, loc, builder.getIndexType(), column).getResult());
    emitBlock(body);
    SmallVector<Value> values;
    for (Value value : body.getTerminator()->getOperands())
      values.push_back(mapping.lookup(value));
    consume(lane, values);
    position.reset();
  });
}

void RowFunctionEmitter::emitFullChunks(rows::PhaseOp phase, Value first, Value end) {
  loops->emitLoop(first, end, kLanes, [&](Value chunk) {
    emitChunk(phase, chunk, constantI64(builder, phase.getLoc(), kLanes), [&](Value lane, ArrayRef<Value> values) {
      for (auto [reduction, value] : llvm::zip_equal(reductions, values)) {
        Value accumulator = loops->load(reduction.type, reduction.lanes, lane);
        loops->store(combine(reduction.kind, accumulator, value), reduction.lanes, lane);
      }
    });
  });
}

/// The last columns, fewer than 64. Their values go through a buffer, so that the accumulators' lanes are only ever
/// visited by loops of constant length and stay in registers. The zeros of absent elements change no bit: a lane is
/// never -0.
void RowFunctionEmitter::emitTail(rows::PhaseOp phase, Value first, Value end) {
  Location loc = phase.getLoc();
  Value lanes = constantI64(builder, loc, kLanes);
  Value count = arith::SubIOp::create(builder, loc, end, first);
  auto emitBody = [&](OpBuilder &, Location) {
    for (Reduction &reduction : reductions) {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(reduction.type));
      loops->emitLanes(lanes, [&](Value lane) { loops->store(zero, reduction.tail, lane); });
    }
    emitChunk(phase, first, count, [&](Value lane, ArrayRef<Value> values) {
      for (auto [reduction, value] : llvm::zip_equal(reductions, values))
        loops->store(value, reduction.tail, lane);
    });
    for (Reduction &reduction : reductions)
      loops->emitLanes(lanes, [&](Value lane) {
        Value value = loops->load(reduction.type, reduction.tail, lane);
        Value accumulator = loops->load(reduction.type, reduction.lanes, lane);
        loops->store(combine(reduction.kind, accumulator, value), reduction.lanes, lane);
      });
    scf::YieldOp::create(builder, loc);
  };
  Value isNeeded = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, first, end);
  scf::IfOp::create(builder, loc, isNeeded, emitBody);
}

/// The end of the full chunks of the columns [first, end).
static Value computeFullEnd(OpBuilder &builder, Location loc, Value first, Value end) {
  Value count = arith::SubIOp::create(builder, loc, end, first);
  Value full = arith::AndIOp::create(builder, loc, count, constantI64(builder, loc, -kLanes));
  return arith::AddIOp::create(builder, loc, first, full);
}

void RowFunctionEmitter::emitColumnBlock(rows::PhaseOp phase, Value first) {
  Location loc = phase.getLoc();
  Value lanes = constantI64(builder, loc, kLanes);
  Value next = arith::AddIOp::create(builder, loc, first, constantI64(builder, loc, kBlockColumns));
  Value end = arith::MinSIOp::create(builder, loc, next, addresses.width);
  Value fullEnd = computeFullEnd(builder, loc, first, end);
  for (Reduction &reduction : reductions) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(reduction.type));
    loops->emitLanes(lanes, [&](Value lane) { loops->store(zero, reduction.lanes, lane); });
  }
  emitFullChunks(phase, first, fullEnd);
  emitTail(phase, fullEnd, end);
  for (Reduction &reduction : reductions)
    loops->emitLanes(lanes, [&](Value lane) {
      Value total = loops->load(reduction.type, reduction.total, lane);
      Value value = loops->load(reduction.type, reduction.lanes, lane);
      loops->store(combine(getCombiningKind(reduction.kind), total, value), reduction.total, lane);
    });
}

/// The elements [first, first + count) of a vector.
static Value extractPart(OpBuilder &builder, Location loc, Value vector, int32_t first, int32_t count) {
  auto mask = llvm::to_vector(llvm::seq<int32_t>(first, first + count));
  return LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, mask);
}

/// lane l += lane l+32, l+16, l+8, l+4, l+2, l+1. On whole registers, so that LLVM need not keep the lanes in memory.
Value RowFunctionEmitter::reduceTotal(const Reduction &reduction) {
  Location loc = reduction.total.getLoc();
  rows::ReductionKind kind = getCombiningKind(reduction.kind);
  int64_t width = std::min<int64_t>(loops->getVectorLanes(), kLanes);
  SmallVector<Value> parts;
  for (int64_t first = 0; first < kLanes; first += width)
    parts.push_back(loops->loadVector(VectorType::get(width, reduction.type), reduction.total, first));
  for (; parts.size() > 1; parts.truncate(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = combine(kind, parts[i], parts[i + parts.size() / 2]);
  Value vector = parts.front();
  for (int64_t count = width / 2; count > 0; count /= 2) {
    Value low = extractPart(builder, loc, vector, 0, count), high = extractPart(builder, loc, vector, count, count);
    vector = combine(kind, low, high);
  }
  return LLVM::ExtractElementOp::create(builder, loc, vector, constantI64(builder, loc, 0));
}

void RowFunctionEmitter::emitPhase(rows::PhaseOp phase) {
  Location loc = phase.getLoc();
  std::optional<LaneLoops> outer = loops;
  loops.emplace(builder, loc, std::max(vectorBits / getWidestFloat(phase), 2u));
  prepareReductions(phase);
  prepareRandomHalves(phase);
  if (reductions.empty()) {
    emitElementwisePhase(phase);
  } else {
    Value lanes = constantI64(builder, loc, kLanes), zeroColumn = constantI64(builder, loc, 0);
    for (Reduction &reduction : reductions) {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(reduction.type));
      loops->emitLanes(lanes, [&](Value lane) { loops->store(zero, reduction.total, lane); });
    }
    loops->emitLoop(zeroColumn, addresses.width, kBlockColumns, [&](Value first) { emitColumnBlock(phase, first); });
  }
  for (auto [reduction, result] : llvm::zip_equal(reductions, phase.getResults()))
    mapping.map(result, reduceTotal(reduction));
  for (Value buffer : phaseBuffers)
    LLVM::LifetimeEndOp::create(builder, loc, buffer);
  phaseBuffers.clear();
  loops.emplace(*outer);
}

void RowFunctionEmitter::emitElementwisePhase(rows::PhaseOp phase) {
  Location loc = phase.getLoc();
  Value zero = constantI64(builder, loc, 0);
  Value fullEnd = computeFullEnd(builder, loc, zero, addresses.width);
  emitFullChunks(phase, zero, fullEnd);
  emitTail(phase, fullEnd, addresses.width);
}
