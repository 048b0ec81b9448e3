// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/IndependentLoops.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

namespace {
/// A load or a store of one element.
struct ElementAccess {
  Value buffer;
  ValueRange indices;
  bool isWrite;
};
} // namespace

static SmallVector<ElementAccess> collectElementAccesses(Operation *loop) {
  SmallVector<ElementAccess> accesses;
  loop->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      accesses.push_back({load.getMemRef(), load.getIndices(), /*isWrite=*/false});
    if (auto store = dyn_cast<memref::StoreOp>(op))
      accesses.push_back({store.getMemRef(), store.getIndices(), /*isWrite=*/true});
  });
  return accesses;
}

bool kernels::hasElementsOnly(Operation *loop, bool withTemporaries) {
  return !loop->walk([&](Operation *op) {
                bool isOwn = withTemporaries && isa<memref::AllocOp, memref::AllocaOp>(op) &&
                             cast<MemRefType>(op->getResultTypes().front()).hasStaticShape();
                bool isElement = isa<memref::LoadOp, memref::StoreOp, scf::ForOp, scf::IfOp>(op) ||
                                 (isMemoryEffectFree(op) && !isa_and_present<memref::MemRefDialect>(op->getDialect()));
                return isOwn || isElement ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Along which of its dimensions an access is at the number of the step.
static llvm::SmallBitVector findStepDimensions(const ElementAccess &access, Value step) {
  llvm::SmallBitVector dimensions(access.indices.size());
  for (auto [dimension, index] : llvm::enumerate(access.indices))
    dimensions[dimension] = index == step;
  return dimensions;
}

/// Whether elements of the same indices are the same elements, should the buffers overlap: both are whole arrays of the
/// caller, which are one array or have nothing in common.
static bool lieAlike(Value a, Value b) {
  auto isWhole = [](Value buffer) { return findArgumentPointer(skipReshapes(buffer)) != nullptr; };
  return a.getType() == b.getType() && isWhole(a) && isWhole(b);
}

static bool areTwoArguments(Value a, Value b) {
  a = skipReshapes(a), b = skipReshapes(b);
  auto isArgument = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  };
  return a != b && isArgument(a) && isArgument(b);
}

bool kernels::isIndependent(scf::ForOp loop, Operation *loops, bool areArgumentsApart) {
  if (loop->hasAttr(kIndependentAttribute))
    return true;
  SmallVector<ElementAccess> accesses = collectElementAccesses(loops);
  return llvm::all_of(accesses, [&](const ElementAccess &write) {
    // What a step allocates is its own.
    if (!write.isWrite || loop.getRegion().isAncestor(Value(write.buffer).getParentRegion()))
      return true;
    llvm::SmallBitVector common = findStepDimensions(write, loop.getInductionVar());
    for (const ElementAccess &access : accesses) {
      if (access.buffer != write.buffer && (areDisjoint(access.buffer, write.buffer) ||
                                            (areArgumentsApart && areTwoArguments(access.buffer, write.buffer))))
        continue;
      if (access.buffer != write.buffer && !lieAlike(access.buffer, write.buffer))
        return false;
      common &= findStepDimensions(access, loop.getInductionVar());
    }
    return common.any();
  });
}
