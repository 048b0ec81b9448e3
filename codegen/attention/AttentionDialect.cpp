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

//===------------------------------------------- what both kernels share ------------------------------------------===//

/// Of q, k, v, the mask and the sink.
template <typename OpTy> static FloatType getArithmeticTypeOf(OpTy kernel) {
  SmallVector<Value> operands = {kernel.getQ(), kernel.getK(), kernel.getV()};
  for (Value operand : {kernel.getMask(), kernel.getSink()})
    if (operand)
      operands.push_back(operand);
  bool isWide = llvm::any_of(operands, [](Value value) { return getElementTypeOrSelf(value.getType()).isF64(); });
  MLIRContext *context = kernel.getContext();
  return isWide ? FloatType(Float64Type::get(context)) : FloatType(Float32Type::get(context));
}

/// Of an operand that has columns.
static int64_t countColumns(OpOperand &operand, AffineMap map) {
  unsigned column = *map.getResultPosition(getAffineDimExpr(kColumn, map.getContext()));
  return cast<ShapedType>(operand.get().getType()).getDimSize(column);
}

/// Queries and keys have the columns of a head, values and what is made of them have theirs. `ofValues`: the operands
/// of the latter.
template <typename OpTy> static LogicalResult verifyColumns(OpTy kernel, ArrayRef<unsigned> ofValues) {
  SmallVector<OpOperand *> operands = kernel.getMappedOperands();
  int64_t head = countColumns(*operands[0], kernel.getMap(0)), value = countColumns(*operands[2], kernel.getMap(2));
  if (ShapedType::isDynamic(head) || ShapedType::isDynamic(value))
    return kernel.emitOpError("expected heads of a static size");
  AffineExpr column = getAffineDimExpr(kColumn, kernel.getContext());
  for (auto [index, operand] : llvm::enumerate(operands)) {
    int64_t expected = llvm::is_contained(ofValues, index) ? value : head;
    if (kernel.getMap(index).getResultPosition(column) && countColumns(*operand, kernel.getMap(index)) != expected)
      return kernel.emitOpError() << "expected rows of " << expected << " columns, but got "
                                  << operand->get().getType();
  }
  return success();
}

template <typename OpTy>
static void getEffectsOf(OpTy kernel, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : kernel->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isScratch = kernel.getScratch() && operand.get() == kernel.getScratch();
    if (!kernel.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    if (kernel.isDpsInit(&operand) || isScratch)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
  }
}

