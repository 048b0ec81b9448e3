// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RegisterSums.h"

#include "codegen/cuda/rows/OpaqueValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

void RegisterSums::forEachChunk(function_ref<void(int64_t)> body) {
  for (int64_t chunk = 0; chunk < plan.getChunks(); ++chunk) {
    if (chunk < plan.getFullChunks())
      body(chunk);
    else
      builder.choose(hasColumns(builder, plan, thread, chunk), [&] { body(chunk); });
  }
}

Value RegisterSums::getAddress(Value level, int64_t chunk) {
  Type f32 = builder.getF32Type();
  Value first = getElementAddress(builder, builder.getLoc(), f32, level, thread.column);
  return builder.create<LLVM::GEPOp>(first.getType(), f32, first, ArrayRef<LLVM::GEPArg>{int32_t(chunk * rows::kLanes)},
                                     LLVM::GEPNoWrapFlags::inbounds);
}

/// The terms of all sums go through the loop over rows side by side.
void RegisterSums::emitChain(RegisterRowEmitter &emitter, LaneSums &lanes, Value first, Value end) {
  auto count = size_t(plan.getChunks() * plan.lanes);
  auto setTerms = [&](ValueRange all) {
    for (auto [i, sum] : llvm::enumerate(sums))
      emitter.getTerms(kernel.getRowArgument(sum.operand)) = llvm::to_vector(all.slice(i * count, count));
  };
  SmallVector<Value> zeros(sums.size() * count, builder.constant(builder.getF32Type(), 0));
  setTerms(builder.rolledLoop(first, end, 1, zeros, [&](Value row, ValueRange before) {
    setTerms(before);
    lanes.beginRow();
    if (plan.prefetchesRows) {
      Value next = builder.min(builder.add(row, 1), builder.subtract(partition.rows, 1));
      emitter.prefetchRow(kernel, next);
    }
    // What is computed from the column stays in the loop: before it, addresses and bounds of all chunks would take more
    // registers than there are.
    Value column = thread.column;
    thread.column = makeOpaque(builder, column);
    emitter.emitRow(kernel, row);
    thread.column = column;
    SmallVector<Value> after;
    for (const Sum &sum : sums)
      llvm::append_range(after, emitter.getTerms(kernel.getRowArgument(sum.operand)));
    return after;
  }));
}

/// What is on level 0 is in registers.
void RegisterSums::addUp(RegisterRowEmitter &emitter, Value isFirst) {
  unsigned alignment = unsigned(std::min(plan.getAccessBytes(builder.getF32Type()), kSumAccessBytes));
  auto emitAll = [&](bool isMove) {
    for (const Sum &sum : sums) {
      ArrayRef<Value> terms = emitter.getTerms(kernel.getRowArgument(sum.operand));
      forEachChunk([&](int64_t chunk) {
        Value value = makeVector(builder, terms.slice(size_t(chunk * plan.lanes), size_t(plan.lanes)));
        if (!isMove) {
          Value place = getAddress(sum.levels[1], chunk);
          Value before = builder.create<LLVM::LoadOp>(value.getType(), place, alignment);
          value = builder.add(before, value);
        }
        builder.create<LLVM::StoreOp>(value, getAddress(sum.levels[1], chunk), alignment);
      });
    }
  };
  builder.choose(
      isFirst, [&] { emitAll(/*isMove=*/true); }, [&] { emitAll(/*isMove=*/false); });
}

void RegisterSums::emitUnit(RegisterRowEmitter &emitter, LaneSums &lanes, Value unit) {
  SumKernels::emitUnit(
      emitter, unit, [&](Value first, Value end) { emitChain(emitter, lanes, first, end); },
      [&](Value isFirst) { addUp(emitter, isFirst); });
}
