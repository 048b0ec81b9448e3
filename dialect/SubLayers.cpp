// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, text and verifiers of the family SubLayers.

#include "dialect/Assembly.h"
#include "dialect/Verification.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// LinearOp
//===----------------------------------------------------------------------===//

/// x with the output features of the weight in place of its last dimension; null where there is no such type.
static RankedTensorType getLinearType(Type x, Type weight, bool isTransposed) {
  auto rows = dyn_cast<RankedTensorType>(x), matrix = dyn_cast<RankedTensorType>(weight);
  if (!rows || rows.getRank() == 0 || !matrix || matrix.getRank() != 2)
    return {};
  SmallVector<int64_t> shape(rows.getShape());
  shape.back() = matrix.getDimSize(isTransposed ? 1 : 0);
  return RankedTensorType::get(shape, rows.getElementType());
}

void LinearOp::build(OpBuilder &builder, OperationState &state, Value x, Value weight, Value bias, bool transposed) {
  build(builder, state, getLinearType(x.getType(), weight.getType(), transposed), x, weight, bias, transposed);
}

FloatType LinearOp::getArithmeticType() {
  auto isWide = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  bool isAnyWide = llvm::any_of(getOperandTypes(), isWide) || isWide(getType());
  return isAnyWide ? FloatType(Float64Type::get(getContext())) : FloatType(Float32Type::get(getContext()));
}

void LinearOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  int64_t last = getX().getType().getRank() - 1;
  for (int64_t dimension = 0; dimension < last; ++dimension)
    unite(getResult(), dimension, getX(), dimension);
  unite(getWeight(), getInputAxis(), getX(), last);
  unite(getResult(), last, getWeight(), getOutputAxis());
  if (getBias())
    unite(getBias(), 0, getResult(), last);
}

/// `%x, %weight (bias(%bias))? attributes : Tx, Tweight (, Tbias)? (-> Tresult)?`. The result's shape hangs on an
/// attribute, so that no assemblyFormat can state it.
ParseResult LinearOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands(2);
  OptionalOperand bias;
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("bias")) &&
      (parser.parseLParen() || parser.parseOperand(bias.emplace()) || parser.parseRParen()))
    return failure();
  SMLoc typesLocation;
  Type x, weight, biasType, result;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&typesLocation) || parseLinearTypes(parser, bias, x, weight, biasType, result))
    return failure();
  if (!result)
    result = getLinearType(x, weight, state.attributes.get(getTransposedAttrName(state.name)) != nullptr);
  if (!result)
    return parser.emitError(typesLocation, "expected x of rank 1 or more and a weight of rank 2, but got ")
           << x << " and " << weight;
  SmallVector<Type> types = {x, weight};
  if (bias) {
    operands.push_back(*bias);
    types.push_back(biasType);
  }
  state.addTypes(result);
  return parser.resolveOperands(operands, types, typesLocation, state.operands);
}

void LinearOp::print(OpAsmPrinter &printer) {
  printer << " " << getX() << ", " << getWeight();
  if (getBias())
    printer << " bias(" << getBias() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getX().getType() << ", " << getWeight().getType();
  if (getBias())
    printer << ", " << getBias().getType();
  if (getType() != getLinearType(getX().getType(), getWeight().getType(), getTransposed()))
    printer << " -> " << getType();
}

LogicalResult LinearOp::verify() {
  RankedTensorType x = getX().getType(), weight = getWeight().getType(), result = getType();
  if (weight.getRank() != 2) // linear.C2
    return emitOpError("expected weight of rank 2 but got ") << weight;
  if (!agree(x.getShape().back(), weight.getDimSize(getInputAxis()))) // linear.C3
    return emitOpError("expected a weight of ")
           << x.getShape().back() << " input features, the last dimension of x, but got " << weight
           << (getTransposed() ? " with them first" : " with them last");
  RankedTensorType expected = getLinearType(x, weight, getTransposed());
  if (result.getShape() != expected.getShape()) // linear.C4
    return emitOpError("expected a result of the shape of ") << expected << ", but got " << result;
  return verifyParameterShape(*this, result, getBias(), /*rank=*/1, "bias"); // linear.C5
}

//===----------------------------------------------------------------------===//
// ActivationOp
//===----------------------------------------------------------------------===//

LogicalResult ActivationOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

void ActivationOp::build(OpBuilder &builder, OperationState &state, ActivationKind kind, Value x, Value up) {
  build(builder, state, x.getType(), kind, x, up, /*limit=*/FloatAttr(), /*alpha=*/FloatAttr());
}

