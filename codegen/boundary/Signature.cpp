// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signatures as attributes, and the C types of MLIR values.

#include "codegen/boundary/Signature.h"

#include "codegen/boundary/DimensionClasses.h"
#include "codegen/boundary/Names.h"
#include "codegen/boundary/SizeExpression.h"
#include "dialect/FunctionAttributes.h"
#include "dialect/Shapes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

//===------------------------------------------- types ------------------------------------------------------------===//

llvm::StringRef mlir::resid::boundary::getCTypeName(Type type) {
  if (type.isF16() || type.isBF16())
    return "uint16_t";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isIndex())
    return "int64_t";
  if (!type.isSignlessInteger())
    return "";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return "int8_t";
  case 16:
    return "int16_t";
  case 32:
    return "int32_t";
  case 64:
    return "int64_t";
  default:
    return "";
  }
}

int64_t KernelValue::getElementBytes() const {
  Type element = getElementType();
  return element.isIndex() ? 8 : std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

static bool hasArrayForm(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() && !getCTypeName(tensor.getElementType()).empty();
}

LogicalResult mlir::resid::boundary::verifyInterfaceTypes(func::FuncOp function) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!hasArrayForm(type) && getCTypeName(type).empty())
      return emitError(getArgumentLocation(function, index))
             << "argument " << index << " of type " << type
             << " is not available in C: expected a scalar or a ranked tensor of f16, bf16, f32, f64, index, i1, i8, "
                "i16, i32 or i64";
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (!hasArrayForm(type))
      return function.emitError() << "result " << index << " of type " << type
                                  << " is not available in C: expected a ranked tensor of f16, bf16, f32, f64, index, "
                                     "i1, i8, i16, i32 or i64";
  return success();
}

Type KernelValue::getBufferType() const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  MemRefLayoutAttrInterface layout;
  if (isStrided()) {
    SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
    strides.back() = 1;
    layout = StridedLayoutAttr::get(tensor.getContext(), /*offset=*/0, strides);
  }
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), layout);
}

//===------------------------------------------- signatures -------------------------------------------------------===//

static FailureOr<std::string> computeSymbol(func::FuncOp function, llvm::StringRef prefix) {
  std::string name = (prefix + function.getSymName()).str();
  std::string identifier = makeFunctionName(name);
  if (identifier != name && identifier != name + "_")
    return function.emitError() << "expected a function name that is a C identifier, but got '" << name << "'";
  return identifier;
}

AffineExpr KernelSignature::getDerivedSize(int64_t code) const {
  int64_t index = -1 - code - int64_t(sizes.size());
  return index < 0 ? AffineExpr() : derivedSizes[index];
}

std::string KernelSignature::printSize(AffineExpr expression) const {
  return boundary::printSize(expression, [&](unsigned index) { return sizes[index].name; });
}

std::pair<AffineExpr, std::string> KernelSignature::describeEquality(AffineExpr a, AffineExpr b) const {
  auto remainder = dyn_cast<AffineBinaryOpExpr>(a);
  if (remainder && remainder.getKind() == AffineExprKind::Mod && b == getAffineConstantExpr(0, b.getContext()))
    return {remainder.getLHS(), "a multiple of " + printSize(remainder.getRHS())};
  return {a, "equal to " + printSize(b)};
}

int64_t KernelSignature::getSharedSize(int64_t code) const {
  if (code >= 0 || getDerivedSize(code))
    return code;
  const SizeParameter &own = sizes[-1 - code], &first = sizes[own.sameAs];
  if (own.fixed >= 0 || first.fixed >= 0)
    return std::max(own.fixed, first.fixed);
  return -1 - int64_t(own.sameAs);
}

bool KernelSignature::mayShareBuffer(unsigned result, unsigned argument) const {
  return llvm::is_contained(inPlace, std::make_pair(result, argument));
}

