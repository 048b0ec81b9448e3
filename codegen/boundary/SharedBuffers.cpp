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
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

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

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

namespace {
/// Which part of a buffer an operand is: the views between them, by what they say.
struct Part {
  Value whole;
  SmallVector<std::pair<OperationName, Attribute>> views;

  bool operator==(const Part &other) const { return views == other.views; }
};
} // namespace

static std::optional<Part> findPart(Value operand) {
  Part part{operand, {}};
  while (Operation *op = part.whole.getDefiningOp()) {
    auto view = dyn_cast<memref::SubViewOp>(op);
    if (!view && !kernels::isReshape(op))
      break;
    // Sizes are those of the kernel's loops, which both have.
    if (view &&
        (ShapedType::isDynamicShape(view.getStaticOffsets()) || ShapedType::isDynamicShape(view.getStaticStrides())))
      return std::nullopt;
    part.views.emplace_back(op->getName(), op->getAttrDictionary());
    part.whole = op->getOperand(0);
  }
  return part;
}

/// Calls `visit` with all that use a buffer or a part of it but for its sizes.
static void forEachUser(Value buffer, function_ref<void(Operation *)> visit) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<memref::SubViewOp>(user) || kernels::isReshape(user))
      forEachUser(user->getResult(0), visit);
    else if (!isa<memref::DimOp>(user))
      visit(user);
  }
}

/// The only kernel that uses `source`, if it stands in the function itself or in blocks of rows there, and what else
/// uses `destination` comes after it.
static rows::KernelOp findOnlyReader(func::FuncOp function, Value source, Value destination) {
  llvm::SmallPtrSet<Operation *, 2> readers;
  forEachUser(source, [&](Operation *user) { readers.insert(user); });
  auto kernel = readers.size() == 1 ? dyn_cast<rows::KernelOp>(*readers.begin()) : rows::KernelOp();
  if (!kernel)
    return nullptr;
  Block *entry = &function.getBody().front();
  Operation *parent = kernel->getParentOp();
  bool isInEntry = kernel->getBlock() == entry;
  if (!isInEntry && (parent->getBlock() != entry || isa<RegionBranchOpInterface>(parent)))
    return nullptr;
  bool isFirst = true;
  forEachUser(destination, [&](Operation *user) {
    Operation *beside = kernel->getBlock()->findAncestorOpInBlock(*user);
    Operation *place = entry->findAncestorOpInBlock(*user), *own = entry->findAncestorOpInBlock(*kernel);
    isFirst &= user == kernel || (beside ? kernel->isBeforeInBlock(beside) : place && own->isBeforeInBlock(place));
  });
  return isFirst ? kernel : nullptr;
}

/// Several streams that a kernel reads and writes, each at its own place. Other kernels may read them then.
static bool rewritesStreams(func::FuncOp function, Value source, Value destination) {
  rows::KernelOp kernel =
      source.getType() == destination.getType() ? findOnlyReader(function, source, destination) : rows::KernelOp();
  if (!kernel)
    return false;
  SmallVector<std::pair<Part, KernelAccess>> reads, writes;
  SmallVector<AffineMap> maps = llvm::to_vector(kernel.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  unsigned inputs = kernel.getInputs().size();
  for (auto [index, operand] :
       llvm::enumerate(llvm::concat<Value>(llvm::to_vector(kernel.getInputs()), llvm::to_vector(kernel.getInits())))) {
    std::optional<Part> part = findPart(operand);
    if (!part)
      return false;
    if (part->whole == (index < inputs ? source : destination))
      (index < inputs ? reads : writes).push_back({*part, {cast<ShapedType>(operand.getType()), maps[index]}});
    else if (part->whole == source || part->whole == destination)
      return false;
  }
  return writes.size() > 1 && !reads.empty() && llvm::all_of(reads, [&](const auto &read) {
           return llvm::any_of(writes, [&](const auto &write) {
             return read.first == write.first && read.second.map == write.second.map &&
                    rows::mayShareBuffer(read.second.type, write.second.type);
           });
         });
}

static void findRewrittenStreams(func::FuncOp function, KernelSignature &signature) {
  for (auto [result, output] : llvm::enumerate(signature.results))
    for (auto [argument, input] : llvm::enumerate(signature.arguments))
      if (input.isArray() && output.isArray() &&
          rewritesStreams(function, function.getArgument(1 + argument),
                          function.getArgument(1 + signature.arguments.size() + result)))
        signature.inPlace.push_back({unsigned(result), unsigned(argument)});
}

/// A kernel reads a row of an input whole before its first store to an output that may be the same row; so the input
/// must have the output's type for the kernel, and be read at the output's own rows and columns only.
void mlir::resid::boundary::findSharedBuffers(func::FuncOp function, KernelSignature &signature) {
  findRewrittenStreams(function, signature);
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
