// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/rows/VectorFunction.h"

#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

Value VectorFunction::getPaddedWidth(Location loc) {
  if (paddedWidth)
    return paddedWidth;
  Value widest = builder.add(addresses.width, rows::kLanes - 1);
  return paddedWidth = builder.both(widest, -rows::kLanes);
}

Value VectorFunction::allocate(Location loc, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
                                builder.constant(1), kLineBytes);
}
