// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/PointEmitter.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/kernels/Extent.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;

//===------------------------------------------- elements --------------------------------------------------------===//

/// Whether LLVM's back end for GPUs has loads of such an element.
static bool isLoaded(Type element) {
  return element.isInteger(1) || element.isIndex() || getMemoryType(element) == element;
}

static Value linearize(Code &code, Value buffer, ValueRange indices) {
  Value place = code.constant(0);
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Value stride = getStride(code, code.getLoc(), buffer, dimension).value;
    place = code.add(place, code.multiply(castToI64(code, code.getLoc(), index), stride));
  }
  return place;
}

static Value loadAt(Code &code, Value buffer, ValueRange indices) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (isLoaded(element))
    return memref::LoadOp::create(code, buffer, indices);
  Value pointer = computePointer(code, code.getLoc(), buffer);
  return loadElement(code, code.getLoc(), element, pointer, linearize(code, buffer, indices), Alignment::Element);
}

static void storeAt(Code &code, Value element, Value buffer, ValueRange indices) {
  if (isLoaded(element.getType())) {
    memref::StoreOp::create(code, element, buffer, indices);
    return;
  }
  Value pointer = computePointer(code, code.getLoc(), buffer);
  storeElement(code, code.getLoc(), element, pointer, linearize(code, buffer, indices), Alignment::Element);
}

//===------------------------------------------- loops ------------------------------------------------------------===//

SmallVector<unsigned> cuda::findPointLoops(linalg::GenericOp op) {
  SmallVector<AffineMap> maps;
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  SmallVector<unsigned> loops;
  for (AffineExpr result : maps.front().getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    bool isPoint = dim && !llvm::is_contained(loops, dim.getPosition()) &&
                   op.getIteratorTypesArray()[dim.getPosition()] == utils::IteratorType::parallel &&
                   llvm::all_of(maps, [&](AffineMap map) { return llvm::is_contained(map.getResults(), result); });
    if (isPoint)
      loops.push_back(dim.getPosition());
  }
  return loops;
}

std::optional<unsigned> cuda::findFastLoop(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || map.getNumResults() == 0 || failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last ? std::optional(last.getPosition()) : std::nullopt;
}

SmallVector<Value> cuda::computeSizes(Code &code, linalg::GenericOp op) {
  return llvm::map_to_vector(
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(code, code.getLoc()), [&](Range range) {
        return castToI64(code, code.getLoc(), getValueOrCreateConstantIndexOp(code, code.getLoc(), range.size));
      });
}

Value cuda::countPoints(Code &code, linalg::GenericOp op) {
  SmallVector<Value> sizes = computeSizes(code, op);
  Value points = code.constant(1);
  for (unsigned loop : findPointLoops(op))
    points = code.multiply(points, sizes[loop]);
  return points;
}

//===------------------------------------------- points -----------------------------------------------------------===//

PointEmitter::PointEmitter(Code &code, linalg::GenericOp op) : code(code), op(op), points(findPointLoops(op)) {
  sizes = computeSizes(code, op);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(points, loop))
      others.push_back(loop);
  isFixed = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::none_of(others, [&](unsigned loop) { return op.getMatchingIndexingMap(&init).isFunctionOfDim(loop); });
  });
}

Value PointEmitter::load(OpOperand &operand, ArrayRef<Value> indices) {
  return loadAt(code, operand.get(), locate(operand, indices));
}

SmallVector<Value> PointEmitter::locate(OpOperand &operand, ArrayRef<Value> indices) {
  return *affine::expandAffineMap(code, code.getLoc(), op.getMatchingIndexingMap(&operand), indices);
}

/// Results that nothing reads are not loaded: null.
SmallVector<Value> PointEmitter::loadResults(ArrayRef<Value> indices) {
  SmallVector<Value> results;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    bool isRead = !others.empty() || op.payloadUsesValueFromOperand(&init);
    results.push_back(isRead ? load(init, indices) : Value());
  }
  return results;
}

void PointEmitter::storeResults(ArrayRef<Value> indices, ValueRange results) {
  for (auto [init, result] : llvm::zip_equal(op.getDpsInitsMutable(), results))
    storeAt(code, result, init.get(), locate(init, indices));
}

SmallVector<Value> PointEmitter::emitBody(ArrayRef<Value> indices, ValueRange results) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (!isa<MemRefType>(input->get().getType()))
      mapping.map(argument, input->get());
    else if (Value element = known.lookup(input))
      mapping.map(argument, element);
    else if (!argument.use_empty())
      mapping.map(argument, load(*input, indices));
  }
  for (auto [argument, result] : llvm::zip_equal(op.getRegionOutputArgs(), results))
    if (result)
      mapping.map(argument, result);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), indices[index.getDim()]);
      continue;
    }
    code.clone(inner, mapping)->walk([&](linalg::IndexOp index) {
      index.replaceAllUsesWith(indices[index.getDim()]);
      index.erase();
    });
  }
  return llvm::map_to_vector(op.getBody()->getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// `results` is empty where they are in memory.
SmallVector<Value> PointEmitter::emitLoops(unsigned next, SmallVector<Value> indices, ValueRange results) {
  if (next == others.size()) {
    if (isFixed)
      return emitBody(indices, results);
    storeResults(indices, emitBody(indices, loadResults(indices)));
    return {};
  }
  return code.loop(0, sizes[others[next]], 1, results, [&](Value index, ValueRange carried) {
    indices[others[next]] = arith::IndexCastOp::create(code, code.getIndexType(), index);
    return emitLoops(next + 1, indices, carried);
  });
}

SmallVector<Value> PointEmitter::getIndices(Value point) {
  SmallVector<Value> pointSizes = llvm::map_to_vector(points, [&](unsigned loop) { return sizes[loop]; });
  SmallVector<Value> indices(op.getNumLoops(), arith::ConstantIndexOp::create(code, 0));
  for (auto [loop, index] : llvm::zip_equal(points, code.delinearize(point, pointSizes)))
    indices[loop] = arith::IndexCastOp::create(code, code.getIndexType(), index);
  return indices;
}

void PointEmitter::emit(Value point) { emitAt(getIndices(point)); }

void PointEmitter::emitAt(SmallVector<Value> indices) {
  if (!isFixed) {
    emitLoops(0, indices, {});
    return;
  }
  SmallVector<Value> results = loadResults(indices);
  storeResults(indices, others.empty() ? emitBody(indices, results) : emitLoops(0, indices, results));
}

//===------------------------------------------- elements in shared memory ----------------------------------------===//

StagedInputs::StagedInputs(Code &code, linalg::GenericOp op, ArrayRef<unsigned> operands, int64_t count) : code(code) {
  for (unsigned operand : operands) {
    Type element = getMemoryType(getElementTypeOrSelf(op->getOperand(operand).getType()));
    inputs.emplace_back(&op->getOpOperand(operand),
                        SharedArray(code, element, count, "__tile" + std::to_string(operand)));
  }
}

void StagedInputs::store(PointEmitter &points, Value place, ArrayRef<Value> indices) {
  for (auto &[operand, array] : inputs)
    storeElement(code, code.getLoc(), points.load(*operand, indices), array.getStart(code), place, Alignment::Element);
}

void StagedInputs::load(PointEmitter &points, Value place) {
  for (auto &[operand, array] : inputs)
    points.known[operand] = loadElement(code, code.getLoc(), getElementTypeOrSelf(operand->get().getType()),
                                        array.getStart(code), place, Alignment::Element);
}
