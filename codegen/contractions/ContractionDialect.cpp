// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration and verification of the contraction dialect.

#include "codegen/contractions/ContractionDialect.h"

#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid::contraction;

#include "codegen/contractions/ContractionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/contractions/ContractionOps.cpp.inc"

void ContractionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "codegen/contractions/ContractionOps.cpp.inc"
      >();
}

SmallVector<OpOperand *> KernelOp::getMappedOperands() {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<ShapedType>(operand.get().getType()) && operand.get() != getScratch() && !isParameter(operand))
      operands.push_back(&operand);
  return operands;
}

AffineMap KernelOp::getMap(OpOperand &operand) {
  SmallVector<OpOperand *> operands = getMappedOperands();
  auto found = llvm::find(operands, &operand);
  assert(found != operands.end() && "expected an operand that has a map");
  return cast<AffineMapAttr>(getIndexingMaps()[found - operands.begin()]).getValue();
}

Type KernelOp::getArithmeticType() {
  Builder builder(getContext());
  if (isa<IntegerType>(getProductType()))
    return getProductType();
  bool isWide = getElementTypeOrSelf(getA().getType()).isF64() || getElementTypeOrSelf(getB().getType()).isF64() ||
                getProductType().isF64();
  return isWide ? builder.getF64Type() : builder.getF32Type();
}

void KernelOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isScratch = getScratch() && operand.get() == getScratch();
    if (&operand == &getInitMutable()) {
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
      continue;
    }
    effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    if (isScratch)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
  }
}

static LogicalResult verifyMaps(KernelOp kernel) {
  SmallVector<OpOperand *> operands = kernel.getMappedOperands();
  if (kernel.getIndexingMaps().size() != operands.size())
    return kernel.emitOpError() << "expected " << operands.size() << " maps, but got "
                                << kernel.getIndexingMaps().size();
  unsigned parallel = kernel.getParallelLoops();
  for (auto [operand, attribute] : llvm::zip_equal(operands, kernel.getIndexingMaps())) {
    AffineMap map = cast<AffineMapAttr>(attribute).getValue();
    bool isFactor = operand == operands[0] || operand == operands[1];
    bool isPacked = kernel.hasOwnLayout(*operand);
    if (!map.isProjectedPermutation() || map.getNumDims() != kernel.getNumLoops())
      return kernel.emitOpError() << "expected maps to different loops, but got " << AffineMapAttr::get(map);
    if (!isPacked && map.getNumResults() != cast<ShapedType>(operand->get().getType()).getRank())
      return kernel.emitOpError() << "expected a map to every dimension of " << operand->get().getType() << ", but got "
                                  << AffineMapAttr::get(map);
    for (unsigned loop = parallel; loop < map.getNumDims(); ++loop)
      if (!isFactor && map.isFunctionOfDim(loop))
        return kernel.emitOpError() << "expected contracted loops in the factors only, but got "
                                    << AffineMapAttr::get(map);
  }
  if (kernel.getInitMap().getNumResults() != parallel)
    return kernel.emitOpError() << "expected all parallel loops in the result, but got "
                                << AffineMapAttr::get(kernel.getInitMap());
  return success();
}

LogicalResult RowBlocksOp::verify() {
  Block &body = getBody().front();
  auto isProduct = [](Operation &op) { return isa<KernelOp>(op); };
  bool haveOneProduct = llvm::count_if(body, isProduct) == 1;
  bool areKernels = llvm::all_of(
      body, [&](Operation &op) { return (isProduct(op) || isa<rows::KernelOp>(op)) && op.getNumResults() == 0; });
  if (!haveOneProduct || !areKernels)
    return emitOpError("expected one contraction.kernel and rows.kernel ops, on buffers");
  if (getLocals().size() != getRowBytes().size())
    return emitOpError() << "expected the bytes of a row for each of " << getLocals().size() << " locals, but got "
                         << getRowBytes().size() << " numbers";
  if (!getRowCounts().empty() && getRowCounts().size() != body.getOperations().size())
    return emitOpError() << "expected how many rows each of " << body.getOperations().size() << " kernels has, but got "
                         << getRowCounts().size() << " numbers";
  return success();
}

/// The scale of a row is a number of a alone.
static LogicalResult verifyRowScale(KernelOp kernel) {
  if (!kernel.getRowScale())
    return success();
  AffineMap map = kernel.getMap(*kernel.getRowScaleMutable().begin()), a = kernel.getMap(kernel.getAMutable()),
            b = kernel.getMap(kernel.getBMutable());
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (map.isFunctionOfDim(loop) && (!a.isFunctionOfDim(loop) || b.isFunctionOfDim(loop)))
      return kernel.emitOpError("expected row_scale along loops of a alone, but got ") << AffineMapAttr::get(map);
  Type element = getElementTypeOrSelf(kernel.getRowScale().getType());
  if (element != kernel.getArithmeticType())
    return kernel.emitOpError("expected row_scale in the arithmetic type, but got ") << element;
  return success();
}

static LogicalResult verifyIntegers(KernelOp kernel) {
  size_t count = kernel.getBParameters().size();
  if (!kernel.getBGroup())
    return count == 0 ? success() : kernel.emitOpError("expected no b_parameters without b_group");
  if (count < 1 || count > 2 || !getElementTypeOrSelf(kernel.getB().getType()).isInteger(8))
    return kernel.emitOpError("expected b of i8 with a scale, and a zero or an offset at most");
  if (kernel.getNumLoops() != kernel.getParallelLoops() + 1 || kernel.getPackedColumns() || kernel.getChain())
    return kernel.emitOpError("expected integers beside one contracted loop, without panels and chains");
  return success();
}

LogicalResult KernelOp::verify() {
  if (failed(verifyMaps(*this)) || failed(verifyRowScale(*this)) || failed(verifyIntegers(*this)))
    return failure();
  if (!getStart() == !getInitial())
    return emitOpError("expected either start or initial");
  if (getChain() && !getStart())
    return emitOpError("expected chains to begin at start");
  SmallVector<Type> types = {getBody().getArgument(0).getType()};
  for (Value input : getInputs())
    types.push_back(getElementTypeOrSelf(input.getType()));
  bool isInteger = getElementTypeOrSelf(getA().getType()).isInteger(8);
  if (isInteger &&
      (getElementTypeOrSelf(getB().getType()) != getElementTypeOrSelf(getA().getType()) || getRowScale() || getChain()))
    return emitOpError("expected integers in both factors, without row_scale and chains");
  bool isProduct = isInteger ? types.front().isInteger(32) : isa<FloatType>(types.front());
  if (getBody().getArgumentTypes() != TypeRange(types) || !isProduct)
    return emitOpError("expected the body to take the product's element, a float or i32, and an element of each input");
  Type yielded = cast<YieldOp>(getBody().front().getTerminator()).getValue().getType();
  Type stored = getElementTypeOrSelf(getInit().getType());
  if (yielded != stored)
    return emitOpError() << "expected the body to yield " << stored << ", but got " << yielded;
  return success();
}

/// Initial values and inputs of the body are read for each element before that is stored.
bool KernelOp::mayOverwrite(OpOperand &input, OpOperand &) {
  return &input != &getAMutable() && &input != &getBMutable() && !isParameter(input) && getMap(input) == getInitMap();
}
