// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom parsing and printing of type lists; see Assembly.h.

#include "dialect/Assembly.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// A type that the text states: whose it is, where it goes, and whether the clause of its operand was written.
struct StatedType {
  StringRef name;
  Type &type;
  bool isWritten = true;
};
} // namespace

/// Parses the types of those that were written, one behind the other.
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<StatedType> all) {
  auto stated = llvm::make_filter_range(all, [](const StatedType &stated) { return stated.isWritten; });
  size_t count = llvm::range_size(stated);
  auto refuse = [&](SMLoc location) {
    InFlightDiagnostic message = parser.emitError(location);
    message << "expected " << count << (count == 1 ? " type (" : " types (");
    llvm::interleaveComma(stated, message, [&](const StatedType &type) { message << type.name; });
    message << "), but got ";
    return message;
  };
  SMLoc last;
  for (auto [index, type] : llvm::enumerate(stated)) {
    if (index && failed(parser.parseOptionalComma()))
      return refuse(last) << index << ": that of " << type.name << " is missing";
    last = parser.getCurrentLocation();
    if (failed(parser.parseType(type.type)))
      return failure();
  }
  SMLoc location = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalComma()))
    return refuse(location) << "more";
  return success();
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
  if (parseTypes(parser, {{"x and f", x}, {"gate", gate, gateOperand.has_value()}}))
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

ParseResult resid::parseBiasTypes(OpAsmParser &parser, Type &f, Type &bias) {
  return parseTypes(parser, {{"f", f}, {"bias", bias}});
}

void resid::printBiasTypes(OpAsmPrinter &printer, Operation *, Type f, Type bias) { printer << f << ", " << bias; }

ParseResult resid::parseLinearTypes(OpAsmParser &parser, OptionalOperand &biasOperand, Type &x, Type &weight,
                                    Type &bias, Type &result) {
  if (parseTypes(parser, {{"x", x}, {"weight", weight}, {"bias", bias, biasOperand.has_value()}}))
    return failure();
  return failure(succeeded(parser.parseOptionalArrow()) && parser.parseType(result));
}

ParseResult resid::parseNormTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand,
                                  Type &x, Type &gamma, Type &beta, Type &result, SmallVectorImpl<Type> &statistics) {
  SmallVector<Type> results;
  if (parseTypes(parser,
                 {{"x", x}, {"gamma", gamma, gammaOperand.has_value()}, {"beta", beta, betaOperand.has_value()}}) ||
      parseArrowTypes(parser, results))
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

void resid::printNormGradTypes(OpAsmPrinter &printer, Operation *op, OperandRange, Value, Value, Type dy, Type x,
                               TypeRange statistics, Type gamma, Type, Type dx, TypeRange parameters) {
  printer << dy << ", " << x;
  printClauseType(printer, statistics.empty() ? Type() : statistics.front());
  printClauseType(printer, gamma);
  if (dx != x || !llvm::all_of(parameters, [&](Type parameter) { return parameter == gamma; }))
    printArrowTypes(printer, op->getResultTypes());
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
    return parser.emitError(location, "expected the types of dx and dalpha behind the arrow, but got 1");
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
                              Type gamma, Type, Type dx, Type dalpha, TypeRange parameters) {
  printer << dy << ", " << x << ", " << alpha;
  printClauseType(printer, gamma);
  if (dx != x || dalpha != alpha || !llvm::all_of(parameters, [&](Type parameter) { return parameter == gamma; }))
    printArrowTypes(printer, op->getResultTypes());
}

ParseResult resid::parseBatchNormTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> givenOperands,
                                       OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x,
                                       SmallVectorImpl<Type> &given, Type &gamma, Type &beta, Type &result,
                                       SmallVectorImpl<Type> &statistics) {
  Type statistic;
  SmallVector<Type> results;
  if (parseTypes(parser, {{"x", x},
                          {"statistics", statistic, !givenOperands.empty()},
                          {"gamma", gamma, gammaOperand.has_value()},
                          {"beta", beta, betaOperand.has_value()}}) ||
      parseArrowTypes(parser, results))
    return failure();
  given.assign(givenOperands.size(), statistic);
  result = results.empty() ? x : results.front();
  if (!results.empty())
    statistics.append(results.begin() + 1, results.end());
  return success();
}

