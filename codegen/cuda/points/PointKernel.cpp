// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/PointKernel.h"

#include "codegen/cuda/Passes.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "codegen/kernels/Extent.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;

/// A grid may have fewer threads than there are points, so threads take points in turn.
void PointKernel::emit() {
  Type i64 = IntegerType::get(getFirst().op->getContext(), 64);
  addFunction("__points", i64, kPointThreads, getMostRegisters(), [&](Code &code, KernelBody &body) {
    EmitPoint emitPoint = emitKernel(code, body);
    Value thread = getNumber<NVVM::ThreadIdXOp>(code), block = getNumber<NVVM::BlockIdXOp>(code);
    Value blocks = getNumber<NVVM::GridDimXOp>(code);
    Value first = code.add(code.multiply(block, kPointThreads), thread);
    code.loop(first, body.getArgumentFromEnd(1), code.multiply(blocks, kPointThreads), emitPoint);
  });
}

LogicalResult PointKernel::launch(KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  SmallVector<Value> arguments = functions.getArguments(code, use);
  Value points = countPoints(code, use);
  arguments.push_back(points);
  Value blocks = code.ceilDivide(points, code.constant(kPointThreads));
  return launchFunction(0, use.op, use, blocks, code.constant(kPointThreads), arguments);
}
