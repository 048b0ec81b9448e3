// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, text and verifiers of the family SubLayers.

#include "dialect/Assembly.h"
#include "dialect/Contraction.h"
#include "dialect/TypeLists.h"
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
  Type element = rows.getElementType();
  return RankedTensorType::get(shape, element.isInteger() ? Float32Type::get(element.getContext()) : element);
}

void LinearOp::build(OpBuilder &builder, OperationState &state, Value x, Value weight, Value bias, bool transposed) {
  build(builder, state, getLinearType(x.getType(), weight.getType(), transposed), x, weight, /*x_scale=*/Value(),
        /*weight_scale=*/Value(), /*weight_zero=*/Value(), /*weight_offset=*/Value(), bias, transposed,
        /*group=*/IntegerAttr());
}

FloatType LinearOp::getArithmeticType() {
  auto isWide = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  bool isAnyWide = llvm::any_of(getOperandTypes(), isWide) || isWide(getType());
  return isAnyWide ? FloatType(Float64Type::get(getContext())) : FloatType(Float32Type::get(getContext()));
}

void LinearOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  int64_t last = getX().getType().getRank() - 1;
  uniteLeading(getResult(), getX(), last, unite);
  unite(getWeight(), getInputAxis(), getX(), last);
  unite(getResult(), last, getWeight(), getOutputAxis());
  if (Value scale = getXScale())
    uniteLeading(scale, getX(), unite);
  for (Value perOutput : {Value(getWeightScale()), Value(getWeightZero()), Value(getWeightOffset()), Value(getBias())})
    if (perOutput)
      unite(perOutput, 0, getResult(), last);
}

/// The optional operands, in their order.
static constexpr StringRef kLinearClauses[] = {"x_scale", "weight_scale", "weight_zero", "weight_offset", "bias"};

/// `%x, %weight (clause(%operand))* attributes : Tx, Tweight (, Toperand)* (-> Tresult)?`. The result's shape hangs on
/// an attribute, so that no assemblyFormat can state it.
ParseResult LinearOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands(2);
  SmallVector<int32_t> segments = {1, 1};
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]))
    return failure();
  Type types[2 + std::size(kLinearClauses)];
  SmallVector<StatedType> stated = {{"x", types[0]}, {"weight", types[1]}};
  for (auto [index, clause] : llvm::enumerate(kLinearClauses)) {
    bool isGiven = succeeded(parser.parseOptionalKeyword(clause));
    segments.push_back(isGiven);
    stated.push_back({clause, types[2 + index], isGiven});
    if (isGiven && (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) || parser.parseRParen()))
      return failure();
  }
  SMLoc typesLocation, attributesLocation = parser.getCurrentLocation();
  Type result;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      ParseResult(
          verifyInherentAttrs(state.name, state.attributes, [&] { return parser.emitError(attributesLocation); })) ||
      parser.parseColon() || parser.getCurrentLocation(&typesLocation) || parseTypes(parser, stated) ||
      (succeeded(parser.parseOptionalArrow()) && parser.parseType(result)))
    return failure();
  if (!result)
    result = getLinearType(types[0], types[1], state.attributes.get(getTransposedAttrName(state.name)) != nullptr);
  if (!result)
    return parser.emitError(typesLocation, "expected x of rank 1 or more and a weight of rank 2, but got ")
           << types[0] << " and " << types[1];
  llvm::copy(segments, state.getOrAddProperties<Properties>().operandSegmentSizes.begin());
  state.addTypes(result);
  auto given = llvm::make_filter_range(types, [](Type type) { return type != nullptr; });
  return parser.resolveOperands(operands, llvm::to_vector(given), typesLocation, state.operands);
}

void LinearOp::print(OpAsmPrinter &printer) {
  printer << " " << getX() << ", " << getWeight();
  for (auto [index, clause] : llvm::enumerate(kLinearClauses))
    for (Value operand : getODSOperands(2 + index))
      printer << " " << clause << "(" << operand << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getOperandSegmentSizesAttrName()});
  printer << " : ";
  llvm::interleaveComma(getOperandTypes(), printer);
  if (getType() != getLinearType(getX().getType(), getWeight().getType(), getTransposed()))
    printer << " -> " << getType();
}

