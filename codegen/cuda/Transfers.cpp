// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/Transfers.h"

#include "codegen/cuda/Launch.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static bool isContiguous(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.getLayout().isIdentity() && isa<FloatType, IntegerType, IndexType>(type.getElementType());
}

bool cuda::isTransfer(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return isContiguous(copy.getSource()) && isContiguous(copy.getTarget());
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && isContiguous(fill.getOutputs().front()) && !isa<ShapedType>(fill.getInputs().front().getType());
}

/// Elements of a buffer, as i64.
static Value countElements(OpBuilder &builder, Location loc, Value buffer) {
  Value count = constantI64(builder, loc, 1);
  for (int64_t dimension = 0, rank = cast<MemRefType>(buffer.getType()).getRank(); dimension < rank; ++dimension) {
    Value size = castToI64(builder, loc, computeSize(builder, loc, buffer, dimension));
    count = builder.createOrFold<arith::MulIOp>(loc, count, size);
  }
  return count;
}

LogicalResult cuda::lowerTransfer(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto host = op->getParentOfType<func::FuncOp>();
  LogicalResult result = failure();
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    Value count = countElements(builder, loc, copy.getTarget());
    int64_t elementBytes = kernels::getElementBytes(cast<MemRefType>(copy.getTarget().getType()).getElementType());
    Value bytes = arith::MulIOp::create(builder, loc, count, constantI64(builder, loc, elementBytes));
    result = copyMemory(op, host, computePointer(builder, loc, copy.getTarget()),
                        computePointer(builder, loc, copy.getSource()), bytes);
  } else {
    auto fill = cast<linalg::FillOp>(op);
    Value buffer = fill.getOutputs().front(), count = countElements(builder, loc, buffer);
    result = fillMemory(op, host, computePointer(builder, loc, buffer), fill.getInputs().front(), count);
  }
  if (succeeded(result))
    op->erase();
  return result;
}
