// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/Signature.h"

#include "codegen/boundary/DimensionClasses.h"
#include "codegen/boundary/Names.h"
#include "codegen/boundary/Nibbles.h"
#include "dialect/FunctionAttributes.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
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
  case 4: // two in a byte
    return "uint8_t";
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

llvm::StringRef mlir::resid::boundary::getCheckpointTypeName(Type type) {
  if (type.isBF16())
    return "BF16";
  if (type.isF16())
    return "F16";
  if (type.isF32())
    return "F32";
  if (type.isF64())
    return "F64";
  if (type.isInteger(1))
    return "BOOL";
  if (type.isInteger(4))
    return "U8";
  if (type.isInteger(8))
    return "I8";
  if (type.isInteger(16))
    return "I16";
  if (type.isInteger(32))
    return "I32";
  return type.isInteger(64) || type.isIndex() ? "I64" : "";
}

int64_t KernelValue::getElementBytes() const {
  Type element = getElementType();
  return element.isIndex() ? 8 : std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

static bool hasArrayForm(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() && !getCTypeName(tensor.getElementType()).empty();
}

/// What an argument would have to be to have a form in C; empty where it has one.
static llvm::StringRef findExpectedForm(func::FuncOp function, unsigned index) {
  Type type = function.getArgumentTypes()[index];
  if ((!hasArrayForm(type) && getCTypeName(type).empty()) || type.isInteger(4))
    return "a scalar or a ranked tensor of f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64, or a ranked tensor of "
           "i4";
  if (!isNibbleTensor(type))
    return "";
  if (!getByteTensor(cast<RankedTensorType>(type)))
    return "an even last dimension, since a byte holds two elements";
  return function.getArgAttr(index, kStridedAttribute) ? "contiguous rows, since a byte holds two elements" : "";
}

LogicalResult mlir::resid::boundary::verifyInterfaceTypes(func::FuncOp function) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (llvm::StringRef expected = findExpectedForm(function, index); !expected.empty())
      return emitError(getArgumentLocation(function, index))
             << "argument " << index << " of type " << type << " is not available in C: expected " << expected;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (!hasArrayForm(type) || isNibbleTensor(type))
      return function.emitError() << "result " << index << " of type " << type
                                  << " is not available in C: expected a ranked tensor of f16, bf16, f32, f64, index, "
                                     "i1, i8, i16, i32 or i64";
  return success();
}

Type KernelValue::getBufferType() const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  if (isNibbleTensor(tensor))
    tensor = getByteTensor(tensor);
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

SizeExpr KernelSignature::getDerivedSize(int64_t code) const {
  int64_t index = -1 - code - int64_t(sizes.size());
  return index < 0 ? SizeExpr() : derivedSizes[index];
}

std::string KernelSignature::printSize(SizeExpr expression) const {
  return boundary::printSize(expression, [&](unsigned index) { return sizes[index].name; });
}

/// The remainder that an expression is, but for its coefficient.
static std::optional<SizeRemainder> asRemainder(SizeExpr expression) {
  SizeTerms terms = getTerms(expression);
  SmallVector<SizeRemainder, 1> remainders = takeRemainders(terms);
  return terms.empty() && remainders.size() == 1 ? std::optional(remainders[0]) : std::nullopt;
}