void resid::printBatchNormTypes(OpAsmPrinter &printer, Operation *op, OperandRange, Value, Value, Type x,
                                TypeRange given, Type gamma, Type beta, Type result, TypeRange statistics) {
  printer << x;
  printClauseType(printer, given.empty() ? Type() : given.front());
  printClauseType(printer, gamma);
  printClauseType(printer, beta);
  if (result != x || !statistics.empty())
    printArrowTypes(printer, op->getResultTypes());
}

/// The type of what a row of logits has one of; a wrong type stays one, which the verifier refuses.
static Type getTypeOfRows(Type logits) {
  auto rows = dyn_cast<RankedTensorType>(logits);
  bool hasRows = rows && rows.getRank() != 0 && isa<FloatType>(rows.getElementType());
  return hasRows ? getStatisticsType(rows, 1) : logits;
}

ParseResult resid::parseCrossEntropyTypes(OpAsmParser &parser, Type &logits, Type &labels, Type &loss,
                                          Type &logsumexp) {
  SmallVector<Type> results;
  if (parseTypes(parser, {{"logits", logits}, {"labels", labels}}))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parseArrowTypes(parser, results))
    return failure();
  if (results.size() > 2)
    return parser.emitError(location, "expected the types of loss and logsumexp, but got ") << results.size();
  loss = results.empty() ? getTypeOfRows(logits) : results.front();
  logsumexp = results.size() == 2 ? results.back() : Type();
  return success();
}

void resid::printCrossEntropyTypes(OpAsmPrinter &printer, Operation *op, Type logits, Type labels, Type loss,
                                   Type logsumexp) {
  printer << logits << ", " << labels;
  if (logsumexp || loss != getTypeOfRows(logits))
    printArrowTypes(printer, op->getResultTypes());
}

ParseResult resid::parseCrossEntropyGradTypes(OpAsmParser &parser, Type &dloss, Type &logits, Type &labels,
                                              Type &logsumexp, Type &dlogits) {
  if (parseTypes(parser, {{"logits", logits}, {"labels", labels}}))
    return failure();
  dloss = logsumexp = getTypeOfRows(logits);
  dlogits = logits;
  return success();
}

void resid::printCrossEntropyGradTypes(OpAsmPrinter &printer, Operation *, Type, Type logits, Type labels, Type, Type) {
  printer << logits << ", " << labels;
}

ParseResult resid::parseEmbeddingTypes(OpAsmParser &parser, Type &ids, Type &table, Type &result) {
  if (parseTypes(parser, {{"ids", ids}, {"table", table}}))
    return failure();
  // The verifier refuses operands that have no result.
  result = getEmbeddedType(ids, table);
  if (!result)
    result = table;
  return success();
}

void resid::printEmbeddingTypes(OpAsmPrinter &printer, Operation *, Type ids, Type table, Type) {
  printer << ids << ", " << table;
}

ParseResult resid::parseEmbeddingGradTypes(OpAsmParser &parser, Type &dy, Type &ids, Type &table, Type &dtable) {
  if (parseEmbeddingTypes(parser, ids, table, dy))
    return failure();
  dtable = table;
  return success();
}