/// Each dimension of an operand is one of `expected`, or, of a mask, broadcast.
template <typename OpTy>
static LogicalResult verifyMap(OpTy kernel, unsigned index, OpOperand *operand, ArrayRef<unsigned> expected,
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

template <typename OpTy> static LogicalResult verifyDropoutOf(OpTy kernel) {
  size_t words = kernel.getDropout().size();
  bool areComplete = kernel.getThreshold() ? words == 4 || words == 7 : words == 0;
  if (areComplete && kernel.getThreshold().has_value() == kernel.getKeptScale().has_value())
    return success();
  return kernel.emitOpError() << "expected seed, step, row and site of a dropout, and perhaps its first call and "
                                 "extent, beside its threshold and scale, but got "
                              << words << (words == 1 ? " number" : " numbers");
}

template <typename OpTy> static LogicalResult verifyRangesOf(OpTy kernel) {
  size_t count = kernel.getRanges().size();
  if (count != 0 && count != 2 && count != 3)
    return kernel.emitOpError() << "expected a range of two or three operands, but got " << count;
  for (Value range : kernel.getRanges())
    if (!getElementTypeOrSelf(range.getType()).isInteger(64))
      return kernel.emitOpError() << "expected ranges of i64, but got " << range.getType();
  if (count != 0 && (kernel.getCausal() || kernel.getWindow()))
    return kernel.emitOpError("expected ranges in place of causality and a window");
  return success();
}

/// Whether an operand is one of the ranges.
template <typename OpTy> static bool isRange(OpTy kernel, OpOperand *operand) {
  OperandRange ranges = kernel.getRanges();
  return !ranges.empty() && operand->getOperandNumber() - ranges.getBeginOperandIndex() < ranges.size();
}

template <typename OpTy> static LogicalResult verifyMapCount(OpTy kernel, size_t operands) {
  if (kernel.getIndexingMaps().size() == operands)
    return success();
  return kernel.emitOpError() << "expected " << operands << " maps, but got " << kernel.getIndexingMaps().size();
}

//===------------------------------------------- attention --------------------------------------------------------===//

SmallVector<OpOperand *> KernelOp::getMappedOperands() {
  SmallVector<OpOperand *> operands = {&getQMutable(), &getKMutable(), &getVMutable()};
  for (MutableOperandRange range : {getMaskMutable(), getSinkMutable(), getRangesMutable(), getInitsMutable()})
    for (OpOperand &operand : range)
      operands.push_back(&operand);
  return operands;
}

FloatType KernelOp::getArithmeticType() { return getArithmeticTypeOf(*this); }

void KernelOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { getEffectsOf(*this, effects); }

LogicalResult KernelOp::verify() {
  SmallVector<OpOperand *> operands = getMappedOperands();
  if (failed(verifyMapCount(*this, operands.size())))
    return failure();
  if (getInits().size() != 1 && getInits().size() != 3)
    return emitOpError() << "expected one init or three, but got " << getInits().size();
  if (failed(verifyDropoutOf(*this)) || failed(verifyRangesOf(*this)))
    return failure();
  if (getPast() && !getRanges().empty())
    return emitOpError("expected ranges in place of a past");
  for (auto [index, operand] : llvm::enumerate(operands)) {
    bool isMask = getMask() && index == 3;
    bool isSink = getSink() && operand == &getSinkMutable()[0];
    bool isStatistic = isDpsInit(operand) && operand != &getInitsMutable()[0];
    SmallVector<unsigned> expected = {kBatch, kHead, kQuery, kColumn};
    if (index == 1 || index == 2)
      expected = {kBatch, kHead, kKey, kColumn};
    else if (isMask)
      expected = {kBatch, kHead, kQuery, kKey};
    else if (isSink)
      expected = {kHead};
    else if (isRange(*this, operand))
      expected = {kBatch, kQuery};
    else if (isStatistic)
      expected = {kBatch, kHead, kQuery};
    if (failed(verifyMap(*this, index, operand, expected, isMask)))
      return failure();
  }
  return verifyColumns(*this, {2, getResultOperand()});
}

//===------------------------------------------- its backward -----------------------------------------------------===//

SmallVector<OpOperand *> BackwardOp::getMappedOperands() {
  SmallVector<OpOperand *> operands = {&getQMutable(), &getKMutable(), &getVMutable()};
  for (MutableOperandRange range : {getMaskMutable(), getSinkMutable(), getRangesMutable()})
    for (OpOperand &operand : range)
      operands.push_back(&operand);
  operands.append({&getDyMutable(), &getMaxMutable(), &getSumMutable()});
  for (OpOperand &operand : getInitsMutable())
    operands.push_back(&operand);
  return operands;
}

FloatType BackwardOp::getArithmeticType() { return getArithmeticTypeOf(*this); }

void BackwardOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { getEffectsOf(*this, effects); }

LogicalResult BackwardOp::verify() {
  if (getInits().size() != (getSink() ? 4 : 3))
    return emitOpError() << "expected " << (getSink() ? "four" : "three") << " inits, but got " << getInits().size();
  SmallVector<OpOperand *> operands = getMappedOperands();
  if (failed(verifyMapCount(*this, operands.size())) || failed(verifyDropoutOf(*this)) || failed(verifyRangesOf(*this)))
    return failure();
  constexpr std::array<unsigned, 2> rows = {kBatch, kQuery};
  constexpr std::array<unsigned, 4> queries = {kBatch, kHead, kQuery, kColumn}, keys = {kBatch, kHead, kKey, kColumn};
  constexpr std::array<unsigned, 4> scores = {kBatch, kHead, kQuery, kKey};
  constexpr unsigned head = kHead;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    bool isMask = getMask() && index == 3, isInit = isDpsInit(operand);
    bool isOfSinks = isInit && operand->getOperandNumber() == getInitsMutable()[0].getOperandNumber() + 3;
    bool isOfKeys = index == 1 || index == 2 || (isInit && operand != &getInitsMutable()[0]);
    ArrayRef<unsigned> expected = isOfKeys ? keys : isMask ? scores : queries;
    if (operand == &getMaxMutable() || operand == &getSumMutable() || isOfSinks)
      expected = ArrayRef(queries).drop_back();
    else if (getSink() && operand == &getSinkMutable()[0])
      expected = head;
    else if (isRange(*this, operand))
      expected = rows;
    if (failed(verifyMap(*this, index, operand, expected, isMask)))
      return failure();
  }
  unsigned dy = 3 + (getMask() ? 1 : 0) + (getSink() ? 1 : 0) + getRanges().size(), dv = dy + 5;
  return verifyColumns(*this, {2, dy, dv});
}

/// The queries of a block are read before its results are stored.
bool KernelOp::mayOverwrite(OpOperand &input, OpOperand &init) {
  return &input == &getQMutable() && &init == &getInitsMutable()[0] && getMap(0) == getMap(getResultOperand()) &&
         cast<ShapedType>(getQ().getType()).getShape() == cast<ShapedType>(init.get().getType()).getShape();
}
