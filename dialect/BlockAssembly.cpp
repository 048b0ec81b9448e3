// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of resid.block: placement, stream, one clause per norm, dropout, gate, streams, scales, type, branch.

#include "dialect/Assembly.h"
#include "dialect/Placement.h"
#include "dialect/TypeLists.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// The operands of a clause as far as they are parsed.
struct Parameters {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
};

/// The dropout clause; `operands` are seed and step, then the origin and the extent where they are given.
struct Dropout {
  FloatAttr p;
  IntegerAttr site;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  bool hasOrigin = false, hasColumn = false, hasExtent = false;
};

/// The clause of several streams: the parameters of each part, none where it is not there.
struct Connection {
  bool isGiven = false;
  Parameters read, write, mix;
};
} // namespace

/// The attributes that clauses state; they cannot be written among the others.
static constexpr StringLiteral clauseAttributes[] = {"placement",           "norms",       "p",    "site", "streams",
                                                     "operandSegmentSizes", "granularity", "group"};

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// What papers and other libraries call placements.
static constexpr ForeignName foreignPlacements[] = {{"pre_norm", "pre"},  {"prenorm", "pre"},   {"post_norm", "post"},
                                                    {"postnorm", "post"}, {"sandwich", "peri"}, {"peri_norm", "peri"}};

static ParseResult parsePlacement(OpAsmParser &parser, OperationState &state) {
  StringRef name;
  if (parseNameOf(parser, "placement", {getPlacementNames(), foreignPlacements, /*prefix=*/""}, name))
    return failure();
  state.addAttribute("placement", PlacementAttr::get(parser.getContext(), *symbolizePlacement(name)));
  return success();
}

/// `%value : type`
static ParseResult parseParameter(OpAsmParser &parser, Parameters &parameters) {
  return failure(parser.parseOperand(parameters.operands.emplace_back()) ||
                 parser.parseColonType(parameters.types.emplace_back()));
}

/// `(kind (alpha p)? (gamma p)? (beta p)? (epsilon = e)? (groups = g)? zero_centered_gamma? (norm_rank = k)?)`
static ParseResult parseNorm(OpAsmParser &parser, SmallVectorImpl<Attribute> &norms, Parameters &parameters) {
  Builder &builder = parser.getBuilder();
  NormKindAttr kind;
  if (parser.parseLParen() || parseKeyword(parser, kind))
    return failure();
  const NormRule &rule = getNormRule(kind.getValue());
  if (rule.hasAlpha && (parser.parseKeyword("alpha") || parseParameter(parser, parameters)))
    return failure();
  UnitAttr given[2];
  for (auto [name, attribute] : {std::pair("gamma", &given[0]), std::pair("beta", &given[1])}) {
    if (failed(parser.parseOptionalKeyword(name)))
      continue;
    *attribute = builder.getUnitAttr();
    if (parseParameter(parser, parameters))
      return failure();
  }
  FloatAttr epsilonAttribute;
  if (rule.hasEpsilon) {
    double epsilon;
    if (parser.parseKeyword("epsilon") || parser.parseEqual() || parser.parseFloat(epsilon))
      return failure();
    epsilonAttribute = builder.getF64FloatAttr(epsilon);
  }
  IntegerAttr groupsAttribute;
  if (rule.hasGroups) {
    int64_t groups;
    if (parser.parseKeyword("groups") || parser.parseEqual() || parser.parseInteger(groups))
      return failure();
    groupsAttribute = builder.getI64IntegerAttr(groups);
  }
  UnitAttr zeroCentered;
  if (succeeded(parser.parseOptionalKeyword("zero_centered_gamma")))
    zeroCentered = builder.getUnitAttr();
  int64_t rank = 1;
  if (succeeded(parser.parseOptionalKeyword("norm_rank")) && (parser.parseEqual() || parser.parseInteger(rank)))
    return failure();
  norms.push_back(NormAttr::get(parser.getContext(), kind.getValue(), epsilonAttribute, given[0], given[1],
                                zeroCentered, rank, groupsAttribute));
  return parser.parseRParen();
}

/// `(, origin %row %site %col? (, extent %local %global)?)?`
static ParseResult parseOrigin(OpAsmParser &parser, Dropout &dropout) {
  auto parseOperands = [&](unsigned count) -> ParseResult {
    for (unsigned i = 0; i < count; ++i)
      if (parser.parseOperand(dropout.operands.emplace_back()))
        return failure();
    return success();
  };
  if (failed(parser.parseOptionalComma()))
    return success();
  dropout.hasOrigin = true;
  if (parser.parseKeyword("origin") || parseOperands(2))
    return failure();
  OpAsmParser::UnresolvedOperand column;
  OptionalParseResult parsed = parser.parseOptionalOperand(column);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    dropout.hasColumn = true;
    dropout.operands.push_back(column);
  }
  if (failed(parser.parseOptionalComma()))
    return success();
  dropout.hasExtent = true;
  return failure(parser.parseKeyword("extent") || parseOperands(2));
}

