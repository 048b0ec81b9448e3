// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the operations of one row, and what both paths do to reduce lanes.

#include "codegen/cpu/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

static constexpr int32_t kSmallestRegisterBits = 128;

void RowEmitter::beginRow(rows::KernelOp kernel, Value row) {
  Value index = arith::IndexCastOp::create(builder, kernel.getLoc(), builder.getIndexType(), row);
  state.mapping.map(kernel.getBody().getArgument(0), index);
  computeRowPointers(kernel, row);
}

/// The indices of the row dimensions, from the last (fastest) to the first.
static SmallVector<Value> delinearize(OpBuilder &builder, Location loc, Value row, ArrayRef<Value> dims) {
  SmallVector<Value> indices(dims.size());
  for (unsigned i = dims.size(); i-- > 1;) {
    indices[i] = arith::RemUIOp::create(builder, loc, row, dims[i]);
    row = arith::DivUIOp::create(builder, loc, row, dims[i]);
  }
  if (!indices.empty())
    indices[0] = row;
  return indices;
}

void RowEmitter::computeRowPointers(rows::KernelOp kernel, Value row) {
  Location loc = kernel.getLoc();
  SmallVector<Value> indices(addresses.rowDims.size(), row);
  if (addresses.needsRowIndices())
    indices = delinearize(builder, loc, row, addresses.rowDims);
  for (auto [i, operand] : llvm::enumerate(addresses.operands)) {
    if (Value chain = chains.lookup(kernel.getRowArgument(i))) {
      state.pointers[kernel.getRowArgument(i)] = chain;
      continue;
    }
    Value offset = constantI64(builder, loc, 0);
    if (operand.linearStride)
      offset = arith::MulIOp::create(builder, loc, row, operand.linearStride);
    for (auto [dimension, stride] : operand.strides) {
      Value step = arith::MulIOp::create(builder, loc, indices[dimension], stride);
      offset = arith::AddIOp::create(builder, loc, offset, step);
    }
    state.pointers[kernel.getRowArgument(i)] =
        LLVM::GEPOp::create(builder, loc, operand.pointer.getType(), operand.elementType, operand.pointer,
                            ValueRange(offset), LLVM::GEPNoWrapFlags::inbounds);
  }
}

void RowEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    emitOperation(&op);
}

void RowEmitter::emitOperation(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](rows::PhaseOp phase) { emitPhase(phase); })
      .Case([&](rows::LoadOp load) { load.getColumn() ? emitColumnOperation(load) : emitRowLoad(load); })
      .Case([&](rows::StoreOp store) { store.getColumn() ? emitColumnOperation(store) : emitRowStore(store); })
      .Case<rows::RandomHalfOp, rows::AccumulateOp>([&](auto inner) { emitColumnOperation(inner); })
      .Case([](rows::YieldOp) {})
      .Case([](rows::LocalRowOp) {}) // There from the function's beginning on.
      .Default([&](Operation *other) { emitWithRegions(other); });
}

void RowEmitter::emitWithRegions(Operation *op) {
  Operation *copy = op->cloneWithoutRegions(state.mapping);
  builder.insert(copy);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions())) {
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(builder);
      Block *newBlock = builder.createBlock(&to, to.end());
      for (BlockArgument argument : block.getArguments())
        state.mapping.map(argument, newBlock->addArgument(argument.getType(), argument.getLoc()));
      emitBranch(block);
    }
  }
}

SmallVector<Value, 4> RowEmitter::counterOf(rows::RandomHalfOp half, Value call) {
  Location loc = half.getLoc();
  Value row = state.mapping.lookup(half.getRow()), site = state.mapping.lookup(half.getSite()),
        step = state.mapping.lookup(half.getStep());
  SmallVector<Value, 4> counter;
  for (Value word : {call, row, site, step})
    counter.push_back(arith::TruncIOp::create(builder, loc, builder.getI32Type(), word));
  return counter;
}

void RowEmitter::emitRowLoad(rows::LoadOp load) {
  Value pointer = getRowPointer(load.getRow()), first = constantI64(builder, load.getLoc(), 0);
  state.mapping.map(load.getResult(), LaneLoops(builder, load.getLoc(), 1).load(load.getType(), pointer, first));
}

void RowEmitter::emitRowStore(rows::StoreOp store) {
  Value pointer = getRowPointer(store.getRow()), first = constantI64(builder, store.getLoc(), 0);
  LaneLoops(builder, store.getLoc(), 1).store(state.mapping.lookup(store.getValue()), pointer, first);
}

//===------------------------------------------- reductions -------------------------------------------------------===//

/// The bits of floating-point lanes, as integers.
static Value toBits(OpBuilder &builder, Location loc, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return toMemory(builder, loc, value, builder.getIntegerType(element.getIntOrFloatBitWidth()));
}

