// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Assembly.h"

#include "dialect/TypeLists.h"

using namespace mlir;
using namespace mlir::resid;

/// The type that follows from others, or where there is none, one of them: the verifier refuses it.
static Type orElse(RankedTensorType type, Type other) { return type ? Type(type) : other; }

ParseResult resid::parseReadTypes(OpAsmParser &parser, OptionalOperand &weightsOperand, Type &x, Type &weights,
                                  Type &result) {
  if (parseTypes(parser, {{"x", x}, {"weights", weights, weightsOperand.has_value()}}))
    return failure();
  result = orElse(getStreamType(x), x);
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

void resid::printReadTypes(OpAsmPrinter &printer, Operation *op, Value, Type x, Type weights, Type) {
  printTypes(printer, op, {x, weights}, orElse(getStreamType(x), x));
}

ParseResult resid::parseWriteTypes(OpAsmParser &parser, OptionalOperand &yOperand, OptionalOperand &weightsOperand,
                                   OptionalOperand &mixOperand, Type &x, Type &y, Type &weights, Type &mix,
                                   Type &result) {
  if (parseTypes(parser,
                 {{"x", x}, {"weights", weights, weightsOperand.has_value()}, {"mix", mix, mixOperand.has_value()}}))
    return failure();
  if (yOperand)
    y = orElse(getStreamType(x), x);
  result = x;
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

void resid::printWriteTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Type x, Type, Type weights,
                            Type mix, Type) {
  printTypes(printer, op, {x, weights, mix}, x);
}

ParseResult resid::parseProjectTypes(OpAsmParser &parser, Type &x, Type &weight, Type &z, Type &rstd) {
  return failure(parseTypes(parser, {{"x", x}, {"weight", weight}}) ||
                 parseArrowTypes(parser, "z and rstd", orElse(getProjectedType(x, weight), x), z, rstd));
}

void resid::printProjectTypes(OpAsmPrinter &printer, Operation *op, Type x, Type weight, Type, Type) {
  printTypes(printer, op, {x, weight}, orElse(getProjectedType(x, weight), x));
}

ParseResult resid::parseStreamDotsTypes(OpAsmParser &parser, Type &a, Type &b, Type &result) {
  if (parseTypes(parser, {{"a", a}, {"b", b}}))
    return failure();
  result = orElse(getStreamDotsType(a, b), a);
  return success();
}

void resid::printStreamDotsTypes(OpAsmPrinter &printer, Operation *, Type a, Type b, Type) {
  printer << a << ", " << b;
}
