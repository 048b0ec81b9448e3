// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rare branches on the vector path: rows, local ones too, come as pointers, and nothing is asked for ahead.

#include "codegen/cpu/rows/RareBranchCaller.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

void RareBranchCaller::emitBranch(Block &block) {
  auto getPointer = [&](rows::LoadOp load) { return memory.getSource(load, state.pointers).pointer; };
  auto emitBody = [&](const RareBranchBody &body) {
    KernelAddresses shape;
    shape.width = body.width;
    VectorFunction shell(builder, body.entry, shape, function.target);
    Value one = constantI64(builder, block.getParentOp()->getLoc(), 1);
    CachedMemory operands(ScratchRows(shell, one));
    VectorPrefetches none(shell, PrefetchScope::Nothing, one);
    VectorRowEmitter emitter(shell, body.mapping, operands, none);
    emitter.getState().pointers = body.rowPointers;
    emitter.emitBlock(block);
  };
  if (!rare.emitCall(builder, block, {state.mapping, getPointer, addresses.width}, emitBody))
    emitBlock(block);
}
