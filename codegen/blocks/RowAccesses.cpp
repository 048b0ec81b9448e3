// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads accesses off maps and effects.

#include "codegen/blocks/RowAccesses.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::blocks;

/// The dimensions [0, rowLoops) in order, and none of them after.
static bool beginsWithRows(AffineMap map, unsigned rowLoops) {
  if (map.getNumResults() < rowLoops)
    return false;
  for (auto [place, result] : llvm::enumerate(map.getResults())) {
    bool isInPlace = place < rowLoops && result == getAffineDimExpr(place, map.getContext());
    bool usesRow = llvm::any_of(llvm::seq<unsigned>(0, rowLoops),
                                [&, &expression = result](unsigned row) { return expression.isFunctionOfDim(row); });
    if (usesRow != (place < rowLoops) || usesRow != isInPlace)
      return false;
  }
  return true;
}

/// Whether a dimension of the source has this size.
static bool hasSize(Value source, unsigned dimension, OpFoldResult size) {
  auto type = cast<MemRefType>(source.getType());
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return type.getDimSize(dimension) == *known;
  Value value = cast<Value>(size);
  if (auto allocation = source.getDefiningOp<memref::AllocOp>(); allocation && type.isDynamicDim(dimension))
    return allocation.getDynamicSizes()[type.getDynamicDimIndex(dimension)] == value;
  auto read = value.getDefiningOp<memref::DimOp>();
  return read && read.getSource() == source && read.getConstantIndex() == dimension;
}

/// The buffer that holds whole rows, where `buffer` has a part of each: one stream of several, say. Rows keep their
/// numbers, on which the size of the first dimension has no influence.
static Value skipPartsOfRows(Value buffer, unsigned rowDimensions) {
  while (auto view = buffer.getDefiningOp<memref::SubViewOp>()) {
    for (unsigned dimension = 0; dimension < rowDimensions; ++dimension)
      if (view.getDroppedDims().test(dimension) || view.getStaticOffsets()[dimension] != 0 ||
          view.getStaticStrides()[dimension] != 1 ||
          (dimension != 0 && !hasSize(view.getSource(), dimension, view.getMixedSizes()[dimension])))
        return buffer;
    buffer = view.getSource();
  }
  return buffer;
}

/// An access to rows, if the map says that a kernel has so many loops over them.
static BufferAccess makeAccess(Value buffer, bool isWrite, AffineMap map, unsigned rowLoops) {
  if (!beginsWithRows(map, rowLoops))
    return {buffer, isWrite};
  return {skipPartsOfRows(buffer, rowLoops), isWrite, rowLoops};
}

