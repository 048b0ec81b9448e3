// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration and verification of the attention dialect.

#include "codegen/attention/AttentionDialect.h"

#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::resid::attention;

#include "codegen/attention/AttentionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/attention/AttentionOps.cpp.inc"

void AttentionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "codegen/attention/AttentionOps.cpp.inc"
      >();
}

SmallVector<OpOperand *> KernelOp::getMappedOperands() {
  SmallVector<OpOperand *> operands = {&getQMutable(), &getKMutable(), &getVMutable()};
  for (MutableOperandRange range : {getMaskMutable(), getInitsMutable()})
    for (OpOperand &operand : range)
      operands.push_back(&operand);
  return operands;
}

FloatType KernelOp::getArithmeticType() {
  SmallVector<Value> operands = {getQ(), getK(), getV()};
  if (getMask())
    operands.push_back(getMask());
  bool isWide = llvm::any_of(operands, [](Value value) { return getElementTypeOrSelf(value.getType()).isF64(); });
  return isWide ? FloatType(Float64Type::get(getContext())) : FloatType(Float32Type::get(getContext()));
}

int64_t KernelOp::getHeadSize() {
  unsigned column = *getMap(0).getResultPosition(getAffineDimExpr(kColumn, getContext()));
  return cast<ShapedType>(getQ().getType()).getDimSize(column);
}

void KernelOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isScratch = getScratch() && operand.get() == getScratch();
    if (!isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    if (isDpsInit(&operand) || isScratch)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
  }
}

/// Each dimension of an operand is one of `expected`, or, of a mask, broadcast.
static LogicalResult verifyMap(KernelOp kernel, unsigned index, OpOperand *operand, ArrayRef<unsigned> expected,
                               bool mayBroadcast) {
  AffineMap map = kernel.getMap(index);
  auto refuse = [&]() -> LogicalResult {
    return kernel.emitOpError() << "expected a map to every dimension of " << operand->get().getType() << ", but got "
                                << AffineMapAttr::get(map);
  };
  if (map.getNumDims() != kLoops || map.getNumResults() != cast<ShapedType>(operand->get().getType()).getRank())
    return refuse();
  llvm::SmallDenseSet<unsigned> seen;
  for (AffineExpr result : map.getResults()) {
    auto dimension = dyn_cast<AffineDimExpr>(result);
    bool isBroadcast = mayBroadcast && result == getAffineConstantExpr(0, kernel.getContext());
    bool isKnown = dimension && llvm::is_contained(expected, dimension.getPosition()) &&
                   seen.insert(dimension.getPosition()).second;
    if (!isBroadcast && !isKnown)
      return refuse();
  }
  bool isComplete = !llvm::is_contained(expected, kColumn) || seen.contains(kColumn);
  return isComplete ? success() : refuse();
}

LogicalResult KernelOp::verify() {
  SmallVector<OpOperand *> operands = getMappedOperands();
  if (getIndexingMaps().size() != operands.size())
    return emitOpError() << "expected " << operands.size() << " maps, but got " << getIndexingMaps().size();
  if (getInits().size() != 1 && getInits().size() != 3)
    return emitOpError() << "expected one init or three, but got " << getInits().size();
  if (getDropout().size() != (getThreshold() ? 4 : 0) || getThreshold().has_value() != getKeptScale().has_value())
    return emitOpError() << "expected seed, step, row and site of a dropout beside its threshold and scale, but got "
                         << getDropout().size() << (getDropout().size() == 1 ? " number" : " numbers");
  for (auto [index, operand] : llvm::enumerate(operands)) {
    bool isMask = getMask() && index == 3;
    bool isStatistic = isDpsInit(operand) && operand != &getInitsMutable()[0];
    SmallVector<unsigned> expected = {kBatch, kHead, kQuery, kColumn};
    if (index == 1 || index == 2)
      expected = {kBatch, kHead, kKey, kColumn};
    else if (isMask)
      expected = {kBatch, kHead, kQuery, kKey};
    else if (isStatistic)
      expected = {kBatch, kHead, kQuery};
    if (failed(verifyMap(*this, index, operand, expected, isMask)))
      return failure();
  }
  if (ShapedType::isDynamic(getHeadSize()))
    return emitOpError("expected heads of a static size");
  return success();
}