static void addArguments(func::FuncOp function, KernelSignature &signature, ParameterNames &names) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto given = function.getArgAttrOfType<StringAttr>(index, kArgumentNameAttribute);
    std::string wanted = given && !given.getValue().empty() ? given.getValue().str() : "arg" + std::to_string(index);
    KernelValue value{names.take(wanted), type, {}};
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (int64_t dimension = 0; tensor && dimension < tensor.getRank(); ++dimension) {
      if (!tensor.isDynamicDim(dimension)) {
        value.shape.push_back(tensor.getDimSize(dimension));
        continue;
      }
      unsigned own = signature.sizes.size();
      std::string name = names.take(value.name + "_dim" + std::to_string(dimension));
      signature.sizes.push_back({name, unsigned(index), unsigned(dimension), own, -1});
      value.shape.push_back(-1 - int64_t(own));
    }
    if (function.getArgAttr(index, kStridedAttribute))
      value.stride = names.take(value.name + "_stride");
    signature.arguments.push_back(std::move(value));
  }
}

/// Which sizes must be equal to earlier ones or to constants.
static void addConstraints(func::FuncOp function, KernelSignature &signature, DimensionClasses &classes) {
  for (auto [index, size] : llvm::enumerate(signature.sizes)) {
    Value array = function.getArgument(size.argument);
    size.fixed = classes.getStaticSize(array, size.dimension).value_or(-1);
    for (unsigned earlier = 0; earlier < index; ++earlier) {
      const SizeParameter &other = signature.sizes[earlier];
      if (!classes.areEqual(array, size.dimension, function.getArgument(other.argument), other.dimension))
        continue;
      size.sameAs = earlier;
      break;
    }
  }
}

/// The dimensions of the function's arguments that are size parameters, in order.
static SmallVector<DimensionClasses::Dimension> getOpenDimensions(func::FuncOp function) {
  SmallVector<DimensionClasses::Dimension> dimensions;
  for (BlockArgument argument : function.getArguments())
    if (auto tensor = dyn_cast<RankedTensorType>(argument.getType()))
      for (int64_t dimension = 0; dimension < tensor.getRank(); ++dimension)
        if (tensor.isDynamicDim(dimension))
          dimensions.push_back({argument, dimension});
  return dimensions;
}

static LogicalResult verifyResultSizes(func::FuncOp function, DimensionClasses &classes) {
  for (auto [index, operand] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    for (int64_t dimension = 0; dimension < cast<RankedTensorType>(operand.getType()).getRank(); ++dimension)
      if (!classes.getSize(operand, dimension))
        return mlir::emitError(operand.getLoc())
               << "dimension " << dimension << " of result " << index << " of '" << function.getSymName()
               << "' does not follow from the sizes of the arguments";
  return success();
}

LogicalResult mlir::resid::boundary::verifyResultSizes(func::FuncOp function) {
  // What has several blocks is refused later.
  if (!function.getBody().hasOneBlock() ||
      llvm::all_of(function.getResultTypes(), [](Type type) { return cast<ShapedType>(type).hasStaticShape(); }))
    return success();
  DimensionClasses classes(function);
  classes.resolve(getOpenDimensions(function));
  return ::verifyResultSizes(function, classes);
}

/// What operations require of sizes beyond equal parameters.
static LogicalResult addEqualities(KernelSignature &signature, const DimensionClasses &classes) {
  for (auto [a, b, op] : classes.getEqualities()) {
    AffineExpr difference = normalizeSize(a - b);
    if (auto constant = dyn_cast_if_present<AffineConstantExpr>(difference)) {
      if (constant.getValue() == 0)
        continue;
      return op->emitError() << "expected a size that a call can have, but it must be " << signature.printSize(a)
                             << " and " << signature.printSize(b);
    }
    // A number less its whole part is a remainder.
    bool isRemainder = difference && difference.getKind() == AffineExprKind::Mod;
    auto equality =
        isRemainder ? std::make_pair(difference, getAffineConstantExpr(0, a.getContext())) : std::make_pair(a, b);
    if (!llvm::is_contained(signature.equalities, equality))
      signature.equalities.push_back(equality);
  }
  return success();
}

/// The code of a size, which becomes a derived one where it is neither static nor a parameter.
static int64_t getSizeCode(KernelSignature &signature, AffineExpr size) {
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return constant.getValue();
  if (auto parameter = dyn_cast<AffineSymbolExpr>(size))
    return -1 - int64_t(parameter.getPosition());
  auto found = llvm::find(signature.derivedSizes, size);
  int64_t index = found - signature.derivedSizes.begin();
  if (found == signature.derivedSizes.end())
    signature.derivedSizes.push_back(size);
  return -1 - int64_t(signature.sizes.size()) - index;
}

static LogicalResult addResults(func::FuncOp function, KernelSignature &signature, DimensionClasses &classes,
                                ParameterNames &names) {
  if (failed(verifyResultSizes(function, classes)))
    return failure();
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [index, operand] : llvm::enumerate(terminator->getOperands())) {
    auto tensor = cast<RankedTensorType>(operand.getType());
    KernelValue value{names.take("out" + std::to_string(index)), tensor, {}};
    for (int64_t dimension = 0; dimension < tensor.getRank(); ++dimension)
      value.shape.push_back(getSizeCode(signature, classes.getSize(operand, dimension)));
    if (function.getResultAttr(index, kStridedAttribute))
      value.stride = names.take(value.name + "_stride");
    signature.results.push_back(std::move(value));
  }
  return success();
}

