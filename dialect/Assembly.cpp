// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom parsing and printing of type lists of norms and residual ops; see Assembly.h. Not: those of what stands in
// layers (LayerAssembly.cpp).

#include "dialect/Assembly.h"

#include "dialect/TypeLists.h"

using namespace mlir;
using namespace mlir::resid;

ParseResult resid::parseAddTypes(OpAsmParser &parser, OptionalOperand &gateOperand, OptionalOperand &skipOperand,
                                 OptionalOperand &alsoOperand, OptionalOperand &alsoScaleOperand, Type &x, Type &f,
                                 Type &gate, Type &skip, Type &also, Type &alsoScale, Type &result) {
  if (parseTypes(parser, {{"x and f", x},
                          {"gate", gate, gateOperand.has_value()},
                          {"skip", skip, skipOperand.has_value()},
                          {"the scale of also", alsoScale, alsoScaleOperand.has_value()}}))
    return failure();
  f = result = x;
  if (alsoOperand)
    also = x;
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

void resid::printAddTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Value, Type x, Type, Type gate,
                          Type skip, Type, Type alsoScale, Type) {
  printTypes(printer, op, {x, gate, skip, alsoScale}, x);
}

ParseResult resid::parseBiasTypes(OpAsmParser &parser, Type &f, Type &bias) {
  return parseTypes(parser, {{"f", f}, {"bias", bias}});
}

void resid::printBiasTypes(OpAsmPrinter &printer, Operation *, Type f, Type bias) { printer << f << ", " << bias; }

ParseResult resid::parseNormTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand,
                                  Type &x, Type &gamma, Type &beta, Type &result, SmallVectorImpl<Type> &statistics) {
  return failure(
      parseTypes(parser,
                 {{"x", x}, {"gamma", gamma, gammaOperand.has_value()}, {"beta", beta, betaOperand.has_value()}}) ||
      parseArrowTypes(parser, x, result, statistics));
}

void resid::printNormTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Type x, Type gamma, Type beta, Type,
                           TypeRange) {
  printTypes(printer, op, {x, gamma, beta}, x);
}

ParseResult resid::parseNormGradTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> statisticOperands,
                                      OptionalOperand &gammaOperand, OptionalOperand &dsumOperand, Type &dy, Type &x,
                                      SmallVectorImpl<Type> &statistics, Type &gamma, Type &dsum, Type &dx,
                                      SmallVectorImpl<Type> &parameters) {
  Type statistic;
  SmallVector<Type> results;
  if (parseTypes(parser,
                 {{"dy", dy}, {"x", x}, {"statistics", statistic}, {"gamma", gamma, gammaOperand.has_value()}}) ||
      parseArrowTypes(parser, results))
    return failure();
  statistics.assign(statisticOperands.size(), statistic);
  if (dsumOperand)
    dsum = x;
  dx = results.empty() ? x : results.front();
  if (!results.empty())
    parameters.append(results.begin() + 1, results.end());
  else if (gamma)
    parameters.assign(2, gamma);
  return success();
}

/// Prints types of a gradient; without an arrow, those of parameters are the type of gamma.
static void printGradTypes(OpAsmPrinter &printer, Operation *op, ArrayRef<Type> stated, ArrayRef<Type> usual,
                           size_t numberOfParameters, Type gamma) {
  SmallVector<Type> results(usual);
  results.append(numberOfParameters, gamma);
  printTypes(printer, op, stated, results);
}

void resid::printNormGradTypes(OpAsmPrinter &printer, Operation *op, OperandRange, Value, Value, Type dy, Type x,
                               TypeRange statistics, Type gamma, Type, Type, TypeRange parameters) {
  Type statistic = statistics.empty() ? Type() : statistics.front();
  printGradTypes(printer, op, {dy, x, statistic, gamma}, x, parameters.size(), gamma);
}

ParseResult resid::parseDyTGradTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &dsumOperand,
                                     Type &dy, Type &x, Type &alpha, Type &gamma, Type &dsum, Type &dx, Type &dalpha,
                                     SmallVectorImpl<Type> &parameters) {
  SmallVector<Type> results;
  if (parseTypes(parser, {{"dy", dy}, {"x", x}, {"alpha", alpha}, {"gamma", gamma, gammaOperand.has_value()}}))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parseArrowTypes(parser, results))
    return failure();
  if (results.size() == 1)
    return parser.emitError(location, "expected the types of dx and dalpha after the arrow, but got 1");
  if (dsumOperand)
    dsum = x;
  dx = results.empty() ? x : results[0];
  dalpha = results.empty() ? alpha : results[1];
  if (!results.empty())
    parameters.append(results.begin() + 2, results.end());
  else if (gamma)
    parameters.assign(2, gamma);
  return success();
}

void resid::printDyTGradTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Type dy, Type x, Type alpha,
                              Type gamma, Type, Type, Type, TypeRange parameters) {
  printGradTypes(printer, op, {dy, x, alpha, gamma}, {x, alpha}, parameters.size(), gamma);
}