/// `(p, site n, seed %s, step %t (, origin %row %site %col? (, extent %local %global)?)?)`
static ParseResult parseDropout(OpAsmParser &parser, Dropout &dropout) {
  double p;
  int64_t site;
  if (parser.parseLParen() || parser.parseFloat(p) || parser.parseComma() || parser.parseKeyword("site") ||
      parser.parseInteger(site) || parser.parseComma() || parser.parseKeyword("seed") ||
      parser.parseOperand(dropout.operands.emplace_back()) || parser.parseComma() || parser.parseKeyword("step") ||
      parser.parseOperand(dropout.operands.emplace_back()))
    return failure();
  if (parseOrigin(parser, dropout))
    return failure();
  dropout.p = parser.getBuilder().getF64FloatAttr(p);
  dropout.site = parser.getBuilder().getI64IntegerAttr(site);
  return parser.parseRParen();
}

/// `((read a)? (write b)? (mix c)?)`, with commas between them
static ParseResult parseConnection(OpAsmParser &parser, Connection &connection) {
  connection.isGiven = true;
  if (parser.parseLParen())
    return failure();
  bool isOver = false;
  for (auto [name, part] : {std::pair("read", &connection.read), std::pair("write", &connection.write),
                            std::pair("mix", &connection.mix)}) {
    if (isOver || failed(parser.parseOptionalKeyword(name)))
      continue;
    if (parseParameter(parser, *part))
      return failure();
    isOver = failed(parser.parseOptionalComma());
  }
  bool isEmpty =
      connection.read.operands.empty() && connection.write.operands.empty() && connection.mix.operands.empty();
  if (!isOver && !isEmpty)
    return parser.emitError(parser.getCurrentLocation(),
                            "expected write or mix after ',', in the order read, write, mix");
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  return parser.emitError(parser.getCurrentLocation(), isEmpty ? "expected read, write, mix or ')'" : "expected ')'");
}

/// `(%value : type)`
static ParseResult parseFactor(OpAsmParser &parser, Parameters &parameters) {
  return failure(parser.parseLParen() || parseParameter(parser, parameters) || parser.parseRParen());
}

/// `(%value (scale %factor : type)?)`; the value has the type of the stream.
static ParseResult parseAlso(OpAsmParser &parser, Parameters &also, Parameters &scale) {
  if (parser.parseLParen() || parser.parseOperand(also.operands.emplace_back()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scale")) && parseParameter(parser, scale))
    return failure();
  return parser.parseRParen();
}

/// The attributes of no clause: scales, narrow_affine, and what others have attached.
static ParseResult parseAttributes(OpAsmParser &parser, OperationState &state) {
  NamedAttrList attributes;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  for (StringRef name : clauseAttributes)
    if (attributes.get(name))
      return parser.emitError(location, "expected '") << name << "' in its clause but got it among the attributes";
  state.attributes.append(attributes.begin(), attributes.end());
  return BlockOp::verifyInherentAttrs(state.name, state.attributes, [&] { return parser.emitError(location); });
}

ParseResult BlockOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand x;
  SmallVector<Attribute> norms;
  Parameters parameters, gate, skip, also, alsoScale;
  Dropout dropout;
  Connection connection;
  if (parsePlacement(parser, state) || parser.parseOperand(x))
    return failure();
  while (succeeded(parser.parseOptionalKeyword("norm")))
    if (parseNorm(parser, norms, parameters))
      return failure();
  if (succeeded(parser.parseOptionalKeyword("dropout")) && parseDropout(parser, dropout))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("gate")) && parseFactor(parser, gate))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("skip")) && parseFactor(parser, skip))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("also")) && parseAlso(parser, also, alsoScale))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("streams")) && parseConnection(parser, connection))
    return failure();
  Builder &builder = parser.getBuilder();
  GranularityAttr granularity;
  IntegerAttr group;
  OptionalOperand scale;
  Type scaleType;
  if (succeeded(parser.parseOptionalKeyword("quantize")) &&
      (parser.parseLParen() || parseQuantization(parser, granularity, group, scale, scaleType) || parser.parseRParen()))
    return failure();
  state.addAttribute("norms", builder.getArrayAttr(norms));
  Type type, result;
  SmallVector<Type> others;
  SMLoc location = parser.getCurrentLocation();
  if (parseAttributes(parser, state) || parser.parseColonType(type) || parseArrowTypes(parser, type, result, others) ||
      parser.parseRegion(*state.addRegion()))
    return failure();
  if (dropout.p) {
    state.addAttribute("p", dropout.p);
    state.addAttribute("site", dropout.site);
  }
  if (connection.isGiven)
    state.addAttribute("streams", builder.getUnitAttr());
  auto count = [](const Parameters &given) { return static_cast<int32_t>(given.operands.size()); };
  int32_t seed = !dropout.operands.empty(), origin = dropout.hasOrigin, extent = dropout.hasExtent;
  state.addAttribute("operandSegmentSizes",
                     builder.getDenseI32ArrayAttr(
                         {1, count(parameters), seed, seed, origin, origin, int32_t(dropout.hasColumn), extent, extent,
                          count(gate), count(skip), count(also), count(alsoScale), count(connection.read),
                          count(connection.write), count(connection.mix), int32_t(scale.has_value())}));
  if (granularity)
    state.addAttribute("granularity", granularity);
  if (group)
    state.addAttribute("group", group);
  state.addTypes(result);
  state.addTypes(others);
  also.types.assign(also.operands.size(), type);
  auto resolve = [&](const Parameters &given) {
    return parser.resolveOperands(given.operands, given.types, location, state.operands);
  };
  return failure(parser.resolveOperand(x, type, state.operands) || resolve(parameters) ||
                 parser.resolveOperands(dropout.operands, builder.getI64Type(), state.operands) || resolve(gate) ||
                 resolve(skip) || resolve(also) || resolve(alsoScale) || resolve(connection.read) ||
                 resolve(connection.write) || resolve(connection.mix) ||
                 (scale && parser.resolveOperand(*scale, scaleType, state.operands)));
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printParameter(OpAsmPrinter &printer, StringRef name, Value value) {
  if (value)
    printer << " " << name << " " << value << " : " << value.getType();
}

