// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/rows/RowOrders.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static void emitRow(RowEmitter &emitter, rows::KernelOp kernel, Value row) {
  emitter.beginRow(kernel, row);
  emitter.emitBlock(kernel.getBody().front());
}

void cpu::emitSingleRows(RowEmitter &emitter, rows::KernelOp kernel, Value low, Value high) {
  emitter.getBuilder().rolledLoop(low, high, 1, [&](Value row) { emitRow(emitter, kernel, row); });
}

void cpu::emitLoneRow(RowEmitter &emitter, rows::KernelOp kernel) {
  emitRow(emitter, kernel, constantI64(emitter.getBuilder(), kernel.getLoc(), 0));
}
