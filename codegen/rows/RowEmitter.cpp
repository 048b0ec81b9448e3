// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

void RowEmitter::beginRow(rows::KernelOp kernel, Value row) {
  Value index = arith::IndexCastOp::create(builder, kernel.getLoc(), builder.getIndexType(), row);
  state.mapping.map(kernel.getBody().getArgument(0), index);
  computeRowPointers(kernel, row);
}

void RowEmitter::computeRowPointers(rows::KernelOp kernel, Value row) {
  Location loc = kernel.getLoc();
  SmallVector<Value> indices(addresses.rowDims.size(), row);
  if (addresses.needsRowIndices())
    indices = builder.delinearize(row, addresses.rowDims);
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
  if (Value first = half.getOriginCall())
    call = arith::AddIOp::create(builder, loc, call, state.mapping.lookup(first));
  SmallVector<Value, 4> counter;
  for (Value word : {call, row, site, step})
    counter.push_back(arith::TruncIOp::create(builder, loc, builder.getI32Type(), word));
  return counter;
}

void RowEmitter::emitRowLoad(rows::LoadOp load) {
  Value pointer = getRowPointer(load.getRow()), first = constantI64(builder, load.getLoc(), 0);
  state.mapping.map(load.getResult(), loadElement(builder, load.getLoc(), load.getType(), pointer, first, alignment));
}

void RowEmitter::emitRowStore(rows::StoreOp store) {
  Value pointer = getRowPointer(store.getRow()), first = constantI64(builder, store.getLoc(), 0);
  storeElement(builder, store.getLoc(), state.mapping.lookup(store.getValue()), pointer, first, alignment);
}
