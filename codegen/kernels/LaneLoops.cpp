// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/LaneLoops.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/kernels/IndependentLoops.h"
#include "codegen/kernels/StackBudget.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

/// How often a loop runs; once where that is not known.
static int64_t getTimes(scf::ForOp loop) {
  std::optional<APInt> times = loop.getStaticTripCount();
  return times ? times->getSExtValue() : 1;
}

bool LaneLoop::vary(Value value) {
  Type type = value.getType();
  if (!type.isF32() && !type.isF64() && !type.isInteger(1))
    return false;
  if (isa<FloatType>(type))
    floatBits = std::max(floatBits, type.getIntOrFloatBitWidth());
  varying.insert(value);
  return true;
}

/// An element of a step's own memory, or of memory that all steps share.
bool LaneLoop::takeAccess(Value buffer, ValueRange indices) {
  bool isOwn = isTemporary(buffer);
  return llvm::all_of(indices,
                      [&](Value index) { return isUniform(index) || (!isOwn && index == loop.getInductionVar()); });
}

bool LaneLoop::takeLoop(scf::ForOp inner, int64_t times) {
  for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!isUniform(bound))
      return false;
  carries |= inner.getNumResults() != 0;
  return llvm::all_of(inner.getRegionIterArgs(), [&](Value value) { return vary(value); }) &&
         llvm::all_of(inner.getResults(), [&](Value value) { return vary(value); }) &&
         takeBlock(*inner.getBody(), times * getTimes(inner));
}

bool LaneLoop::takeOp(Operation *op, int64_t times) {
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return takeLoop(inner, times);
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    temporaries.push_back(op);
    return cast<MemRefType>(op->getResultTypes().front()).hasStaticShape();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    bool isSame = llvm::all_of(load.getIndices(), [&](Value index) { return isUniform(index); }) &&
                  !isTemporary(load.getMemRef());
    return takeAccess(load.getMemRef(), load.getIndices()) && (isSame || vary(load));
  }
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return takeAccess(store.getMemRef(), store.getIndices()) && store.getValue() != loop.getInductionVar();
  if (isa<scf::YieldOp>(op))
    return true;
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  if (llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand); }))
    return true;
  operations += times;
  return OpTrait::hasElementwiseMappableTraits(op) && !llvm::is_contained(op->getOperands(), loop.getInductionVar()) &&
         vary(op->getResult(0));
}

bool LaneLoop::takeBlock(Block &block, int64_t times) {
  return llvm::all_of(block, [&](Operation &op) { return takeOp(&op, times); });
}

std::optional<LaneLoop> LaneLoop::find(Operation *op, bool areArgumentsApart) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || loop.getNumResults() != 0 || !loop.getInductionVar().getType().isIndex() ||
      !matchPattern(loop.getLowerBound(), m_Zero()) || !matchPattern(loop.getStep(), m_One()))
    return std::nullopt;
  LaneLoop found(loop);
  if (!found.takeBlock(*loop.getBody(), /*times=*/1) || !found.carries)
    return std::nullopt;
  bool hasRoom = kLeastLanes * found.countTemporaryBytes() <= kScratchRowStackBytes;
  return hasRoom && isIndependent(loop, loop, areArgumentsApart) ? std::optional(found) : std::nullopt;
}

int64_t LaneLoop::countTemporaryBytes() const {
  int64_t bytes = 0;
  for (Operation *temporary : temporaries) {
    auto type = cast<MemRefType>(temporary->getResultTypes().front());
    bytes += type.getNumElements() * getElementBytes(type.getElementType());
  }
  return bytes;
}