static void printFactor(OpAsmPrinter &printer, StringRef name, Value value) {
  if (value)
    printer << " " << name << "(" << value << " : " << value.getType() << ")";
}

static void printNorm(OpAsmPrinter &printer, const NormParts &norm) {
  printer << " norm(" << stringifyNormKind(norm.kind);
  for (const NormParameter &parameter : normParameters)
    printParameter(printer, parameter.name, norm.*parameter.value);
  if (norm.epsilon)
    printer << " epsilon = " << norm.epsilon.getValue();
  if (norm.groups)
    printer << " groups = " << norm.groups.getInt();
  if (norm.zeroCenteredGamma)
    printer << " zero_centered_gamma";
  if (norm.normRank.getInt() != 1)
    printer << " norm_rank = " << norm.normRank.getInt();
  printer << ")";
}

static void printDropout(OpAsmPrinter &printer, BlockOp op) {
  printer << " dropout(" << *op.getP() << ", site " << *op.getSite() << ", seed " << op.getSeed() << ", step "
          << op.getStep();
  if (op.getOriginRow())
    printer << ", origin " << op.getOriginRow() << " " << op.getOriginSite();
  if (op.getOriginCol())
    printer << " " << op.getOriginCol();
  if (op.getExtentLocal())
    printer << ", extent " << op.getExtentLocal() << " " << op.getExtentGlobal();
  printer << ")";
}

static void printConnection(OpAsmPrinter &printer, BlockOp op) {
  printer << " streams(";
  llvm::ListSeparator separator;
  for (auto [name, value] : {std::pair("read", op.getReadWeights()), std::pair("write", op.getWriteWeights()),
                             std::pair("mix", op.getMix())})
    if (value)
      printer << StringRef(separator) << name << " " << value << " : " << value.getType();
  printer << ")";
}

void BlockOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyPlacement(getPlacement()) << " " << getX();
  for (const NormParts &norm : getBlockNorms(*this))
    printNorm(printer, norm);
  if (hasDropout())
    printDropout(printer, *this);
  printFactor(printer, "gate", getGate());
  printFactor(printer, "skip", getSkip());
  if (getAlso()) {
    printer << " also(" << getAlso();
    printParameter(printer, "scale", getAlsoScale());
    printer << ")";
  }
  if (getStreams())
    printConnection(printer, *this);
  if (getStaticScale() || getGranularity()) {
    printQuantization(printer << " quantize(", *this, getGranularityAttr(), getGroupAttr(), getStaticScale(), Type());
    printer << ")";
  }
  SmallVector<StringRef> left(std::begin(clauseAttributes), std::end(clauseAttributes));
  if (getSkipScale().isExactlyValue(1.0))
    left.push_back("skip_scale");
  if (getBranchScale().isExactlyValue(1.0))
    left.push_back("branch_scale");
  if (getReadScale().isExactlyValue(1.0))
    left.push_back("read_scale");
  printer.printOptionalAttrDict((*this)->getAttrs(), left);
  printTypes(printer << " : ", *this, {Type(getX().getType())}, getX().getType());
  printer << " ";
  printer.printRegion(getBranch());
}