/// A static shape beyond the limit would overflow the sizes of views and copies.
static LogicalResult verifyByteLimit(func::FuncOp function) {
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (isa<RankedTensorType>(type) && !fitsByteLimit(type))
      return function.emitError() << "expected arrays of at most 2^47 bytes, but got " << type;
  return success();
}

/// The function type; where arrays are strided, with that attribute behind their types, as in a declaration.
static std::string printType(FunctionType type, const KernelSignature &signature) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto isStrided = [](const KernelValue &value) { return value.isStrided(); };
  if (llvm::none_of(signature.arguments, isStrided) && llvm::none_of(signature.results, isStrided)) {
    stream << type;
    return text;
  }
  auto print = [&](const KernelValue &value) { stream << value.type << (value.isStrided() ? " {resid.strided}" : ""); };
  stream << "(";
  llvm::interleaveComma(signature.arguments, stream, print);
  stream << ") -> (";
  llvm::interleaveComma(signature.results, stream, print);
  stream << ")";
  return text;
}

FailureOr<KernelSignature> mlir::resid::boundary::computeSignature(func::FuncOp function, llvm::StringRef prefix) {
  if (failed(verifyByteLimit(function)))
    return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "expected one block in function '" << function.getSymName() << "', but got "
                                << function.getBody().getBlocks().size();
  KernelSignature signature;
  FailureOr<std::string> symbol = computeSymbol(function, prefix);
  if (failed(symbol))
    return failure();
  signature.symbol = *symbol;

  ParameterNames names;
  addArguments(function, signature, names);
  DimensionClasses classes(function);
  addConstraints(function, signature, classes);
  classes.resolve(getOpenDimensions(function));
  if (failed(addEqualities(signature, classes)) || failed(addResults(function, signature, classes, names)))
    return failure();
  signature.typeText = printType(function.getFunctionType(), signature);
  return signature;
}

//===------------------------------------------- attributes -------------------------------------------------------===//

static DictionaryAttr toAttribute(Builder &builder, const KernelValue &value) {
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr("name", builder.getStringAttr(value.name)),
                                         builder.getNamedAttr("type", TypeAttr::get(value.type))};
  if (value.isArray())
    entries.push_back(builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(value.shape)));
  if (value.isStrided())
    entries.push_back(builder.getNamedAttr("stride", builder.getStringAttr(value.stride)));
  return builder.getDictionaryAttr(entries);
}

static KernelValue valueFromAttribute(DictionaryAttr attribute) {
  KernelValue value{attribute.getAs<StringAttr>("name").str(), attribute.getAs<TypeAttr>("type").getValue(), {}};
  if (auto shape = attribute.getAs<DenseI64ArrayAttr>("shape"))
    value.shape.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
  if (auto stride = attribute.getAs<StringAttr>("stride"))
    value.stride = stride.str();
  return value;
}

