// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads sizes and strides of an attention kernel.

#include "codegen/attention/AttentionShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;
using contraction::getSize;
using contraction::getStride;
using contraction::makeNumber;

void AttentionShape::forEachNumber(function_ref<void(Number &)> visit) {
  for (Number *number : {&batches, &keyHeads, &group, &queries, &keys})
    visit(*number);
  for (MappedBuffer &operand : operands)
    for (Number &stride : operand.strides)
      visit(stride);
}

bool AttentionShape::isLike(AttentionShape &other) {
  auto getFacts = [](AttentionShape &shape) {
    return std::tuple(shape.hasMask, shape.hasStatistics, shape.isCausal, shape.isCache, shape.isBackward,
                      shape.headSize, shape.arithmetic, shape.scale, shape.threshold);
  };
  auto getKnown = [](AttentionShape &shape) {
    SmallVector<int64_t> known;
    shape.forEachNumber([&](Number &number) { known.push_back(number.known); });
    return known;
  };
  return getFacts(*this) == getFacts(other) && getKnown(*this) == getKnown(other) &&
         llvm::equal(operands, other.operands,
                     [](const auto &a, const auto &b) { return a.elementType == b.elementType; });
}

static std::optional<unsigned> findDimension(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

/// Heads of q over those of k; 1 where there are none of either.
static Number divide(OpBuilder &builder, Location loc, Number heads, Number keyHeads) {
  if (heads.isKnown() && keyHeads.isKnown())
    return makeNumber(builder, loc, keyHeads.known == 0 ? 1 : heads.known / keyHeads.known);
  Value least = makeNumber(builder, loc, 1).value;
  Value divisor = builder.createOrFold<arith::MaxSIOp>(loc, keyHeads.value, least);
  return {builder.createOrFold<arith::DivUIOp>(loc, heads.value, divisor)};
}

template <typename OpTy> static FailureOr<AttentionShape> readShape(OpBuilder &builder, OpTy kernel) {
  Location loc = kernel.getLoc();
  AttentionShape shape;
  shape.hasMask = static_cast<bool>(kernel.getMask());
  shape.isCausal = kernel.getCausal();
  shape.headSize = kernel.getHeadSize();
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
                                         : makeNumber(builder, loc, 0));
    }
    shape.operands.push_back(std::move(mapped));
  }
  auto readSize = [&](unsigned operand, unsigned loop) {
    std::optional<unsigned> dimension = findDimension(kernel.getMap(operand), loop);
    return dimension ? getSize(builder, loc, operands[operand]->get(), *dimension) : makeNumber(builder, loc, 1);
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