/// Rows of integers, and their scales.
static LogicalResult verifyIntegerRows(LinearOp op) {
  RankedTensorType x = op.getX().getType();
  auto isByte = [](Value value) { return getElementTypeOrSelf(value.getType()).isInteger(8); };
  if (!isByte(op.getX()) || !op.getXScale() || !isByte(op.getWeight()) || !op.getWeightScale() || op.getWeightZero() ||
      op.getWeightOffset() || op.getGroup()) // linear.C9
    return op.emitOpError("expected x and weight of i8, x_scale and weight_scale together, and nothing else of "
                          "integers, but got operands of ")
           << op.getOperandTypes();
  if (op.getArithmeticType().isF64() || !getElementTypeOrSelf(op.getWeightScale().getType()).isF32()) // linear.C9
    return op.emitOpError("expected no f64, and weight_scale of f32, beside integers but got operands of ")
           << op.getOperandTypes() << " and a result of " << op.getType();
  if (failed(verifyParameterShape(op, op.getType(), op.getWeightScale(), /*rank=*/1, "weight_scale"))) // linear.C9
    return failure();
  RankedTensorType scale = op.getXScale().getType();
  bool agrees = succeeded(verifyCompatibleShape(scale.getShape(), x.getShape().drop_back()));
  if (scale.getRank() != 0 && !agrees) // linear.C10
    return op.emitOpError("expected x_scale of rank 0, or with a number for each row of ")
           << x << ", but got " << scale;
  if (int64_t features = x.getShape().back(); features > kMostIntegerTerms) // linear.C11
    return op.emitOpError("expected at most ")
           << kMostIntegerTerms << " input features of integers but got " << features;
  return success();
}

/// A weight of integers, and what its numbers are computed from.
static LogicalResult verifyIntegerWeight(LinearOp op) {
  if (op.getXScale() || op.getX().getType().getElementType().isInteger())
    return verifyIntegerRows(op);
  RankedTensorType weight = op.getWeight().getType();
  Type element = weight.getElementType();
  bool isInteger = op.hasIntegerWeight();
  if (isInteger != static_cast<bool>(op.getWeightScale()) || isInteger != op.getGroup().has_value()) // linear.C6
    return op.emitOpError("expected ") << (isInteger ? "weight_scale and group" : "no weight_scale and no group")
                                       << " for a weight of " << element;
  if ((op.getWeightZero() || op.getWeightOffset()) && !isInteger) // linear.C6
    return op.emitOpError("expected no weight_zero and no weight_offset for a weight of ") << element;
  if (op.getWeightZero() && op.getWeightOffset()) // linear.C6
    return op.emitOpError("expected weight_zero or weight_offset, but got both");
  if (!isInteger)
    return success();
  if (op.getTransposed()) // linear.C7
    return op.emitOpError("expected no 'transposed' for a weight of ") << element;
  if (op.getArithmeticType().isF64()) // linear.C7
    return op.emitOpError("expected no f64 beside a weight of ") << element;
  int64_t in = weight.getDimSize(1), group = *op.getGroup();
  if (ShapedType::isDynamic(in)) // linear.C7
    return op.emitOpError("expected a static number of input features for a weight of ")
           << element << ", but got " << weight;
  if (group <= 0 || group % 2 != 0 || in % group != 0) // linear.C7
    return op.emitOpError("expected an even group that divides ") << in << " input features, but got " << group;
  int64_t shape[] = {weight.getDimSize(0), in / group};
  Value parameters[] = {op.getWeightScale(), op.getWeightZero(), op.getWeightOffset()};
  for (auto [index, value] : llvm::enumerate(parameters)) {
    auto type = value ? cast<RankedTensorType>(value.getType()) : RankedTensorType();
    if (!type || (type.getRank() == 2 && agree(type.getDimSize(0), shape[0]) && type.getDimSize(1) == shape[1]))
      continue;
    return op.emitOpError("expected ") << kLinearClauses[index + 1] << " of the shape of " // linear.C8
                                       << type.clone(shape) << ", but got " << type;
  }
  return success();
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
  return failure(failed(verifyParameterShape(*this, result, getBias(), /*rank=*/1, "bias")) || // linear.C5
                 failed(verifyIntegerWeight(*this)));
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
