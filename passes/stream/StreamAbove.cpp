// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/StreamAbove.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/Sums.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::skipCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, tensor::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether `value` is made by something of a stream.
static bool isOnStream(Value value) {
  Operation *op = skipCasts(value).getDefiningOp();
  return op && (isa<AddOp, BlockOp, ReadOp, WriteOp, scf::ForOp>(op) || getNormParts(op));
}

/// What a loop carries: the value it starts with, if its iterations change it.
static Value getInit(BlockArgument argument, unsigned &subLayers) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
  if (!init)
    return Value();
  subLayers += loop.getTiedLoopYieldedValue(argument)->get() != argument;
  return init->get();
}

/// The value before `value` on its stream; null where the stream begins.
static Value getAbove(Value value, unsigned &subLayers) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return getInit(cast<BlockArgument>(value), subLayers);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return getInit(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)), subLayers);
  if (std::optional<NormParts> norm = getNormParts(op))
    return op->getResult(0) == value ? norm->x : Value();
  if (auto dropout = dyn_cast<DropoutOp>(op))
    return dropout.getX();
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getX();
  subLayers += isa<BlockOp, AddOp, WriteOp>(op);
  if (auto block = dyn_cast<BlockOp>(op))
    return block.getX();
  if (auto write = dyn_cast<WriteOp>(op))
    return write.getX();
  auto add = dyn_cast<AddOp>(op);
  if (!add)
    return Value();
  bool isOther = commutes(add) && !isOnStream(add.getX()) && isOnStream(add.getF());
  return isOther ? add.getF() : add.getX();
}

SmallVector<Value> resid::findStreamAbove(Value value) {
  SmallVector<Value> values;
  unsigned subLayers = 0;
  while (value) {
    value = skipCasts(value);
    values.push_back(value);
    value = getAbove(value, subLayers);
  }
  return values;
}

bool resid::comesOutOfSubLayer(Value value) {
  unsigned subLayers = 0;
  while (value && subLayers == 0)
    value = getAbove(skipCasts(value), subLayers);
  return subLayers > 0;
}
