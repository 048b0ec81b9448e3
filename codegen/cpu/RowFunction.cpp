// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the rows of a kernel: the row loop and the operations of one row. The columns are in RowPhase.cpp.

#include "codegen/cpu/RowFunction.h"

#include "codegen/cpu/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

void RowFunctionEmitter::emitRows(rows::KernelOp kernel, Value low, Value high) {
  Location loc = kernel.getLoc();
  loops.emplace(builder, loc, /*vectorLanes=*/1);
  loops->emitLoop(low, high, 1, [&](Value row) {
    Value index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), row);
    mapping.map(kernel.getBody().getArgument(0), index);
    computeRowPointers(kernel, row);
    emitBlock(kernel.getBody().front());
  });
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

void RowFunctionEmitter::computeRowPointers(rows::KernelOp kernel, Value row) {
  Location loc = kernel.getLoc();
  SmallVector<Value> indices(addresses.rowDims.size(), row);
  if (addresses.needsRowIndices())
    indices = delinearize(builder, loc, row, addresses.rowDims);
  for (auto [i, operand] : llvm::enumerate(addresses.operands)) {
    Value offset = constantI64(builder, loc, 0);
    if (operand.linearStride)
      offset = arith::MulIOp::create(builder, loc, row, operand.linearStride);
    for (auto [dimension, stride] : operand.strides) {
      Value step = arith::MulIOp::create(builder, loc, indices[dimension], stride);
      offset = arith::AddIOp::create(builder, loc, offset, step);
    }
    rowPointers[kernel.getRowArgument(i)] =
        LLVM::GEPOp::create(builder, loc, operand.pointer.getType(), operand.elementType, operand.pointer,
                            ValueRange(offset), LLVM::GEPNoWrapFlags::inbounds);
  }
}

void RowFunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    emitOperation(&op);
}

void RowFunctionEmitter::emitOperation(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](rows::PhaseOp phase) { emitPhase(phase); })
      .Case([&](rows::LoadOp load) { emitLoad(load); })
      .Case([&](rows::StoreOp store) { emitStore(store); })
      .Case([&](rows::RandomHalfOp half) { emitRandomHalf(half); })
      .Case([](rows::YieldOp) {})
      .Default([&](Operation *other) { emitWithRegions(other); });
}

void RowFunctionEmitter::emitWithRegions(Operation *op) {
  Operation *copy = op->cloneWithoutRegions(mapping);
  builder.insert(copy);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions())) {
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(builder);
      Block *newBlock = builder.createBlock(&to, to.end());
      for (BlockArgument argument : block.getArguments())
        mapping.map(argument, newBlock->addArgument(argument.getType(), argument.getLoc()));
      emitBlock(block);
    }
  }
}

Value RowFunctionEmitter::columnOf(Value column) {
  Location loc = column.getLoc();
  if (position && column == position->argument)
    return position->column;
  return castToI64(builder, loc, mapping.lookup(column));
}

void RowFunctionEmitter::emitLoad(rows::LoadOp load) {
  Value index = load.getColumn() ? columnOf(load.getColumn()) : constantI64(builder, load.getLoc(), 0);
  mapping.map(load.getResult(), loops->load(load.getType(), rowPointers.lookup(load.getRow()), index));
}

void RowFunctionEmitter::emitStore(rows::StoreOp store) {
  Value index = store.getColumn() ? columnOf(store.getColumn()) : constantI64(builder, store.getLoc(), 0);
  loops->store(mapping.lookup(store.getValue()), rowPointers.lookup(store.getRow()), index);
}

SmallVector<Value, 4> RowFunctionEmitter::counterOf(rows::RandomHalfOp half, Value call) {
  Location loc = half.getLoc();
  Value row = mapping.lookup(half.getRow()), site = mapping.lookup(half.getSite()),
        step = mapping.lookup(half.getStep());
  SmallVector<Value, 4> counter;
  for (Value word : {call, row, site, step})
    counter.push_back(arith::TruncIOp::create(builder, loc, builder.getI32Type(), word));
  return counter;
}

void RowFunctionEmitter::emitRandomHalf(rows::RandomHalfOp half) {
  Location loc = half.getLoc();
  for (auto &[prepared, buffer] : randomHalves) {
    if (prepared != half)
      continue;
    Value number = loops->load(builder.getI16Type(), buffer, position->lane);
    mapping.map(half.getResult(), arith::ExtUIOp::create(builder, loc, builder.getI32Type(), number).getResult());
    return;
  }
  // The row, site, step or seed changes along the columns: one generator call per element.
  Value column = columnOf(half.getColumn());
  Value call = arith::ShRUIOp::create(builder, loc, column, constantI64(builder, loc, 3));
  SmallVector<Value, 4> counter = counterOf(half, call);
  mapping.map(half.getResult(), emitPhiloxHalf(builder, loc, counter, mapping.lookup(half.getSeed()), column));
}
