// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is the same for kernels of all kinds.

#include "codegen/kernels/KernelOpInterface.h"

using namespace mlir;
using namespace mlir::resid;

#include "codegen/kernels/KernelOpInterface.cpp.inc"

SmallVector<Value> kernels::collectCaptured(Operation *op) {
  SmallVector<Value> captured;
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        captured.push_back(operand);
  });
  return captured;
}