void resid::printEmbeddingGradTypes(OpAsmPrinter &printer, Operation *, Type, Type ids, Type table, Type) {
  printer << ids << ", " << table;
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
  if (parseTypes(parser, {{"x and f", x},
                          {"bias", bias, biasOperand.has_value()},
                          {"gate", gate, gateOperand.has_value()},
                          {"alpha", alpha, alphaOperand.has_value()},
                          {"gamma", gamma, gammaOperand.has_value()},
                          {"beta", beta, betaOperand.has_value()}}))
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

ParseResult resid::parseAttentionTypes(OpAsmParser &parser, OptionalOperand &maskOperand, Type &q, Type &k, Type &v,
                                       Type &mask, Type &result, SmallVectorImpl<Type> &statistics) {
  SmallVector<Type> results;
  if (parseTypes(parser, {{"q", q}, {"k", k}, {"v", v}, {"mask", mask, maskOperand.has_value()}}) ||
      parseArrowTypes(parser, results))
    return failure();
  result = results.empty() ? q : results.front();
  if (!results.empty())
    statistics.append(results.begin() + 1, results.end());
  return success();
}

void resid::printAttentionTypes(OpAsmPrinter &printer, Operation *op, Value, Type q, Type k, Type v, Type mask,
                                Type result, TypeRange statistics) {
  printer << q << ", " << k << ", " << v;
  printClauseType(printer, mask);
  if (result != q || !statistics.empty())
    printArrowTypes(printer, op->getResultTypes());
}

/// A wrong type stays one, which the verifier refuses.
ParseResult resid::parseAttentionGradTypes(OpAsmParser &parser, OptionalOperand &maskOperand, Type &dy, Type &q,
                                           Type &k, Type &v, Type &max, Type &sum, Type &mask, Type &dq, Type &dk,
                                           Type &dv) {
  if (parseTypes(parser, {{"dy", dy}, {"q", q}, {"k", k}, {"v", v}, {"mask", mask, maskOperand.has_value()}}))
    return failure();
  dq = q, dk = k, dv = v, max = sum = q;
  auto queries = dyn_cast<RankedTensorType>(q);
  if (!queries || queries.getRank() == 0)
    return success();
  auto isWide = [](Type type) { return type && getElementTypeOrSelf(type).isF64(); };
  Builder &b = parser.getBuilder();
  bool hasWide = isWide(q) || isWide(k) || isWide(v) || isWide(mask);
  Type arithmetic = hasWide ? Type(b.getF64Type()) : Type(b.getF32Type());
  max = sum = RankedTensorType::get(queries.getShape().drop_back(), arithmetic);
  return success();
}

void resid::printAttentionGradTypes(OpAsmPrinter &printer, Operation *, Value, Type dy, Type q, Type k, Type v, Type,
                                    Type, Type mask, Type, Type, Type) {
  printer << dy << ", " << q << ", " << k << ", " << v;
  printClauseType(printer, mask);
}

ParseResult resid::parseNameOf(OpAsmParser &parser, StringRef what, const KnownNames &known, StringRef &name) {
  SMLoc location = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&name)))
    name = "";
  if (llvm::is_contained(known.names, name))
    return success();
  InFlightDiagnostic message = parser.emitError(location, "expected the ") << what << " " << listNames(known);
  message << ", but got ";
  if (name.empty())
    return message << "none";
  message << "'" << name << "'";
  StringRef nearest = findNearest(name, known);
  return nearest.empty() ? message : message << "; did you mean '" << nearest << "'?";
}

/// What the ops and the classes of PyTorch and JAX are called.
static constexpr ForeignName foreignKinds[] = {{"layer_norm", "layer"}, {"layernorm", "layer"},  {"rms_norm", "rms"},
                                               {"rmsnorm", "rms"},      {"group_norm", "group"}, {"groupnorm", "group"},
                                               {"dynamic_tanh", "dyt"}, {"tanh", "dyt"}};

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

ParseResult resid::parseRotaryTypes(OpAsmParser &parser, Type &x, Type &cos, Type &sin) {
  return parseTypes(parser, {{"x", x}, {"cos", cos}, {"sin", sin}});
}

void resid::printRotaryTypes(OpAsmPrinter &printer, Operation *, Type x, Type cos, Type sin) {
  printer << x << ", " << cos << ", " << sin;
}

ParseResult resid::parseActivationTypes(OpAsmParser &parser, OptionalOperand &upOperand, Type &x, Type &up) {
  if (parseTypes(parser, {{upOperand ? "x and up" : "x", x}}))
    return failure();
  if (upOperand)
    up = x;
  return success();
}

// The types of x and up are one, which the verifier holds.
void resid::printActivationTypes(OpAsmPrinter &printer, Operation *, Value, Type x, Type) { printer << x; }

/// What PyTorch and the models of Hugging Face call them.
static constexpr ForeignName foreignActivations[] = {{"gelu_new", "gelu_tanh"},
                                                     {"gelu_pytorch_tanh", "gelu_tanh"},
                                                     {"gelu_erf", "gelu"},
                                                     {"swish", "silu"},
                                                     {"swish_glu", "swiglu"}};

ParseResult resid::parseKeyword(OpAsmParser &parser, ActivationKindAttr &kind) {
  SmallVector<StringRef> names;
  for (unsigned value = 0; value <= getMaxEnumValForActivationKind(); ++value)
    names.push_back(stringifyActivationKind(static_cast<ActivationKind>(value)));
  StringRef name;
  if (parseNameOf(parser, "activation", {names, foreignActivations, /*prefix=*/""}, name))
    return failure();
  kind = ActivationKindAttr::get(parser.getContext(), *symbolizeActivationKind(name));
  return success();
}

void resid::printKeyword(OpAsmPrinter &printer, Operation *, ActivationKindAttr kind) {
  printer << stringifyActivationKind(kind.getValue());
}