std::pair<SizeExpr, std::string> KernelSignature::describeEquality(SizeExpr a, SizeExpr b) const {
  if (b.isConstant(0) && a.getKind() == SizeExpr::Kind::Equal)
    return {a.getOperand(0), "other than 0"};
  if (std::optional<SizeRemainder> remainder = b.isConstant(0) ? asRemainder(a) : std::nullopt)
    return {remainder->dividend, "a multiple of " + printSize(remainder->divisor)};
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

std::string KernelSignature::getWeightsType() const { return makeFunctionName(symbol + "_weights"); }

std::string KernelSignature::describeArgument(const KernelValue &argument) const {
  return "argument '" + (argument.isMember() ? weights + "->" : "") + argument.name + "'";
}

/// The name in checkpoints of an argument that goes into the struct of weights: empty where @F_prepare makes it,
/// nothing of other arguments.
static std::optional<std::string> getMemberName(func::FuncOp function, unsigned index) {
  if (function.getArgAttr(index, kPreparedAttribute) && isa<RankedTensorType>(function.getArgumentTypes()[index]))
    return "";
  return getWeightName(function, index);
}

/// A struct holds pointers alone, and a checkpoint arrays without gaps.
static LogicalResult verifyMember(func::FuncOp function, unsigned index) {
  auto tensor = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  if (!tensor.hasStaticShape())
    return emitError(getArgumentLocation(function, index))
           << "expected a weight of static shape in the struct of weights, but argument " << index << " has type "
           << tensor;
  if (!function.getArgAttr(index, kStridedAttribute))
    return success();
  return emitError(getArgumentLocation(function, index))
         << "expected a weight without '" << kStridedAttribute << "' in the struct of weights, but argument " << index
         << " has it";
}

static LogicalResult addArguments(func::FuncOp function, ArrayRef<Type> programTypes, KernelSignature &signature,
                                  ParameterNames &names, bool weightsStruct) {
  ParameterNames members;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto given = function.getArgAttrOfType<StringAttr>(index, kArgumentNameAttribute);
    std::string wanted = given && !given.getValue().empty() ? given.getValue().str() : "arg" + std::to_string(index);
    std::optional<std::string> member = weightsStruct ? getMemberName(function, index) : std::nullopt;
    if (member && failed(verifyMember(function, index)))
      return failure();
    KernelValue value{(member ? members : names).take(wanted), programTypes[index], {}};
    value.weight = member;
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
  if (llvm::any_of(signature.arguments, [](const KernelValue &value) { return value.isMember(); }))
    signature.weights = names.take("weights");
  return success();
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

/// Notes where the sizes of `tensor` leave the sizes of arguments: at the first scalar argument, or element of a
/// tensor, among what they are computed from.
static void noteSource(InFlightDiagnostic &error, Value tensor) {
  llvm::SetVector<Value> values;
  values.insert(tensor);
  for (unsigned next = 0; next < values.size(); ++next) { // which grows on the way
    Value value = values[next];
    Operation *op = value.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) && argument.getType().isIntOrIndex())
      error.attachNote(argument.getLoc()) << "the size comes from the value of this argument";
    else if (isa_and_nonnull<tensor::ExtractOp>(op))
      error.attachNote(op->getLoc()) << "the size comes from the data that '" << op->getName() << "' reads";
    else {
      if (op && !isa<tensor::DimOp>(op))
        values.insert_range(op->getOperands());
      continue;
    }
    return;
  }
}

static LogicalResult verifyResultSizes(func::FuncOp function, DimensionClasses &classes) {
  for (auto [index, operand] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    for (int64_t dimension = 0; dimension < cast<RankedTensorType>(operand.getType()).getRank(); ++dimension) {
      SizeExpr size = classes.getSize(operand, dimension);
      if (size && size.getConstant().value_or(0) < 0)
        return mlir::emitError(operand.getLoc())
               << "expected a size of at least 0, but dimension " << dimension << " of result " << index << " of '"
               << function.getSymName() << "' has " << *size.getConstant();
      if (!size) {
        InFlightDiagnostic error = mlir::emitError(operand.getLoc());
        error << "dimension " << dimension << " of result " << index << " of '" << function.getSymName()
              << "' does not follow from the sizes of the arguments";
        noteSource(error, operand);
        return error;
      }
    }
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
    SizeExpr difference = a - b;
    if (difference && difference.getConstant()) {
      if (difference.isConstant(0))
        continue;
      return op->emitError() << "expected a size that a call can have, but it must be " << signature.printSize(a)
                             << " and " << signature.printSize(b);
    }
    if (a.getConstant())
      std::swap(a, b);
    // A number less its whole part is a remainder.
    bool isRemainder = difference && asRemainder(difference);
    auto equality =
        isRemainder ? std::make_pair(difference, SizeExpr::constant(a.getContext(), 0)) : std::make_pair(a, b);
    if (!llvm::is_contained(signature.equalities, equality))
      signature.equalities.push_back(equality);
  }
  return success();
}

/// The code of a size, which becomes a derived one where it is neither static nor a parameter.
static int64_t getSizeCode(KernelSignature &signature, SizeExpr size) {
  if (std::optional<int64_t> constant = size.getConstant())
    return *constant;
  if (size.getKind() == SizeExpr::Kind::Size)
    return -1 - int64_t(size.getIndex());
  auto found = llvm::find(signature.derivedSizes, size);
  unsigned index = found - signature.derivedSizes.begin();
  if (found == signature.derivedSizes.end())
    signature.derivedSizes.push_back(size);
  return signature.getDerivedCode(index);
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

/// The function type; where arrays are strided, with that attribute after their types, as in a declaration.
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

FailureOr<KernelSignature> mlir::resid::boundary::computeSignature(func::FuncOp function, ArrayRef<Type> programTypes,
                                                                   llvm::StringRef prefix, bool weightsStruct) {
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
  if (failed(addArguments(function, programTypes, signature, names, weightsStruct)))
    return failure();
  DimensionClasses classes(function);
  addConstraints(function, signature, classes);
  classes.resolve(getOpenDimensions(function));
  if (failed(addEqualities(signature, classes)) || failed(addResults(function, signature, classes, names)))
    return failure();
  auto programType = FunctionType::get(function.getContext(), programTypes, function.getResultTypes());
  signature.typeText = printType(programType, signature);
  return signature;
}
