// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/GuardedElements.h"

#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::resid;

/// Adds what says whether an index is inside, or what it is computed from.
static void collectConditions(Value index, llvm::SetVector<Value> &conditions) {
  Operation *op = index.getDefiningOp();
  if (!op || isa<memref::LoadOp>(op))
    return;
  if (auto kept = dyn_cast<arith::SelectOp>(op); kept && kept->hasAttr(rows::kKeptInsideAttribute))
    conditions.insert(kept.getCondition());
  else if (op->getNumRegions() == 0)
    for (Value operand : op->getOperands())
      collectConditions(operand, conditions);
}

/// Whether all indices are inside, i1; null where they are known to be.
static Value findCondition(OpBuilder &builder, Location loc, ValueRange indices) {
  llvm::SetVector<Value> conditions;
  for (Value index : indices)
    collectConditions(index, conditions);
  Value all;
  for (Value isInside : conditions)
    all = all ? Value(arith::AndIOp::create(builder, loc, all, isInside)) : isInside;
  return all;
}

static void guard(memref::LoadOp load) {
  OpBuilder builder(load->getContext());
  builder.setInsertionPointAfter(load);
  Location loc = load.getLoc();
  Value areInside = findCondition(builder, loc, load.getIndices());
  if (!areInside)
    return;
  Type type = load.getType();
  TypedAttr outside = builder.getZeroAttr(type);
  if (auto element = dyn_cast<FloatType>(type))
    outside = builder.getFloatAttr(element, APFloat::getNaN(element.getFloatSemantics()));
  Value absent = arith::ConstantOp::create(builder, loc, outside);
  auto guarded = arith::SelectOp::create(builder, loc, areInside, load, absent);
  load.getResult().replaceAllUsesExcept(guarded, guarded);
}

static void guard(memref::StoreOp store) {
  OpBuilder builder(store);
  Value areInside = findCondition(builder, store.getLoc(), store.getIndices());
  if (!areInside)
    return;
  auto branch = scf::IfOp::create(builder, store.getLoc(), areInside, /*withElseRegion=*/false);
  store->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
}

void cuda::guardElements(Operation *root) {
  SmallVector<Operation *> accesses;
  root->walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp>(op))
      accesses.push_back(op);
  });
  for (Operation *access : accesses) {
    if (auto load = dyn_cast<memref::LoadOp>(access))
      guard(load);
    else
      guard(cast<memref::StoreOp>(access));
  }
}