ParseResult resid::parseBatchNormTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> givenOperands,
                                       OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x,
                                       SmallVectorImpl<Type> &given, Type &gamma, Type &beta, Type &result,
                                       SmallVectorImpl<Type> &statistics) {
  Type statistic;
  if (parseTypes(parser, {{"x", x},
                          {"statistics", statistic, !givenOperands.empty()},
                          {"gamma", gamma, gammaOperand.has_value()},
                          {"beta", beta, betaOperand.has_value()}}) ||
      parseArrowTypes(parser, x, result, statistics))
    return failure();
  given.assign(givenOperands.size(), statistic);
  return success();
}

void resid::printBatchNormTypes(OpAsmPrinter &printer, Operation *op, OperandRange, Value, Value, Type x,
                                TypeRange given, Type gamma, Type beta, Type, TypeRange) {
  printTypes(printer, op, {x, given.empty() ? Type() : given.front(), gamma, beta}, x);
}

ParseResult resid::parseDyTTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand,
                                 Type &x, Type &alpha, Type &gamma, Type &beta, Type &result) {
  if (parseTypes(parser, {{"x", x},
                          {"alpha", alpha},
                          {"gamma", gamma, gammaOperand.has_value()},
                          {"beta", beta, betaOperand.has_value()}}))
    return failure();
  result = x;
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

void resid::printDyTTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Type x, Type alpha, Type gamma, Type beta,
                          Type) {
  printTypes(printer, op, {x, alpha, gamma, beta}, x);
}

ParseResult resid::parseAddNormTypes(OpAsmParser &parser, OptionalOperand &biasOperand, OptionalOperand &gateOperand,
                                     OptionalOperand &skipOperand, OptionalOperand &alsoOperand,
                                     OptionalOperand &alsoScaleOperand, OptionalOperand &alphaOperand,
                                     OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x, Type &f,
                                     Type &bias, Type &gate, Type &skip, Type &also, Type &alsoScale, Type &alpha,
                                     Type &gamma, Type &beta, Type &normalized, Type &sum,
                                     SmallVectorImpl<Type> &statistics) {
  SmallVector<Type> results;
  if (parseTypes(parser, {{"x and f", x},
                          {"bias", bias, biasOperand.has_value()},
                          {"gate", gate, gateOperand.has_value()},
                          {"skip", skip, skipOperand.has_value()},
                          {"the scale of also", alsoScale, alsoScaleOperand.has_value()},
                          {"alpha", alpha, alphaOperand.has_value()},
                          {"gamma", gamma, gammaOperand.has_value()},
                          {"beta", beta, betaOperand.has_value()}}))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parseArrowTypes(parser, results))
    return failure();
  f = normalized = sum = x;
  if (alsoOperand)
    also = x;
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

void resid::printAddNormTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Value, Value, Value, Value,
                              Value, Type x, Type, Type bias, Type gate, Type skip, Type, Type alsoScale, Type alpha,
                              Type gamma, Type beta, Type, Type, TypeRange) {
  printTypes(printer, op, {x, bias, gate, skip, alsoScale, alpha, gamma, beta}, {x, x});
}

ParseResult resid::parseNameOf(OpAsmParser &parser, StringRef what, const KnownNames &known, StringRef &name) {
  SMLoc location = parser.getCurrentLocation();
  // Editors complete these names.
  if (succeeded(parser.parseOptionalKeyword(&name, known.names)))
    return success();
  if (failed(parser.parseOptionalKeyword(&name)))
    name = "";
  InFlightDiagnostic message = parser.emitError(location, "expected the ") << what << " " << listNames(known);
  message << ", but got ";
  if (name.empty())
    return message << "none";
  return message << "'" << name << "'" << suggestNearest(name, known);
}

/// What the ops and the classes of PyTorch and JAX are called.
static constexpr ForeignName foreignKinds[] = {
    {"layer_norm", "layer"}, {"layernorm", "layer"},  {"rms_norm", "rms"}, {"rmsnorm", "rms"}, {"group_norm", "group"},
    {"groupnorm", "group"},  {"dynamic_tanh", "dyt"}, {"tanh", "dyt"},     {"l2_norm", "l2"},  {"normalize", "l2"}};

ParseResult resid::parseKeyword(OpAsmParser &parser, NormKindAttr &kind) {
  SmallVector<StringRef> names;
  for (unsigned value = 0; value <= getMaxEnumValForNormKind(); ++value)
    names.push_back(stringifyNormKind(static_cast<NormKind>(value)));
  StringRef name;
  if (parseNameOf(parser, "norm kind", {names, foreignKinds, /*prefix=*/""}, name))
    return failure();
  kind = NormKindAttr::get(parser.getContext(), *symbolizeNormKind(name));
  return success();
}

void resid::printKeyword(OpAsmPrinter &printer, Operation *, NormKindAttr kind) {
  printer << stringifyNormKind(kind.getValue());
}
