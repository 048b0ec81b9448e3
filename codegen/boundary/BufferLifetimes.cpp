// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers operations and follows buffers through views, branches and loops.

#include "codegen/boundary/BufferLifetimes.h"

#include "mlir/Dialect/Bufferization/IR/BufferViewFlowOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::resid::boundary;

BufferLifetimes::BufferLifetimes(func::FuncOp function, bool isForDevice)
    : function(function), isForDevice(isForDevice), flow(function) {
  number(function);
}

void BufferLifetimes::number(Operation *op) {
  unsigned first = next++;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      number(&inner);
  numbers[op] = {first, next - 1};
}

/// Whether the op looks at a buffer's type and place only.
static bool leavesContentsAlone(Operation *op) {
  return isa<ViewLikeOpInterface, memref::DimOp, memref::DeallocOp>(op);
}

/// Whether the op may make another name of its operand's buffer that the analysis of aliases does not see.
static bool hidesBuffers(Operation *op) {
  if (isa<memref::ExtractAlignedPointerAsIndexOp, UnrealizedConversionCastOp>(op))
    return true;
  return !isa<ViewLikeOpInterface, bufferization::BufferViewFlowOpInterface, RegionBranchOpInterface, CallOpInterface>(
             op) &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
}

/// Whether what is in the op runs once at most when the op runs.
static bool runsOnce(Operation *op) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return branch && !isa<LoopLikeOpInterface>(op) && !branch.hasLoop();
}

/// The operations over which a use by `user` keeps a buffer alive that is made in the region of `home`.
LiveRange BufferLifetimes::getReach(Operation *user, Operation *home) const {
  LiveRange reach = numbers.lookup(user);
  for (Operation *around = user->getParentOp(); !around->isAncestor(home); around = around->getParentOp())
    if (!runsOnce(around))
      reach.include(numbers.lookup(around));
  return reach;
}

/// A load, and all that is computed from what it loads.
static llvm::SetVector<Operation *> collectReaders(memref::LoadOp load) {
  llvm::SetVector<Operation *> readers;
  readers.insert(load);
  for (size_t i = 0; i < readers.size(); ++i)
    readers.insert_range(readers[i]->getUsers());
  return readers;
}

LiveRange BufferLifetimes::getRange(Value allocation) const {
  Operation *home = allocation.getDefiningOp()->getParentOp();
  std::optional<LiveRange> range;
  for (Value alias : flow.resolve(allocation))
    for (Operation *user : alias.getUsers()) {
      if (hidesBuffers(user))
        return numbers.lookup(function);
      if (leavesContentsAlone(user))
        continue;
      LiveRange reach = getReach(user, home);
      if (auto load = dyn_cast<memref::LoadOp>(user); load && isForDevice)
        for (Operation *reader : collectReaders(load))
          reach.include(getReach(reader, home));
      if (range)
        range->include(reach);
      else
        range = reach;
    }
  return range.value_or(numbers.lookup(allocation.getDefiningOp()));
}

bool BufferLifetimes::isCarriedByLoop(Value allocation) const {
  Operation *maker = allocation.getDefiningOp();
  return llvm::any_of(flow.resolve(allocation), [&](Value alias) {
    auto argument = dyn_cast<BlockArgument>(alias);
    Operation *owner = argument ? argument.getOwner()->getParentOp() : alias.getDefiningOp();
    return isa<LoopLikeOpInterface>(owner) && owner->isProperAncestor(maker);
  });
}