/// The attributes of a clamped kind.
static LogicalResult verifyLimit(ActivationOp op) {
  const ActivationRule &rule = getActivationRule(op.getKind());
  StringRef kind = stringifyActivationKind(op.getKind());
  if (op.getLimit() && !rule.mayHaveLimit)
    return op.emitOpError("expected no limit for ") << kind << " but got " << printFloat(*op.getLimit());
  if (!op.getLimit() && rule.isClamped)
    return op.emitOpError("expected limit for ") << kind << " but got none";
  if (op.getAlpha().has_value() != rule.isClamped)
    return op.emitOpError("expected ") << (rule.isClamped ? "alpha" : "no alpha") << " for " << kind << " but got "
                                       << (rule.isClamped ? "none" : "one");
  Type element = op.getX().getType().getElementType();
  return failure((op.getLimit() && failed(verifyPositive(op, element, *op.getLimit(), "limit"))) ||
                 (op.getAlpha() && failed(verifyPositive(op, element, *op.getAlpha(), "alpha"))));
}

LogicalResult ActivationOp::verify() {
  bool isGated = getActivationRule(getKind()).isGated;
  if (isGated != static_cast<bool>(getUp())) // activation.C3
    return emitOpError("expected ") << (isGated ? "up" : "no up") << " for " << stringifyActivationKind(getKind())
                                    << " but got " << (isGated ? "none" : "one");
  if (isGated && getUp().getType() != getX().getType()) // activation.C4
    return emitOpError("expected up of the type of x, ") << getX().getType() << ", but got " << getUp().getType();
  return verifyLimit(*this); // activation.C5
}

//===----------------------------------------------------------------------===//
// RotaryOp
//===----------------------------------------------------------------------===//

LogicalResult RotaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

/// With an offset, that the tables have rows enough is a condition on its value.
void RotaryOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  int64_t rank = getX().getType().getRank();
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    unite(getResult(), dimension, getX(), dimension);
  unite(getSin(), 0, getCos(), 0);
  if (getOffset() && isa<RankedTensorType>(getOffset().getType()))
    unite(getOffset(), 0, getX(), 0);
  if (!getOffset())
    unite(getCos(), 0, getX(), rank - 2);
}

/// The tables have a row for each position.
static LogicalResult verifyRows(RotaryOp op, RankedTensorType table, StringRef name) {
  int64_t positions = op.getX().getType().getShape().end()[-2], rows = table.getDimSize(0);
  bool isEnough = op.getOffset() && !ShapedType::isDynamic(positions) && positions < rows;
  if (isEnough || agree(positions, rows))
    return success();
  return op.emitOpError("expected ") << name << " of " << positions << (op.getOffset() ? " rows or more" : " rows")
                                     << ", one for each position, but got " << table;
}

LogicalResult RotaryOp::verify() {
  RankedTensorType x = getX().getType(), cos = getCos().getType(), sin = getSin().getType();
  if (x.getRank() < 2 || x.isDynamicDim(x.getRank() - 1)) // rotary.C3
    return emitOpError("expected x of rank 2 or more with a static last dimension but got ") << x;
  int64_t size = x.getShape().back();
  if (cos.getRank() != 2 || cos.isDynamicDim(1) || cos.getDimSize(1) < 1 || cos.getDimSize(1) > size / 2) // rotary.C4
    return emitOpError("expected cos of rank 2 with 1 to ")
           << size / 2 << " columns, half of the last dimension of x, but got " << cos;
  if (sin.getRank() != 2 || sin.getDimSize(1) != cos.getDimSize(1) || // rotary.C5
      !agree(sin.getDimSize(0), cos.getDimSize(0)))
    return emitOpError("expected sin of the shape of cos, ") << cos << ", but got " << sin;
  auto offsets = getOffset() ? dyn_cast<RankedTensorType>(getOffset().getType()) : RankedTensorType();
  bool hasSamples = offsets && offsets.getRank() == 1 && x.getRank() > 2;
  if (offsets && !(hasSamples && agree(offsets.getDimSize(0), x.getDimSize(0)))) // rotary.C8
    return emitOpError("expected an offset for each sample of ") << x << ", but got " << offsets;
  return failure(failed(verifyRows(*this, cos, "cos")) ||                  // rotary.C6
                 failed(verifyRows(*this, sin, "sin")) ||                  // rotary.C6
                 failed(verifyParameterType(*this, x, getCos(), "cos")) || // rotary.C7
                 failed(verifyParameterType(*this, x, getSin(), "sin")));  // rotary.C7
}
