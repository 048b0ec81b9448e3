// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, verifiers and canonical forms of the family Residual.

#include "dialect/AddParts.h"
#include "dialect/Canonical.h"
#include "dialect/Verification.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// AddOp
//===----------------------------------------------------------------------===//

void AddOp::build(OpBuilder &builder, OperationState &state, Value x, Value f, Value gate, double skipScale,
                  double branchScale) {
  build(builder, state, x.getType(), x, f, gate, /*skip=*/Value(), /*also=*/Value(), /*also_scale=*/Value(),
        builder.getF64FloatAttr(skipScale), builder.getF64FloatAttr(branchScale));
}

AddOp resid::createAdd(OpBuilder &builder, Location loc, Type type, Value x, Value f, const AddParts &parts) {
  return AddOp::create(builder, loc, type, x, f, parts.gate, parts.skip, parts.also, parts.alsoScale, parts.skipScale,
                       parts.branchScale);
}

AddParts AddParts::withOperands(ValueRange from, ValueRange to) const {
  AddParts parts = *this;
  for (Value *operand : {&parts.gate, &parts.skip, &parts.also, &parts.alsoScale})
    if (auto found = llvm::find(from, *operand); *operand && found != from.end())
      *operand = to[found - from.begin()];
  return parts;
}

LogicalResult resid::verifyAddParts(Operation *op, RankedTensorType x, const AddParts &parts) {
  for (const AddFactor &factor : addFactors)
    if (failed(verifyParameterType(op, x, parts.*factor.value, factor.name)) || // add.C4
        failed(verifyGateShape(op, x, parts.*factor.value, factor.name)))       // add.C5
      return failure();
  APFloat skipScale = parts.skipScale.getValue(), branchScale = parts.branchScale.getValue();
  if (failed(verifyScale(op, x.getElementType(), skipScale, "skip_scale")) ||   // add.C6
      failed(verifyScale(op, x.getElementType(), branchScale, "branch_scale"))) // add.C6
    return failure();
  if (parts.also && parts.also.getType() != x) // add.C7
    return op->emitOpError("expected also of type ") << x << " but got " << parts.also.getType();
  if (parts.alsoScale && !parts.also) // add.C7
    return op->emitOpError("expected also beside its scale but got none");
  if (parts.skip && !skipScale.isExactlyValue(1.0)) // add.C8
    return op->emitOpError("expected no skip_scale beside skip but got ") << printFloat(skipScale);
  return success();
}

LogicalResult AddOp::verify() {
  RankedTensorType x = getX().getType();
  return failure(failed(verifyBranchType(*this, x, getF().getType())) ||             // add.C2
                 failed(verifySumType(*this, x, getResult().getType(), "result")) || // add.C3
                 failed(verifyAddParts(*this, x, getAddParts(*this))));              // add.C4 to add.C8
}

bool resid::isIdentityGate(Value gate, RankedTensorType x) {
  if (!gate || !matchPattern(gate, m_OneFloat()))
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(gate.getType()).getShape();
  return llvm::all_of_zip(shape, x.getShape().take_back(shape.size()),
                          [](int64_t gateSize, int64_t size) { return gateSize == 1 || !ShapedType::isDynamic(size); });
}

LogicalResult AddOp::canonicalize(AddOp op, PatternRewriter &rewriter) {
  // 1·f = f for every f, NaN and -0 included.
  if (!isIdentityGate(op.getGate(), op.getX().getType()))
    return rewriter.notifyMatchFailure(op, "the gate is absent, not a constant 1, or checks a dynamic size");
  rewriter.modifyOpInPlace(op, [&] { op.getGateMutable().clear(); });
  return success();
}

//===----------------------------------------------------------------------===//
// AddBiasOp
//===----------------------------------------------------------------------===//

LogicalResult AddBiasOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getF().getType());
  return success();
}

LogicalResult AddBiasOp::verify() {
  RankedTensorType f = getF().getType();
  RankedTensorType bias = getBias().getType();
  if (failed(verifyParameterShape(*this, f, getBias(), /*rank=*/1, "bias"))) // add_bias.C3
    return failure();
  if (bias.getElementType().isF64() && !f.getElementType().isF64()) // add_bias.C4
    return emitOpError("expected bias of f16, bf16 or f32 beside f of ") << f.getElementType() << ", but got " << bias;
  return success();
}
