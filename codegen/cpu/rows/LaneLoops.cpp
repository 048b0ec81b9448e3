// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops with the annotations that make LLVM vectorise them, as scf.for.

#include "codegen/cpu/rows/LaneLoops.h"

#include "codegen/kernels/LoopHints.h"
#include "codegen/rows/RowAddressing.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static scf::ForOp createLoop(OpBuilder &builder, Location loc, Value low, Value high, Value step,
                             function_ref<void(Value)> body) {
  auto emitBody = [&](OpBuilder &, Location, Value index, ValueRange) {
    body(index);
    scf::YieldOp::create(builder, loc);
  };
  return scf::ForOp::create(builder, loc, low, high, step, ValueRange(), emitBody);
}

void LaneLoops::emitLoop(Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  emitLoop(low, high, constantI64(builder, loc, step), body);
}

void LaneLoops::emitLoop(Value low, Value high, Value step, function_ref<void(Value)> body) {
  setUnrolling(createLoop(builder, loc, low, high, step, body), 1);
}

SmallVector<Value> LaneLoops::emitLoop(Value low, Value high, int64_t step, ValueRange first,
                                       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto emitBody = [&](OpBuilder &, Location, Value index, ValueRange carried) {
    scf::YieldOp::create(builder, loc, body(index, carried));
  };
  auto loop = scf::ForOp::create(builder, loc, low, high, constantI64(builder, loc, step), first, emitBody);
  setUnrolling(loop, 1);
  return SmallVector<Value>(loop.getResults());
}

LLVM::LoopAnnotationAttr LaneLoops::annotateLanes(unsigned lanes) {
  MLIRContext *context = builder.getContext();
  // A width without "enable" is a wish and no demand: LLVM warns about demands that it does not meet.
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, {}, {}, {}, builder.getI32IntegerAttr(lanes), {}, {}, {});
  auto interleave = LLVM::LoopInterleaveAttr::get(context, builder.getI32IntegerAttr(1));
  return LLVM::LoopAnnotationAttr::get(context, {}, vectorize, interleave, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                       group);
}

void LaneLoops::emitLanes(Value count, function_ref<void(Value)> body, unsigned lanes) {
  group = LLVM::AccessGroupAttr::get(builder.getContext(), DistinctAttr::create(UnitAttr::get(builder.getContext())));
  Value zero = constantI64(builder, loc, 0), one = constantI64(builder, loc, 1);
  scf::ForOp loop = createLoop(builder, loc, zero, count, one, body);
  loop->setDiscardableAttr(LLVM::LoopAnnotationAttr::name, annotateLanes(lanes ? lanes : vectorLanes));
  group = {};
}

Value LaneLoops::load(Type type, Value pointer, Value index) {
  Type memory = kernels::getMemoryType(type);
  auto load = LLVM::LoadOp::create(builder, loc, memory, getElementAddress(builder, loc, memory, pointer, index),
                                   /*alignment=*/1);
  if (group)
    load.setAccessGroupsAttr(builder.getArrayAttr(group));
  return fromMemory(builder, loc, load, type);
}

void LaneLoops::store(Value value, Value pointer, Value index) {
  Type memory = kernels::getMemoryType(value.getType());
  auto store = LLVM::StoreOp::create(builder, loc, toMemory(builder, loc, value, memory),
                                     getElementAddress(builder, loc, memory, pointer, index), /*alignment=*/1);
  if (group)
    store.setAccessGroupsAttr(builder.getArrayAttr(group));
}

Value LaneLoops::loadVector(VectorType type, Value pointer, int64_t first) {
  Value start = getElementAddress(builder, loc, type.getElementType(), pointer, constantI64(builder, loc, first));
  return LLVM::LoadOp::create(builder, loc, type, start, /*alignment=*/1);
}
