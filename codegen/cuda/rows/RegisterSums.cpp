// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RegisterSums.h"

#include "codegen/cuda/rows/OpaqueValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static unsigned getAlignment(const RegisterPlan &plan, Type type) {
  return unsigned(std::min(plan.getAccessBytes(type), kSumAccessBytes));
}

void RegisterSums::forEachChunk(function_ref<void(int64_t)> body) {
  for (int64_t chunk = 0; chunk < plan.getChunks(); ++chunk) {
    if (chunk < plan.getFullChunks()) {
      body(chunk);
      continue;
    }
    scf::IfOp::create(builder, loc, hasColumns(builder, loc, plan, thread, chunk), [&](OpBuilder &, Location) {
      body(chunk);
      scf::YieldOp::create(builder, loc);
    });
  }
}

Value RegisterSums::getAddress(Value level, int64_t chunk) {
  Type f32 = builder.getF32Type();
  Value first = getElementAddress(builder, loc, f32, level, thread.column);
  return LLVM::GEPOp::create(builder, loc, first.getType(), f32, first,
                             ArrayRef<LLVM::GEPArg>{int32_t(chunk * rows::kLanes)}, LLVM::GEPNoWrapFlags::inbounds);
}

Value RegisterSums::loadChunk(Value level, int64_t chunk) {
  auto type = VectorType::get(plan.lanes, builder.getF32Type());
  return LLVM::LoadOp::create(builder, loc, type, getAddress(level, chunk), getAlignment(plan, type.getElementType()));
}

void RegisterSums::storeChunk(Value value, Value level, int64_t chunk) {
  LLVM::StoreOp::create(builder, loc, value, getAddress(level, chunk), getAlignment(plan, builder.getF32Type()));
}

Value RegisterSums::getVector(ArrayRef<Value> terms) {
  Value vector = LLVM::PoisonOp::create(builder, loc, VectorType::get(plan.lanes, builder.getF32Type()));
  for (auto [lane, term] : llvm::enumerate(terms))
    vector = LLVM::InsertElementOp::create(builder, loc, vector, term, constant(int64_t(lane)));
  return vector;
}

/// The terms of all sums go through the loop over rows side by side.
void RegisterSums::emitChain(RegisterRowEmitter &emitter, LaneSums &lanes, Value first, Value end) {
  auto count = size_t(plan.getChunks() * plan.lanes);
  auto setTerms = [&](ValueRange all) {
    for (auto [i, sum] : llvm::enumerate(sums))
      emitter.getTerms(kernel.getRowArgument(sum.operand)) = llvm::to_vector(all.slice(i * count, count));
  };
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(builder.getF32Type()));
  SmallVector<Value> zeros(sums.size() * count, zero);
  setTerms(builder.rolledLoop(first, end, 1, zeros, [&](Value row, ValueRange before) {
    setTerms(before);
    lanes.beginRow();
    if (plan.prefetchesRows) {
      Value next = arith::AddIOp::create(builder, loc, row, constant(1));
      Value last = arith::SubIOp::create(builder, loc, partition.rows, constant(1));
      emitter.prefetchRow(kernel, arith::MinSIOp::create(builder, loc, next, last));
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
  auto emitAll = [&](bool isMove) {
    for (const Sum &sum : sums) {
      ArrayRef<Value> terms = emitter.getTerms(kernel.getRowArgument(sum.operand));
      forEachChunk([&](int64_t chunk) {
        Value value = getVector(terms.slice(size_t(chunk * plan.lanes), size_t(plan.lanes)));
        if (!isMove)
          value = LLVM::FAddOp::create(builder, loc, loadChunk(sum.levels[1], chunk), value);
        storeChunk(value, sum.levels[1], chunk);
      });
    }
    scf::YieldOp::create(builder, loc);
  };
  scf::IfOp::create(
      builder, loc, isFirst, [&](OpBuilder &, Location) { emitAll(/*isMove=*/true); },
      [&](OpBuilder &, Location) { emitAll(/*isMove=*/false); });
}

void RegisterSums::emitUnit(RegisterRowEmitter &emitter, LaneSums &lanes, Value unit) {
  chooseUnit(emitter, unit);
  emitChains(
      unit, [&](Value first, Value end) { emitChain(emitter, lanes, first, end); },
      [&](Value isFirst) { addUp(emitter, isFirst); });
}