DictionaryAttr KernelSignature::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  auto valuesToAttribute = [&](ArrayRef<KernelValue> values) {
    return builder.getArrayAttr(llvm::map_to_vector(
        values, [&](const KernelValue &value) -> Attribute { return ::toAttribute(builder, value); }));
  };
  SmallVector<Attribute> sizeList, inPlaceList;
  for (const SizeParameter &size : sizes)
    sizeList.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(size.name)),
                                   builder.getNamedAttr("argument", builder.getI64IntegerAttr(size.argument)),
                                   builder.getNamedAttr("dimension", builder.getI64IntegerAttr(size.dimension)),
                                   builder.getNamedAttr("same_as", builder.getI64IntegerAttr(size.sameAs)),
                                   builder.getNamedAttr("fixed", builder.getI64IntegerAttr(size.fixed))}));
  for (auto [result, argument] : inPlace)
    inPlaceList.push_back(builder.getDenseI64ArrayAttr({int64_t(result), int64_t(argument)}));
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr("symbol", builder.getStringAttr(symbol)),
                                         builder.getNamedAttr("type", builder.getStringAttr(typeText)),
                                         builder.getNamedAttr("arguments", valuesToAttribute(arguments)),
                                         builder.getNamedAttr("results", valuesToAttribute(results)),
                                         builder.getNamedAttr("sizes", builder.getArrayAttr(sizeList)),
                                         builder.getNamedAttr("in_place", builder.getArrayAttr(inPlaceList))};
  auto addExpressions = [&](StringRef name, ArrayRef<AffineExpr> expressions) {
    if (!expressions.empty())
      entries.push_back(builder.getNamedAttr(
          name, AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, sizes.size(), expressions, context))));
  };
  addExpressions("derived_sizes", derivedSizes);
  SmallVector<AffineExpr> sides; // of the equalities, two by two
  for (auto [a, b] : equalities)
    sides.append({a, b});
  addExpressions("equalities", sides);
  auto checkList = llvm::map_to_vector(checks, [&](const ValueCheck &check) -> Attribute {
    return builder.getDictionaryAttr({builder.getNamedAttr("text", builder.getStringAttr(check.text)),
                                      builder.getNamedAttr("status", builder.getI32IntegerAttr(check.status)),
                                      builder.getNamedAttr("inside", builder.getBoolAttr(check.isInside))});
  });
  if (!checkList.empty())
    entries.push_back(builder.getNamedAttr("checks", builder.getArrayAttr(checkList)));
  return builder.getDictionaryAttr(entries);
}

KernelSignature KernelSignature::fromAttribute(DictionaryAttr attribute) {
  KernelSignature signature;
  signature.symbol = attribute.getAs<StringAttr>("symbol").str();
  signature.typeText = attribute.getAs<StringAttr>("type").str();
  for (auto value : attribute.getAs<ArrayAttr>("arguments").getAsRange<DictionaryAttr>())
    signature.arguments.push_back(valueFromAttribute(value));
  for (auto value : attribute.getAs<ArrayAttr>("results").getAsRange<DictionaryAttr>())
    signature.results.push_back(valueFromAttribute(value));
  for (auto size : attribute.getAs<ArrayAttr>("sizes").getAsRange<DictionaryAttr>()) {
    auto integer = [&](llvm::StringRef name) { return size.getAs<IntegerAttr>(name).getInt(); };
    signature.sizes.push_back({size.getAs<StringAttr>("name").str(), unsigned(integer("argument")),
                               unsigned(integer("dimension")), unsigned(integer("same_as")), integer("fixed")});
  }
  for (auto pair : attribute.getAs<ArrayAttr>("in_place").getAsRange<DenseI64ArrayAttr>())
    signature.inPlace.push_back({unsigned(pair[0]), unsigned(pair[1])});
  if (auto map = attribute.getAs<AffineMapAttr>("derived_sizes"))
    signature.derivedSizes.assign(map.getValue().getResults().begin(), map.getValue().getResults().end());
  if (auto map = attribute.getAs<AffineMapAttr>("equalities"))
    for (ArrayRef<AffineExpr> sides = map.getValue().getResults(); !sides.empty(); sides = sides.drop_front(2))
      signature.equalities.push_back({sides[0], sides[1]});
  if (auto checks = attribute.getAs<ArrayAttr>("checks"))
    for (auto check : checks.getAsRange<DictionaryAttr>())
      signature.checks.push_back({check.getAs<StringAttr>("text").str(),
                                  int32_t(check.getAs<IntegerAttr>("status").getInt()),
                                  check.getAs<BoolAttr>("inside").getValue()});
  return signature;
}
