// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and verifiers of the family Quantize.

#include "dialect/Assembly.h"
#include "dialect/QuantizedResult.h"
#include "dialect/TypeLists.h"
#include "dialect/Verification.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid;

RankedTensorType resid::getScaleType(Type quantized, Granularity granularity, std::optional<int64_t> group) {
  auto type = dyn_cast<RankedTensorType>(quantized);
  if (!type || type.getRank() == 0)
    return {};
  SmallVector<int64_t> shape(type.getShape().drop_back());
  if (granularity == Granularity::Tensor)
    shape.clear();
  if (granularity == Granularity::Group) {
    if (!group || *group < 1 || type.isDynamicDim(type.getRank() - 1) || type.getShape().back() == 0)
      return {};
    shape.push_back(llvm::divideCeil(type.getShape().back(), *group));
  }
  return RankedTensorType::get(shape, Float32Type::get(type.getContext()));
}

LogicalResult resid::verifyGroup(function_ref<InFlightDiagnostic()> emitError, RankedTensorType type,
                                 Granularity granularity, std::optional<int64_t> group) {
  if (group.has_value() != (granularity == Granularity::Group))
    return emitError() << "expected group exactly where granularity is group";
  if (group && *group < 1)
    return emitError() << "expected groups of 1 or more but got " << *group;
  if (group && (type.isDynamicDim(type.getRank() - 1) || type.getShape().back() == 0))
    return emitError() << "expected a static last dimension of 1 or more for groups but got " << type;
  return success();
}

static RankedTensorType withElement(Type type, Type element) {
  return cast<RankedTensorType>(cast<RankedTensorType>(type).clone(element));
}

//===------------------------------------------- text -------------------------------------------------------------===//

/// `row | tensor | group G`
static ParseResult parseGranularity(OpAsmParser &parser, GranularityAttr &granularity, IntegerAttr &group) {
  StringRef keyword;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Granularity> found = symbolizeGranularity(keyword);
  if (!found)
    return parser.emitError(place, "expected granularity to be row, tensor or group G, but got '") << keyword << "'";
  granularity = GranularityAttr::get(parser.getContext(), *found);
  int64_t size;
  if (*found != Granularity::Group)
    return success();
  if (parser.parseInteger(size))
    return failure();
  group = parser.getBuilder().getI64IntegerAttr(size);
  return success();
}

static void printGranularity(OpAsmPrinter &printer, Granularity granularity, std::optional<int64_t> group) {
  printer << stringifyGranularity(granularity);
  if (group)
    printer << " " << *group;
}

ParseResult resid::parseQuantization(OpAsmParser &parser, GranularityAttr &granularity, IntegerAttr &group,
                                     OptionalOperand &scale, Type &type) {
  if (parseGranularity(parser, granularity, group))
    return failure();
  return failure(succeeded(parser.parseOptionalKeyword("scale")) &&
                 (parser.parseOperand(scale.emplace()) || parser.parseColonType(type)));
}

void resid::printQuantization(OpAsmPrinter &printer, Operation *op, GranularityAttr, IntegerAttr, Value scale, Type) {
  auto quantized = cast<QuantizedResultOpInterface>(op);
  printGranularity(printer, quantized.getGranularity().value_or(Granularity::Row), quantized.getGroup());
  if (scale)
    printer << " scale " << scale << " : " << scale.getType();
}

/// `{granularity = row | tensor | group G, …}`, whose first value is no attribute of MLIR.
template <typename Op> static ParseResult parseAttributes(OpAsmParser &parser, OperationState &state) {
  auto parseEntry = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    if (name != "granularity") {
      Attribute value = parser.getBuilder().getUnitAttr();
      if (succeeded(parser.parseOptionalEqual()) && parser.parseAttribute(value))
        return failure();
      state.addAttribute(name, value);
      return success();
    }
    if (parser.parseEqual())
      return failure();
    GranularityAttr granularity;
    IntegerAttr group;
    if (parseGranularity(parser, granularity, group))
      return failure();
    state.addAttribute(name, granularity);
    if (group)
      state.addAttribute("group", group);
    return success();
  };
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, parseEntry))
    return failure();
  if (!state.attributes.get("granularity"))
    return parser.emitError(place, "expected {granularity = row}, tensor or group G");
  return Op::verifyInherentAttrs(state.name, state.attributes, [&] { return parser.emitError(place); });
}

static void printNamed(OpAsmPrinter &printer, NamedAttribute attribute) {
  printer.printKeywordOrString(attribute.getName());
  if (!isa<UnitAttr>(attribute.getValue()))
    printer << " = " << attribute.getValue();
}

static void printGranularity(OpAsmPrinter &printer, Operation *op, Granularity granularity,
                             std::optional<int64_t> group) {
  printGranularity(printer << " {granularity = ", granularity, group);
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != "granularity" && attribute.getName() != "group")
      printNamed(printer << ", ", attribute);
  printer << "}";
}

static Granularity findGranularity(const OperationState &state) {
  return cast<GranularityAttr>(state.attributes.get("granularity")).getValue();
}

static std::optional<int64_t> findGroup(const OperationState &state) {
  auto group = dyn_cast_or_null<IntegerAttr>(state.attributes.get("group"));
  return group ? std::optional(group.getInt()) : std::nullopt;
}