/// The larger one, or a NaN if there is one. Without signs, the bits of floats have as integers the order of the
/// floats, with NaNs above infinity: one instruction, where comparing floats takes three. Signed integers, so that a -0
/// stands below all others.
static Value combineMagnitudes(OpBuilder &builder, Location loc, Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType());
  Value larger = arith::MaxSIOp::create(builder, loc, toBits(builder, loc, a), toBits(builder, loc, b));
  return fromMemory(builder, loc, larger, element);
}

Value cpu::combine(OpBuilder &builder, rows::ReductionKind kind, Value accumulator, Value value) {
  Location loc = value.getLoc();
  switch (kind) {
  case rows::ReductionKind::Sum:
    return arith::AddFOp::create(builder, loc, accumulator, value);
  case rows::ReductionKind::SumOfSquares:
    return math::FmaOp::create(builder, loc, value, value, accumulator);
  case rows::ReductionKind::Max:
    return combineMagnitudes(builder, loc, accumulator, value);
  case rows::ReductionKind::SignedMax:
    return arith::MaximumFOp::create(builder, loc, accumulator, value);
  }
  llvm_unreachable("unknown kind of reduction");
}

Value cpu::createNeutral(OpBuilder &builder, Location loc, rows::ReductionKind kind, Type type) {
  if (kind != rows::ReductionKind::SignedMax)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  TypedAttr least = builder.getFloatAttr(element, APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true));
  if (auto vector = dyn_cast<VectorType>(type))
    least = DenseElementsAttr::get(vector, least);
  return arith::ConstantOp::create(builder, loc, least);
}

rows::ReductionKind cpu::getCombiningKind(rows::ReductionKind kind) {
  return kind == rows::ReductionKind::SumOfSquares ? rows::ReductionKind::Sum : kind;
}

Value cpu::computeFullEnd(OpBuilder &builder, Location loc, Value first, Value end) {
  Value count = arith::SubIOp::create(builder, loc, end, first);
  Value full = arith::AndIOp::create(builder, loc, count, constantI64(builder, loc, -kLanes));
  return arith::AddIOp::create(builder, loc, first, full);
}

Value cpu::extractLanes(OpBuilder &builder, Location loc, Value vector, int32_t first, int32_t count) {
  auto mask = llvm::to_vector(llvm::seq<int32_t>(first, first + count));
  return LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, mask);
}

Value cpu::concatenate(OpBuilder &builder, Location loc, Value low, Value high) {
  int64_t count = 2 * cast<VectorType>(low.getType()).getNumElements();
  auto mask = llvm::to_vector(llvm::seq<int32_t>(0, count));
  return LLVM::ShuffleVectorOp::create(builder, loc, low, high, mask);
}

/// Lane i meets lane i + half the lanes, until one is left. Below 128 bits there are no registers: the upper lanes
/// stay, and hold nothing.
static Value reduceVector(OpBuilder &builder, Location loc, rows::ReductionKind kind, Value vector) {
  Type element = cast<VectorType>(vector.getType()).getElementType();
  int32_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  bool isMax = kind == rows::ReductionKind::Max;
  if (isMax)
    vector = toBits(builder, loc, vector);
  for (int32_t half = lanes / 2; half > 0; half /= 2) {
    Value low = vector, high;
    if (2 * half * element.getIntOrFloatBitWidth() > kSmallestRegisterBits) {
      low = extractLanes(builder, loc, vector, 0, half);
      high = extractLanes(builder, loc, vector, half, half);
    } else {
      SmallVector<int32_t> mask(cast<VectorType>(vector.getType()).getNumElements(), /*nothing*/ -1);
      std::iota(mask.begin(), mask.begin() + half, half);
      high = LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, mask);
    }
    vector = isMax ? arith::MaxSIOp::create(builder, loc, low, high).getResult() : combine(builder, kind, low, high);
  }
  Value first = LLVM::ExtractElementOp::create(builder, loc, vector, constantI64(builder, loc, 0));
  return isMax ? fromMemory(builder, loc, first, element) : first;
}

Value cpu::reduceLanes(OpBuilder &builder, Location loc, rows::ReductionKind kind, SmallVector<Value> parts,
                       ColumnOrder order) {
  kind = getCombiningKind(kind);
  auto addHalf = [&] {
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = combine(builder, kind, parts[i], parts[i + parts.size() / 2]);
    parts.truncate(parts.size() / 2);
  };
  // Until two are left, lanes meet that are of one parity.
  while (parts.size() > 2)
    addHalf();
  if (order == ColumnOrder::EvenOdd)
    std::tie(parts[0], parts[1]) = mergeEvenOdd(builder, loc, parts[0], parts[1]);
  while (parts.size() > 1)
    addHalf();
  return reduceVector(builder, loc, kind, parts.front());
}
