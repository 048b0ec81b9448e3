// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the attributes that arguments and results of functions may have: the dialect's hooks.

#include "dialect/FunctionAttributes.h"

#include "dialect/ResidDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::resid;

/// The types of arguments and results, of functions of programs. Functions of the LLVM dialect, to which attributes come
/// from those they are made of, have another kind of type, in which arrays are pointers and sizes.
static FunctionType getProgramType(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? dyn_cast<FunctionType>(function.getFunctionType()) : FunctionType();
}

/// Rows lie apart where there are rows: in tensors (buffers, once programs are lowered) of two or more dimensions.
static LogicalResult verifyStrided(Operation *op, Attribute value, Type type, StringRef what, unsigned index) {
  if (!isa<UnitAttr>(value))
    return op->emitError() << "expected '" << kStridedAttribute << "' without a value on " << what << " " << index
                           << ", but got " << value;
  auto shaped = dyn_cast<ShapedType>(type);
  if (isa<RankedTensorType, MemRefType>(type) && shaped.getRank() >= 2)
    return success();
  return op->emitError() << "expected '" << kStridedAttribute
                         << "' on a tensor of two or more dimensions only, but " << what << " " << index
                         << " has type " << type;
}

LogicalResult ResidDialect::verifyRegionArgAttribute(Operation *function, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  FunctionType type = getProgramType(function);
  if (!type)
    return success();
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto expect = [&](bool isRight, StringRef kind) -> LogicalResult {
    if (isRight)
      return success();
    return function->emitError() << "expected '" << name << "' of argument " << index << " to be " << kind
                                 << ", but got " << value;
  };
  if (name == kStridedAttribute)
    return verifyStrided(function, value, type.getInput(index), "argument", index);
  if (name == kArgumentNameAttribute)
    return expect(isa<StringAttr>(value), "a string");
  if (name == kPreparedAttribute || name == kPrepareInputAttribute) {
    auto number = dyn_cast<IntegerAttr>(value);
    return expect(number && number.getType().isInteger(64), "a number of type i64");
  }
  return function->emitError() << "expected '" << kArgumentNameAttribute << "' or '" << kStridedAttribute
                               << "' on argument " << index << ", but got '" << name
                               << "', which resid does not know";
}

LogicalResult ResidDialect::verifyRegionResultAttribute(Operation *function, unsigned, unsigned index,
                                                        NamedAttribute attribute) {
  FunctionType type = getProgramType(function);
  if (!type)
    return success();
  StringRef name = attribute.getName();
  if (name == kStridedAttribute)
    return verifyStrided(function, attribute.getValue(), type.getResult(index), "result", index);
  return function->emitError() << "expected no attribute of resid other than '" << kStridedAttribute << "' on result "
                               << index << ", but got '" << name << "'";
}

/// On an op itself they would be read by nobody.
LogicalResult ResidDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name != kStridedAttribute && name != kArgumentNameAttribute)
    return success();
  return op->emitError() << "expected '" << name << "' on an argument "
                         << (name == kStridedAttribute ? "or a result " : "") << "of a function, but it stands on '"
                         << op->getName() << "'";
}
