// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis of which outputs may overwrite which inputs.

#include "codegen/boundary/SharedBuffers.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/rows/RowProgram.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// The only kernel of the function, if nothing else in it touches arrays.
static rows::KernelOp findOnlyKernel(func::FuncOp function) {
  rows::KernelOp kernel;
  for (Operation &op : function.getBody().front()) {
    if (auto next = dyn_cast<rows::KernelOp>(op)) {
      if (kernel)
        return nullptr;
      kernel = next;
      continue;
    }
    if (!isa<rows::RequireOp, func::ReturnOp>(op) && !isMemoryEffectFree(&op))
      return nullptr;
  }
  return kernel;
}

/// All uses of the buffer are the kernel's (through reshapes), or ask for its sizes.
static bool isUsedByKernelOnly(Value buffer, rows::KernelOp kernel) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    return user == kernel || isa<memref::DimOp>(user) ||
           (kernels::isReshape(user) && isUsedByKernelOnly(user->getResult(0), kernel));
  });
}

namespace {
/// An operand of the kernel: its type there, and its map.
struct KernelAccess {
  ShapedType type;
  AffineMap map;
};
} // namespace

/// Whether the kernel only copies its input.
static bool isCopy(rows::KernelOp kernel) {
  auto maps = kernel.getIndexingMaps().getAsValueRange<AffineMapAttr>();
  if (kernel.getInputs().size() != 1 || kernel.getInits().size() != 1 || *maps.begin() != *std::next(maps.begin()))
    return false;
  auto onlyMoves = [](Operation *op) {
    return WalkResult(success(isa<rows::PhaseOp, rows::LoadOp, rows::StoreOp, rows::YieldOp>(op)));
  };
  return !kernel.getBody().walk(onlyMoves).wasInterrupted();
}

/// The op that copies `source` to `destination`, where nothing else reads `source` and nothing before it touches
/// `destination`.
static Operation *findFirstCopy(Value source, Value destination) {
  Operation *copy = nullptr;
  for (Operation *user : source.getUsers()) {
    if (isa<memref::DimOp>(user))
      continue;
    auto move = dyn_cast<memref::CopyOp>(user);
    auto kernel = dyn_cast<rows::KernelOp>(user);
    bool isWhole = (move && move.getSource() == source && move.getTarget() == destination) ||
                   (kernel && isCopy(kernel) && kernel.getInits().front() == destination);
    if (copy || !isWhole || user->getBlock() != source.getParentBlock())
      return nullptr;
    copy = user;
  }
  auto comesLater = [&](Operation *user) {
    Operation *place = copy->getBlock()->findAncestorOpInBlock(*user);
    return user == copy || isa<memref::DimOp>(user) || (place && copy->isBeforeInBlock(place));
  };
  return copy && llvm::all_of(destination.getUsers(), comesLater) ? copy : nullptr;
}

/// Leaves out the copy where both are one buffer.
static void skipCopyOfItself(Operation *copy, Value source, Value destination) {
  OpBuilder builder(copy);
  Location loc = copy->getLoc();
  Value from = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, source);
  Value to = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, destination);
  Value differ = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, from, to);
  auto branch = scf::IfOp::create(builder, loc, differ);
  copy->moveBefore(branch.thenYield());
}

/// Caches that grow.
static void findCopiedBuffers(func::FuncOp function, KernelSignature &signature) {
  for (auto [result, output] : llvm::enumerate(signature.results)) {
    Value destination = function.getArgument(1 + signature.arguments.size() + result);
    for (auto [argument, input] : llvm::enumerate(signature.arguments)) {
      Value source = function.getArgument(1 + argument);
      bool isAlike = input.isArray() && output.isArray() && source.getType() == destination.getType();
      Operation *copy = isAlike ? findFirstCopy(source, destination) : nullptr;
      if (!copy)
        continue;
      skipCopyOfItself(copy, source, destination);
      signature.inPlace.push_back({unsigned(result), unsigned(argument)});
      break;
    }
  }
}

/// A kernel reads a row of an input whole before its first store to an output that may be the same row; so the input
/// must have the output's type for the kernel, and be read at the output's own rows and columns only.
void mlir::resid::boundary::findSharedBuffers(func::FuncOp function, KernelSignature &signature) {
  rows::KernelOp kernel = findOnlyKernel(function);
  if (!kernel)
    return findCopiedBuffers(function, signature);
  SmallVector<AffineMap> maps = llvm::to_vector(kernel.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  auto accessesOf = [&](Value buffer) {
    SmallVector<KernelAccess> found;
    for (auto [index, operand] :
         llvm::enumerate(llvm::concat<Value>(llvm::to_vector(kernel.getInputs()), llvm::to_vector(kernel.getInits()))))
      if (kernels::skipReshapes(operand) == buffer)
        found.push_back({cast<ShapedType>(operand.getType()), maps[index]});
    return found;
  };
  for (auto [result, output] : llvm::enumerate(signature.results)) {
    Value destination = function.getArgument(1 + signature.arguments.size() + result);
    SmallVector<KernelAccess> writes = accessesOf(destination);
    if (writes.size() != 1 || !isUsedByKernelOnly(destination, kernel))
      continue;
    for (auto [argument, input] : llvm::enumerate(signature.arguments)) {
      Value source = function.getArgument(1 + argument);
      SmallVector<KernelAccess> reads = input.isArray() ? accessesOf(source) : SmallVector<KernelAccess>();
      bool same = !reads.empty() && llvm::all_of(reads, [&](const KernelAccess &read) {
        return read.map == writes.front().map && rows::mayShareBuffer(read.type, writes.front().type);
      });
      if (same && isUsedByKernelOnly(source, kernel))
        signature.inPlace.push_back({unsigned(result), unsigned(argument)});
    }
  }
}