/// `%x (scale(%scale))? {granularity = …} : Tx (, Tscale)?`.
ParseResult QuantizeOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand x;
  OptionalOperand scale;
  if (parser.parseOperand(x))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scale")) &&
      (parser.parseLParen() || parser.parseOperand(scale.emplace()) || parser.parseRParen()))
    return failure();
  SMLoc place;
  Type xType, scaleType;
  if (parseAttributes<QuantizeOp>(parser, state) || parser.parseColon() || parser.getCurrentLocation(&place) ||
      parseTypes(parser, {{"x", xType}, {"scale", scaleType, scale.has_value()}}))
    return failure();
  auto ranked = dyn_cast<RankedTensorType>(xType);
  if (!ranked || ranked.getRank() == 0)
    return parser.emitError(place, "expected x to be a ranked tensor of rank 1 or more, but got ") << xType;
  auto emitError = [&] { return parser.emitError(place); };
  if (failed(verifyGroup(emitError, ranked, findGranularity(state), findGroup(state))))
    return failure();
  RankedTensorType found = getScaleType(xType, findGranularity(state), findGroup(state));
  state.addTypes(withElement(xType, parser.getBuilder().getI8Type()));
  if (!scale)
    state.addTypes(found);
  if (parser.resolveOperand(x, xType, state.operands))
    return failure();
  return failure(scale && parser.resolveOperand(*scale, scaleType, state.operands));
}

void QuantizeOp::print(OpAsmPrinter &printer) {
  printer << " " << getX();
  if (getStaticScale())
    printer << " scale(" << getStaticScale() << ")";
  printGranularity(printer, *this, getGranularity(), getGroup());
  printer << " : " << getX().getType();
  if (getStaticScale())
    printer << ", " << getStaticScale().getType();
}

/// `%q scale(%scale) {granularity = …} : Tq, Tscale (-> Tresult)?`.
ParseResult DequantizeOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand q, scale;
  Type qType, scaleType, result;
  SMLoc place;
  if (parser.parseOperand(q) || parser.parseKeyword("scale") || parser.parseLParen() || parser.parseOperand(scale) ||
      parser.parseRParen() || parseAttributes<DequantizeOp>(parser, state) || parser.parseColon() ||
      parser.getCurrentLocation(&place) || parseTypes(parser, {{"q", qType}, {"scale", scaleType}}) ||
      (succeeded(parser.parseOptionalArrow()) && parser.parseType(result)))
    return failure();
  if (!isa<RankedTensorType>(qType))
    return parser.emitError(place, "expected q to be a ranked tensor, but got ") << qType;
  state.addTypes(result ? result : withElement(qType, parser.getBuilder().getF32Type()));
  return failure(parser.resolveOperand(q, qType, state.operands) ||
                 parser.resolveOperand(scale, scaleType, state.operands));
}

void DequantizeOp::print(OpAsmPrinter &printer) {
  printer << " " << getQ() << " scale(" << getScale() << ")";
  printGranularity(printer, *this, getGranularity(), getGroup());
  printer << " : " << getQ().getType() << ", " << getScale().getType();
  if (!getType().getElementType().isF32())
    printer << " -> " << getType();
}

//===------------------------------------------- verifiers --------------------------------------------------------===//

LogicalResult resid::verifyScaleShape(Operation *op, RankedTensorType expected, RankedTensorType scale) {
  if (succeeded(verifyCompatibleShape(scale.getShape(), expected.getShape())))
    return success();
  return op->emitOpError("expected scale of the shape of ") << expected << " but got " << scale;
}

LogicalResult QuantizeOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyGroup([&] { return emitOpError(); }, x, getGranularity(), getGroup()))) // quantize.C2
    return failure();
  RankedTensorType expected = getScaleType(x, getGranularity(), getGroup());
  if (getStaticScale() && failed(verifyScaleShape(*this, expected, getStaticScale().getType()))) // quantize.C3
    return failure();
  if (getQ().getType().getShape() != x.getShape()) // quantize.C4
    return emitOpError("expected q of the shape of ") << x << " but got " << getQ().getType();
  if (!getStaticScale() == !getScale())
    return emitOpError("expected scale as an operand or as a result");
  if (getScale() && getScale().getType() != expected)
    return emitOpError("expected scale of type ") << expected << " but got " << getScale().getType();
  return success();
}

LogicalResult DequantizeOp::verify() {
  RankedTensorType q = getQ().getType();
  if (failed(verifyGroup([&] { return emitOpError(); }, q, getGranularity(), getGroup()))) // dequantize.C2
    return failure();
  if (failed(verifyScaleShape(*this, getScaleType(q, getGranularity(), getGroup()),
                              getScale().getType()))) // dequantize.C3
    return failure();
  if (getType().getShape() != q.getShape()) // dequantize.C4
    return emitOpError("expected a result of the shape of ") << q << " but got " << getType();
  return success();
}

//===------------------------------------------- sizes ------------------------------------------------------------===//

/// The leading dimensions of the scales of rows and groups are those of what was quantised.
static void uniteScale(Value scale, Value whole, Granularity granularity, UniteSizes unite) {
  if (granularity != Granularity::Tensor)
    uniteLeading(scale, whole, cast<RankedTensorType>(whole.getType()).getRank() - 1, unite);
}

void QuantizeOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteLeading(getQ(), getX(), unite);
  uniteScale(getStaticScale() ? getStaticScale() : getScale(), getX(), getGranularity(), unite);
}

void DequantizeOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteLeading(getResult(), getQ(), unite);
  uniteScale(getScale(), getQ(), getGranularity(), unite);
}
