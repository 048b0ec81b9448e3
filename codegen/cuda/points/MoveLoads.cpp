// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/MoveLoads.h"

#include "codegen/cuda/points/SerialLoops.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

//===------------------------------------------- what is computed from elements -----------------------------------===//

llvm::SetVector<Operation *> cuda::collectSlice(Value value) {
  llvm::SetVector<Operation *> slice;
  std::function<void(Value)> add = [&](Value from) {
    Operation *op = from.getDefiningOp();
    bool isComputed = op && !isa<MemRefType>(from.getType()) && op->getNumRegions() == 0 &&
                      (isMemoryEffectFree(op) || isa<memref::LoadOp>(op));
    if (!isComputed || slice.contains(op))
      return;
    for (Value operand : op->getOperands())
      add(operand);
    slice.insert(op);
  };
  add(value);
  return slice;
}

bool cuda::isFromMemory(Value value) {
  return llvm::any_of(collectSlice(value), [](Operation *op) { return isa<memref::LoadOp>(op); });
}

/// Whether an op may write what `buffer` holds.
static bool mayWrite(Operation *op, Value buffer) {
  // New memory has nothing that was there before.
  if (isMemoryEffectFree(op) || isa<memref::LoadOp, memref::AllocOp>(op))
    return false;
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  auto writes = [&](Value written) {
    return isa<MemRefType>(written.getType()) && !kernels::areDisjoint(written, buffer);
  };
  if (destination)
    return llvm::any_of(destination.getDpsInits(), writes);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return writes(store.getMemRef());
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return writes(copy.getTarget());
  return !isa<rows::RequireOp>(op);
}

bool cuda::isSameAt(memref::LoadOp load, Operation *place) {
  if (load->getBlock() != place->getBlock())
    return false;
  for (Operation *op = load->getNextNode(); op != place; op = op->getNextNode())
    if (!op || mayWrite(op, load.getMemRef()))
      return false;
  return true;
}

//===------------------------------------------- into nests -------------------------------------------------------===//

/// Computes `value` in the body of the nest.
static void moveInto(linalg::GenericOp nest, Value value) {
  llvm::SetVector<Operation *> slice = collectSlice(value);
  bool mayMove = llvm::all_of(slice, [&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return !load || isSameAt(load, nest);
  });
  if (!mayMove)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(nest.getBody());
  IRMapping mapping;
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  value.replaceUsesWithIf(mapping.lookup(value), [&](OpOperand &use) {
    return nest->isProperAncestor(use.getOwner()) && !llvm::is_contained(slice, use.getOwner());
  });
}

/// Scalars among the inputs are read in the body, where they may move in.
static void takeScalars(linalg::GenericOp nest) {
  for (int64_t input = nest.getNumDpsInputs() - 1; input >= 0; --input) {
    Value scalar = nest.getInputs()[input];
    if (isa<MemRefType>(scalar.getType()) || !isFromMemory(scalar))
      continue;
    SmallVector<Attribute> maps = llvm::to_vector(nest.getIndexingMaps());
    maps.erase(maps.begin() + input);
    nest.getBody()->getArgument(input).replaceAllUsesWith(scalar);
    nest.getBody()->eraseArgument(input);
    nest.getInputsMutable().erase(input);
    nest.setIndexingMapsAttr(ArrayAttr::get(nest.getContext(), maps));
  }
}

void cuda::writeNumber(OpBuilder &builder, Location loc, Value number, Value place) {
  auto map = AffineMap::get(0, 0, builder.getContext());
  linalg::GenericOp::create(
      builder, loc, ValueRange(), place, map, ArrayRef<utils::IteratorType>(),
      [&](OpBuilder &inner, Location, ValueRange) { linalg::YieldOp::create(inner, loc, number); });
}

static void replaceStore(memref::StoreOp store) {
  OpBuilder builder(store);
  Location loc = store.getLoc();
  MemRefType type = store.getMemRefType();
  Value place = store.getMemRef();
  if (type.getRank() > 0) {
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(store.getIndices());
    SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
    auto element = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType({}, type, offsets, ones, ones));
    place = memref::SubViewOp::create(builder, loc, element, place, offsets, ones, ones);
  }
  writeNumber(builder, loc, store.getValueToStore(), place);
  store.erase();
}

void cuda::moveLoads(ModuleOp module) {
  SmallVector<memref::StoreOp> stores;
  module.walk([&](memref::StoreOp store) {
    bool isOfHost = isa<func::FuncOp, scf::IfOp, scf::ForOp>(store->getParentOp()) && !SerialLoops::contain(store);
    if (isOfHost && !llvm::any_of(store.getIndices(), isFromMemory))
      stores.push_back(store);
  });
  llvm::for_each(stores, replaceStore);
  SmallVector<linalg::GenericOp> nests;
  module.walk([&](linalg::GenericOp nest) {
    if (nest.hasPureBufferSemantics())
      nests.push_back(nest);
  });
  for (linalg::GenericOp nest : nests) {
    takeScalars(nest);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(nest->getRegions(), captured);
    for (Value value : captured)
      if (!isa<MemRefType>(value.getType()) && isFromMemory(value))
        moveInto(nest, value);
  }
}

/// What is only written is not needed.
static void eraseWriters(Value buffer) {
  auto isWriter = [&](Operation *user) {
    auto writer = dyn_cast<linalg::LinalgOp>(user);
    return writer && writer.getNumDpsInits() == 1 && writer.getDpsInits().front() == buffer &&
           !llvm::is_contained(writer.getDpsInputs(), buffer);
  };
  Operation *place = buffer.getDefiningOp();
  bool isOwn = place && (isa<memref::AllocOp, memref::AllocaOp>(place) || place->hasAttr(kernels::kTemporaryAttribute));
  auto isWritten = [&](Operation *user) {
    auto copy = dyn_cast<memref::CopyOp>(user);
    return isWriter(user) || (copy && copy.getTarget() == buffer && copy.getSource() != buffer);
  };
  if (isOwn && llvm::all_of(buffer.getUsers(), isWritten))
    for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
      user->erase();
}

bool cuda::isIndexCondition(Operation *op) {
  auto require = dyn_cast<rows::RequireOp>(op);
  return require && !require.getText().starts_with("assertion failed");
}

void cuda::dropIndexConditions(ModuleOp module) {
  SmallVector<rows::RequireOp> conditions;
  module.walk([&](rows::RequireOp require) {
    if (isFromMemory(require.getCondition()) && isIndexCondition(require))
      conditions.push_back(require);
  });
  for (rows::RequireOp require : conditions) {
    Operation *condition = require.getCondition().getDefiningOp();
    require.erase();
    SmallVector<Operation *> slice = llvm::to_vector(collectSlice(condition->getResult(0)));
    for (Operation *op : llvm::reverse(slice)) {
      if (!op->use_empty())
        continue;
      auto load = dyn_cast<memref::LoadOp>(op);
      Value buffer = load ? load.getMemRef() : Value();
      op->erase();
      if (buffer)
        eraseWriters(buffer);
    }
  }
}