bool blocks::hasRows(contraction::KernelOp product) {
  unsigned parallel = product.getParallelLoops();
  if (parallel < 2 || !beginsWithRows(product.getInitMap(), parallel))
    return false;
  AffineMap a = product.getMap(product.getAMutable()), b = product.getMap(product.getBMutable());
  auto holdsRows = [&](AffineMap map) {
    return beginsWithRows(map, parallel - 1) && !map.isFunctionOfDim(parallel - 1);
  };
  auto holdsColumns = [&](AffineMap map) {
    return map.isFunctionOfDim(parallel - 1) && llvm::none_of(llvm::seq<unsigned>(0, parallel - 1),
                                                              [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  };
  return (holdsRows(a) && holdsColumns(b)) || (holdsRows(b) && holdsColumns(a));
}

bool blocks::isThin(contraction::KernelOp product) {
  ArrayRef<int64_t> shape = cast<ShapedType>(product.getInit().getType()).getShape();
  if (shape.empty())
    return false;
  int64_t columns = shape.back(), terms = 1;
  for (unsigned loop = product.getParallelLoops(); loop < product.getNumLoops(); ++loop) {
    AffineMap map = product.getMap(product.getAMutable());
    std::optional<unsigned> dimension = map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
    int64_t size = dimension ? cast<ShapedType>(product.getA().getType()).getDimSize(*dimension) : ShapedType::kDynamic;
    terms = ShapedType::isDynamic(size) || ShapedType::isDynamic(terms) ? ShapedType::kDynamic : terms * size;
  }
  auto areFew = [](int64_t count) { return !ShapedType::isDynamic(count) && count <= contraction::kFewColumns; };
  return areFew(columns) || areFew(terms);
}

static SmallVector<BufferAccess> getProductAccesses(contraction::KernelOp product) {
  SmallVector<BufferAccess> accesses;
  unsigned rowLoops = product.getParallelLoops() - 1;
  bool rowsAreKnown = hasRows(product);
  for (OpOperand &operand : product->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isScratch = product.getScratch() && operand.get() == product.getScratch();
    bool isWrite = isScratch || product.isDpsInit(&operand);
    bool isPacked = product.hasOwnLayout(operand) || product.isParameter(operand);
    accesses.push_back(rowsAreKnown && !isScratch && !isPacked
                           ? makeAccess(operand.get(), isWrite, product.getMap(operand), rowLoops)
                           : BufferAccess{operand.get(), isWrite});
  }
  return accesses;
}

static SmallVector<BufferAccess> getRowAccesses(rows::KernelOp kernel, unsigned rowLoops) {
  SmallVector<BufferAccess> accesses;
  unsigned inputs = kernel.getInputs().size();
  SmallVector<Value> operands(kernel.getInputs());
  llvm::append_range(operands, kernel.getInits());
  for (auto [place, operand] : llvm::enumerate(operands))
    accesses.push_back(makeAccess(operand, place >= inputs, kernel.getIndexingMap(place), rowLoops));
  if (Value scratch = kernel.getScratch())
    accesses.push_back({scratch, /*isWrite=*/true});
  return accesses;
}

SmallVector<BufferAccess> blocks::getKernelAccesses(Operation *kernel, std::optional<unsigned> rowLoops) {
  if (auto product = dyn_cast<contraction::KernelOp>(kernel))
    return getProductAccesses(product);
  auto rows = cast<rows::KernelOp>(kernel);
  return getRowAccesses(rows, rowLoops.value_or(rows.getRowDims().size()));
}

BufferAccesses blocks::getAccesses(Operation *op) {
  if (isa<contraction::KernelOp, rows::KernelOp>(op))
    return getKernelAccesses(op);
  if (isa<rows::RequireOp>(op))
    return SmallVector<BufferAccess>();
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  if (!effects)
    return std::nullopt;
  SmallVector<BufferAccess> accesses;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      continue;
    if (!effect.getValue() || !isa<MemRefType>(effect.getValue().getType()))
      return std::nullopt;
    accesses.push_back({effect.getValue(), !isa<MemoryEffects::Read>(effect.getEffect())});
  }
  return accesses;
}

/// The arguments of a function are arrays of their own: which results may lie in them is found out later, and never for
/// kernels that run by blocks of rows (boundary/SharedBuffers.cpp).
static bool areDifferentArguments(Value a, Value b) {
  auto findArgument = [](Value buffer) {
    buffer = kernels::skipReshapes(buffer);
    while (auto part = buffer.getDefiningOp<memref::SubViewOp>())
      buffer = kernels::skipReshapes(part.getSource());
    return dyn_cast<BlockArgument>(buffer);
  };
  BlockArgument first = findArgument(a), second = findArgument(b);
  return first && second && first != second && first.getOwner() == second.getOwner() &&
         first.getOwner()->isEntryBlock() && isa<func::FuncOp>(first.getOwner()->getParentOp());
}

bool blocks::mayBeSwapped(const BufferAccess &a, const BufferAccess &b) {
  return (!a.isWrite && !b.isWrite) || areDifferentArguments(a.buffer, b.buffer) ||
         kernels::areDisjoint(a.buffer, b.buffer);
}

bool blocks::isReadBy(ArrayRef<BufferAccess> written, ArrayRef<BufferAccess> read) {
  return llvm::any_of(written, [&](const BufferAccess &write) {
    return write.isWrite && llvm::any_of(read, [&](const BufferAccess &access) {
             return !access.isWrite && kernels::skipReshapes(access.buffer) == kernels::skipReshapes(write.buffer);
           });
  });
}

std::optional<int64_t> blocks::countRowBytes(const BufferAccess &access) {
  auto type = cast<MemRefType>(access.buffer.getType());
  ArrayRef<int64_t> shape = type.getShape().drop_front(*access.rowDimensions);
  if (ShapedType::isDynamicShape(shape) || !type.getLayout().isIdentity())
    return std::nullopt;
  return ShapedType::getNumElements(shape) * type.getElementTypeBitWidth() / 8;
}

bool blocks::agreeOnRows(const BufferAccess &a, const BufferAccess &b) {
  if (mayBeSwapped(a, b))
    return true;
  if (!a.rowDimensions || !b.rowDimensions)
    return false;
  if (a.buffer == b.buffer)
    return a.rowDimensions == b.rowDimensions;
  std::optional<int64_t> bytes = countRowBytes(a);
  return kernels::skipReshapes(a.buffer) == kernels::skipReshapes(b.buffer) && bytes && bytes == countRowBytes(b);
}
