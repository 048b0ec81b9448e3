// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom parsing and printing of type lists; see Assembly.h.

#include "dialect/Assembly.h"

using namespace mlir;
using namespace mlir::resid;

/// Parses `, type` for an operand whose clause was written.
static ParseResult parseClauseType(OpAsmParser &parser, const OptionalOperand &operand, Type &type) {
  if (!operand)
    return success();
  return failure(parser.parseComma() || parser.parseType(type));
}

static void printClauseType(OpAsmPrinter &printer, Type type) {
  if (type)
    printer << ", " << type;
}

/// Parses `(-> type (, type)*)?`; without an arrow `results` stays empty.
static ParseResult parseArrowTypes(OpAsmParser &parser, SmallVectorImpl<Type> &results) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  return parser.parseTypeList(results);
}

static void printArrowTypes(OpAsmPrinter &printer, TypeRange results) {
  printer << " -> ";
  llvm::interleaveComma(results, printer);
}

ParseResult resid::parseAddTypes(OpAsmParser &parser, OptionalOperand &gateOperand, Type &x, Type &f, Type &gate,
                                 Type &result) {
  if (parser.parseType(x) || parseClauseType(parser, gateOperand, gate))
    return failure();
  f = result = x;
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

void resid::printAddTypes(OpAsmPrinter &printer, Operation *, Value, Type x, Type, Type gate, Type result) {
  printer << x;
  printClauseType(printer, gate);
  if (result != x)
    printArrowTypes(printer, result);
}

ParseResult resid::parseNormTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand,
                                  Type &x, Type &gamma, Type &beta, Type &result, SmallVectorImpl<Type> &statistics) {
  SmallVector<Type> results;
  if (parser.parseType(x) || parseClauseType(parser, gammaOperand, gamma) ||
      parseClauseType(parser, betaOperand, beta) || parseArrowTypes(parser, results))
    return failure();
  result = results.empty() ? x : results.front();
  if (!results.empty())
    statistics.append(results.begin() + 1, results.end());
  return success();
}

void resid::printNormTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Type x, Type gamma, Type beta,
                           Type result, TypeRange statistics) {
  printer << x;
  printClauseType(printer, gamma);
  printClauseType(printer, beta);
  if (result != x || !statistics.empty())
    printArrowTypes(printer, op->getResultTypes());
}

ParseResult resid::parseDyTTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand,
                                 Type &x, Type &alpha, Type &gamma, Type &beta, Type &result) {
  if (parser.parseType(x) || parser.parseComma() || parser.parseType(alpha) ||
      parseClauseType(parser, gammaOperand, gamma) || parseClauseType(parser, betaOperand, beta))
    return failure();
  result = x;
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

void resid::printDyTTypes(OpAsmPrinter &printer, Operation *, Value, Value, Type x, Type alpha, Type gamma, Type beta,
                          Type result) {
  printer << x << ", " << alpha;
  printClauseType(printer, gamma);
  printClauseType(printer, beta);
  if (result != x)
    printArrowTypes(printer, result);
}

ParseResult resid::parseAddNormTypes(OpAsmParser &parser, OptionalOperand &biasOperand, OptionalOperand &gateOperand,
                                     OptionalOperand &alphaOperand, OptionalOperand &gammaOperand,
                                     OptionalOperand &betaOperand, Type &x, Type &f, Type &bias, Type &gate,
                                     Type &alpha, Type &gamma, Type &beta, Type &normalized, Type &sum,
                                     SmallVectorImpl<Type> &statistics) {
  SmallVector<Type> results;
  if (parser.parseType(x) || parseClauseType(parser, biasOperand, bias) || parseClauseType(parser, gateOperand, gate) ||
      parseClauseType(parser, alphaOperand, alpha) || parseClauseType(parser, gammaOperand, gamma) ||
      parseClauseType(parser, betaOperand, beta))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parseArrowTypes(parser, results))
    return failure();
  f = normalized = sum = x;
  if (results.empty())
    return success();
  if (results.size() < 2)
    return parser.emitError(location, "expected at least two result types (normalized, sum) after '->', but got ")
           << results.size();
  normalized = results[0];
  sum = results[1];
  statistics.append(results.begin() + 2, results.end());
  return success();
}

void resid::printAddNormTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Value, Value, Type x, Type,
                              Type bias, Type gate, Type alpha, Type gamma, Type beta, Type normalized, Type sum,
                              TypeRange statistics) {
  printer << x;
  for (Type type : {bias, gate, alpha, gamma, beta})
    printClauseType(printer, type);
  if (normalized != x || sum != x || !statistics.empty())
    printArrowTypes(printer, op->getResultTypes());
}

ParseResult resid::parseKeyword(OpAsmParser &parser, NormKindAttr &kind) {
  StringRef keyword;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<NormKind> value = symbolizeNormKind(keyword);
  if (!value)
    return parser.emitError(location, "expected the norm kind 'layer', 'rms' or 'dyt', but got '") << keyword << "'";
  kind = NormKindAttr::get(parser.getContext(), *value);
  return success();
}

void resid::printKeyword(OpAsmPrinter &printer, Operation *, NormKindAttr kind) {
  printer << stringifyNormKind(kind.getValue());
}
