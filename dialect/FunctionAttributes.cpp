// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the attributes that arguments and results of functions may have: the dialect's hooks.

#include "dialect/FunctionAttributes.h"

#include "dialect/ResidDialect.h"
#include "dialect/Spelling.h"

using namespace mlir;
using namespace mlir::resid;

Location resid::getArgumentLocation(Operation *function, unsigned index) {
  if (function->getNumRegions() == 0 || function->getRegion(0).empty())
    return function->getLoc();
  Block &entry = function->getRegion(0).front();
  bool isKnown = index < entry.getNumArguments() && !isa<UnknownLoc>(entry.getArgument(index).getLoc());
  return isKnown ? entry.getArgument(index).getLoc() : function->getLoc();
}

std::optional<std::string> resid::getWeightName(FunctionOpInterface function, unsigned index) {
  Attribute mark = function.getArgAttr(index, kWeightAttribute);
  if (!mark)
    return std::nullopt;
  auto name = dyn_cast<StringAttr>(mark);
  if (!name)
    name = function.getArgAttrOfType<StringAttr>(index, kArgumentNameAttribute);
  return name && !name.empty() ? name.str() : "arg" + std::to_string(index);
}

/// The types of arguments and results, of functions of programs. Functions of the LLVM dialect, to which attributes
/// come from those they are made of, have another kind of type, in which arrays are pointers and sizes.
static FunctionType getProgramType(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? dyn_cast<FunctionType>(function.getFunctionType()) : FunctionType();
}

/// Rows lie apart where there are rows: in tensors (buffers, once programs are lowered) of two or more dimensions.
static LogicalResult verifyStrided(Location location, Attribute value, Type type, StringRef what, unsigned index) {
  if (!isa<UnitAttr>(value))
    return emitError(location) << "expected '" << kStridedAttribute << "' without a value on " << what << " " << index
                               << ", but got " << value;
  auto shaped = dyn_cast<ShapedType>(type);
  if (isa<RankedTensorType, MemRefType>(type) && shaped.getRank() >= 2)
    return success();
  return emitError(location) << "expected '" << kStridedAttribute
                             << "' on a tensor of two or more dimensions only, but " << what << " " << index
                             << " has type " << type;
}

/// Checkpoints hold arrays, by names that end where C's do.
static LogicalResult verifyWeight(Location location, Attribute value, Type type, unsigned index) {
  auto name = dyn_cast<StringAttr>(value);
  if (!isa<UnitAttr>(value) && (!name || name.empty() || name.getValue().contains('\0')))
    return emitError(location)
           << "expected '" << kWeightAttribute << "' of argument " << index
           << " to be a name in checkpoints (a string that is neither empty nor has zero bytes), or "
              "to have no value, but got "
           << value;
  if (isa<RankedTensorType, MemRefType>(type))
    return success();
  return emitError(location) << "expected '" << kWeightAttribute << "' on a tensor only, but argument " << index
                             << " has type " << type;
}

LogicalResult ResidDialect::verifyRegionArgAttribute(Operation *function, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  FunctionType type = getProgramType(function);
  if (!type)
    return success();
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  Location location = getArgumentLocation(function, index);
  auto expect = [&](bool isRight, StringRef kind) -> LogicalResult {
    if (isRight)
      return success();
    return emitError(location) << "expected '" << name << "' of argument " << index << " to be " << kind << ", but got "
                               << value;
  };
  if (name == kStridedAttribute)
    return verifyStrided(location, value, type.getInput(index), "argument", index);
  if (name == kWeightAttribute)
    return verifyWeight(location, value, type.getInput(index), index);
  if (name == kArgumentNameAttribute)
    return expect(isa<StringAttr>(value), "a string");
  if (name == kPreparedAttribute || name == kPrepareInputAttribute) {
    auto number = dyn_cast<IntegerAttr>(value);
    return expect(number && number.getType().isInteger(64), "a number of type i64");
  }
  InFlightDiagnostic message = emitError(location);
  StringRef names[] = {kArgumentNameAttribute, kStridedAttribute, kWeightAttribute};
  message << "expected " << listNames({names, {}, {}}) << " on argument " << index << ", but got '" << name
          << "', which resid does not know" << suggestNearest(name, {names, {}, {}});
  return message;
}

LogicalResult ResidDialect::verifyRegionResultAttribute(Operation *function, unsigned, unsigned index,
                                                        NamedAttribute attribute) {
  FunctionType type = getProgramType(function);
  if (!type)
    return success();
  StringRef name = attribute.getName();
  if (name == kStridedAttribute)
    return verifyStrided(function->getLoc(), attribute.getValue(), type.getResult(index), "result", index);
  return function->emitError() << "expected no attribute of resid other than '" << kStridedAttribute << "' on result "
                               << index << ", but got '" << name << "'";
}

/// On an op itself they would be read by nobody.
LogicalResult ResidDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name != kStridedAttribute && name != kArgumentNameAttribute && name != kWeightAttribute)
    return success();
  return op->emitError() << "expected '" << name << "' on an argument "
                         << (name == kStridedAttribute ? "or a result " : "") << "of a function, but it stands on '"
                         << op->getName() << "'";
}
