// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads sizes and strides of an attention kernel.

#include "codegen/attention/AttentionShape.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;
using kernels::getSize;
using kernels::getStride;
using kernels::makeExtent;

void AttentionShape::forEachValue(function_ref<void(Value &)> visit) {
  for (Value &pointer : pointers)
    visit(pointer);
  if (scratch)
    visit(scratch);
  if (past)
    visit(past);
  for (Value &word : dropout)
    visit(word);
  for (Extent *number : {&batches, &keyHeads, &group, &queries, &keys})
    visit(number->value);
  for (MappedBuffer &operand : operands)
    for (Extent &stride : operand.strides)
      visit(stride.value);
}

ArrayAttr AttentionShape::getFacts() const {
  Builder builder(arithmetic.getContext());
  SmallVector<Attribute> facts = {
      TypeAttr::get(arithmetic),
      builder.getDenseI64ArrayAttr({hasMask, hasSink, hasStatistics, isCausal, isCache, isBackward, getHeadSize(),
                                    getValueSize(), window, threshold, int64_t(dropout.size()), ranges}),
      builder.getF64FloatAttr(scale), builder.getF64FloatAttr(cap), builder.getF64FloatAttr(keptScale)};
  for (const MappedBuffer &operand : operands)
    facts.push_back(TypeAttr::get(operand.elementType));
  return builder.getArrayAttr(facts);
}

Extent AttentionShape::countSeenKeys(OpBuilder &builder, Location loc, int64_t rows) const {
  SeenKeys one = getSeenKeys();
  if (!one.first)
    return keys;
  Extent seen = makeExtent(builder, loc, *one.end - *one.first + rows - 1);
  if (keys.isKnown())
    return keys.known < seen.known ? keys : seen;
  return {builder.createOrFold<arith::MinSIOp>(loc, keys.value, seen.value)};
}

kernels::KernelWork AttentionShape::countWork(OpBuilder &builder, Location loc) const {
  auto times = [&](Extent a, Extent b) { return kernels::multiply(builder, loc, a, b); };
  Extent heads = times(batches, keyHeads), rows = times(group, queries);
  Extent terms = times(countSeenKeys(builder, loc, 1), makeExtent(builder, loc, countTerms()));
  return isBackward ? kernels::KernelWork{heads.value, times(rows, terms).value}
                    : kernels::KernelWork{times(heads, rows).value, terms.value};
}

static std::optional<unsigned> findDimension(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

/// Heads of q over those of k; 1 where there are none of either.
static Extent divide(OpBuilder &builder, Location loc, Extent heads, Extent keyHeads) {
  if (heads.isKnown() && keyHeads.isKnown())
    return makeExtent(builder, loc, keyHeads.known == 0 ? 1 : heads.known / keyHeads.known);
  Value least = makeExtent(builder, loc, 1).value;
  Value divisor = builder.createOrFold<arith::MaxSIOp>(loc, keyHeads.value, least);
  return {builder.createOrFold<arith::DivUIOp>(loc, heads.value, divisor)};
}

template <typename OpTy> static FailureOr<AttentionShape> readShape(OpBuilder &builder, OpTy kernel) {
  Location loc = kernel.getLoc();
  AttentionShape shape;
  shape.hasMask = static_cast<bool>(kernel.getMask());
  shape.hasSink = static_cast<bool>(kernel.getSink());
  shape.ranges = kernel.getRanges().size();
  shape.isCausal = kernel.getCausal();
  shape.window = kernel.getWindow().value_or(0);
  if (kernel.getCap())
    shape.cap = kernel.getCap()->convertToDouble();
  shape.arithmetic = kernel.getArithmeticType();
  shape.scale = kernel.getScale().convertToDouble();
  shape.threshold = kernel.getThreshold().value_or(0);
  if (kernel.getKeptScale())
    shape.keptScale = kernel.getKeptScale()->convertToDouble();
  SmallVector<OpOperand *> operands = kernel.getMappedOperands();
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    if (!type)
      return kernel.emitOpError("expected operands in memory, but got ") << operand->get().getType();
    MappedBuffer mapped{operand->get(), type.getElementType(), {}};
    for (unsigned loop = 0; loop < kLoops; ++loop) {
      std::optional<unsigned> dimension = findDimension(kernel.getMap(index), loop);
      mapped.strides.push_back(dimension ? getStride(builder, loc, operand->get(), *dimension)
                                         : makeExtent(builder, loc, 0));
    }
    if (std::optional<unsigned> column = findDimension(kernel.getMap(index), kColumn))
      mapped.columns = type.getDimSize(*column);
    shape.operands.push_back(std::move(mapped));
  }
  auto readSize = [&](unsigned operand, unsigned loop) {
    std::optional<unsigned> dimension = findDimension(kernel.getMap(operand), loop);
    return dimension ? getSize(builder, loc, operands[operand]->get(), *dimension) : makeExtent(builder, loc, 1);
  };
  shape.batches = readSize(AttentionShape::kQ, kBatch);
  shape.queries = readSize(AttentionShape::kQ, kQuery);
  shape.keyHeads = readSize(AttentionShape::kK, kHead);
  shape.keys = readSize(AttentionShape::kK, kKey);
  shape.group = divide(builder, loc, readSize(AttentionShape::kQ, kHead), shape.keyHeads);
  return shape;
}

FailureOr<AttentionShape> AttentionShape::create(OpBuilder &builder, KernelOp kernel) {
  FailureOr<AttentionShape> shape = readShape(builder, kernel);
  if (failed(shape))
    return failure();
  shape->hasStatistics = kernel.getInits().size() > 1;
  shape->isCache = static_cast<bool>(kernel.getPast());
  return shape;
}

FailureOr<AttentionShape> AttentionShape::create(OpBuilder &builder, BackwardOp kernel) {
  FailureOr<AttentionShape> shape = readShape(builder, kernel);
  if (succeeded(shape))
    shape->isBackward = true;
  return shape;
}

template <typename OpTy>
static FailureOr<std::shared_ptr<kernels::KernelIndexing>> computeIndexing(OpBuilder &builder, OpTy kernel) {
  FailureOr<AttentionShape> shape = AttentionShape::create(builder, kernel);
  if (failed(shape))
    return failure();
  for (const MappedBuffer &operand : shape->operands)
    shape->pointers.push_back(kernels::computePointer(builder, kernel.getLoc(), operand.buffer));
  if (kernel.getScratch())
    shape->scratch = kernels::computePointer(builder, kernel.getLoc(), kernel.getScratch());
  shape->dropout = kernel.getDropout();
  return shape->clone();
}

FailureOr<std::shared_ptr<kernels::KernelIndexing>> KernelOp::computeIndexing(OpBuilder &builder) {
  auto indexing = ::computeIndexing(builder, *this);
  if (succeeded(indexing))
    static_cast<AttentionShape &>(**indexing).past = getPast();
  return indexing;
}

FailureOr<std::shared_ptr<kernels::KernelIndexing>> BackwardOp::computeIndexing(OpBuilder &builder) {
  return ::computeIndexing(builder, *this);
}
