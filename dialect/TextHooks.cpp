// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of ops goes through beside MLIR's parsers; see TextHooks.h.

#include "dialect/TextHooks.h"

#include "dialect/Spelling.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// What PyTorch, JAX, ONNX and the models of Hugging Face call attributes.
static constexpr ForeignName foreignAttributes[] = {
    {"norm_eps", "epsilon"},
    {"layer_norm_eps", "epsilon"},
    {"rms_norm_eps", "epsilon"},
    {"variance_epsilon", "epsilon"},
    {"axis", "norm_rank"},
    {"normalized_shape", "norm_rank"},
    {"prob", "p"},
    {"probability", "p"},
    {"dropout_p", "p"},
    {"rate", "p"},
    {"ratio", "p"},
    {"add_unit_offset", "zero_centered_gamma"},
};

/// The names that an op defines, but for those that its text derives from its clauses.
static SmallVector<StringRef> getWritableNames(ArrayRef<StringRef> defined) {
  return llvm::filter_to_vector(defined, [](StringRef name) { return !name.ends_with("SegmentSizes"); });
}

static void describeUndefined(InFlightDiagnostic &message, StringRef name, ArrayRef<StringRef> defined) {
  SmallVector<StringRef> names = getWritableNames(defined);
  message << "expected ";
  describeNames(message, name, {names, foreignAttributes, /*prefix=*/""}, "an attribute that the op defines",
                "no attribute without a dot in its name");
}

LogicalResult resid::verifyDefinedAttributes(Operation *op) {
  // An op without attributes of its own keeps all it is given in one dictionary.
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue;
    SmallVector<StringRef> defined;
    for (StringAttr known : op->getRegisteredInfo()->getAttributeNames())
      defined.push_back(known);
    InFlightDiagnostic message = op->emitOpError();
    describeUndefined(message, name, defined);
    return message;
  }
  return success();
}

LogicalResult resid::verifyDefinedProperties(ArrayRef<StringRef> defined, Attribute properties,
                                             function_ref<InFlightDiagnostic()> emitError) {
  auto dictionary = dyn_cast<DictionaryAttr>(properties);
  if (!dictionary)
    return success(); // what is to be set refuses it
  for (NamedAttribute attribute : dictionary) {
    StringRef name = attribute.getName();
    // The name with underscores is the one that older versions of MLIR give to the last of them.
    if (llvm::is_contained(defined, name == "operand_segment_sizes" ? "operandSegmentSizes" : name))
      continue;
    InFlightDiagnostic message = emitError();
    describeUndefined(message, name, defined);
    return message;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// A number as it is written, and as MLIR wants it.
struct Number {
  const char *begin;
  std::string written, wanted;
};
} // namespace

static const char *skipDigits(const char *text) {
  while (llvm::isDigit(*text))
    ++text;
  return text;
}

/// The number whose exponent is at `place`: MLIR has read the integer 1 of `1e-5` and goes on with a word.
static std::optional<Number> findExponent(const char *place) {
  if (*place != 'e' && *place != 'E')
    return std::nullopt;
  const char *exponent = place[1] == '-' || place[1] == '+' ? place + 2 : place + 1;
  const char *end = skipDigits(exponent), *begin = place;
  // The name of the op stands before it, so this comes to an end.
  while (llvm::isDigit(begin[-1]))
    --begin;
  if (begin == place || end == exponent)
    return std::nullopt;
  std::string digits(begin, place), rest(place, end);
  return Number{begin, digits + rest, digits + ".0" + rest};
}

/// The number behind the token at `place` that begins with a point. MLIR refuses the point as it reads on.
static std::optional<Number> findPoint(const char *place) {
  if (!StringRef("=(,-").contains(*place) || !*place)
    return std::nullopt;
  const char *begin = place + 1;
  while (*begin == ' ')
    ++begin;
  const char *end = skipDigits(begin + (*begin == '.'));
  if (*begin != '.' || end == begin + 1)
    return std::nullopt;
  std::string digits(begin, end);
  return Number{begin, digits, "0" + digits};
}

/// The integer at `place`, in a clause that wants a float.
static std::optional<Number> findInteger(const char *place) {
  const char *end = skipDigits(place);
  if (end == place)
    return std::nullopt;
  if (std::optional<Number> number = findExponent(end))
    return number;
  std::string digits(place, end);
  return Number{place, digits, digits + ".0"};
}

static constexpr StringLiteral floatMessage = "expected a float with digits before and behind its point, ";

ParseResult resid::parseWithNumbers(OpAsmParser &parser, function_ref<ParseResult()> parse) {
  bool isDone = false;
  ScopedDiagnosticHandler handler(parser.getContext(), [&](Diagnostic &diagnostic) {
    // What an op in a region has said of its number stands.
    std::string said = diagnostic.str();
    isDone |= StringRef(said).contains(floatMessage);
    if (isDone || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    isDone = true;
    const char *place = parser.getCurrentLocation().getPointer();
    std::optional<Number> number = findExponent(place);
    if (!number)
      number = findPoint(place);
    if (!number && StringRef(said).contains("unexpected decimal integer literal"))
      number = findInteger(place);
    if (!number)
      return failure();
    parser.emitError(llvm::SMLoc::getFromPointer(number->begin))
        << floatMessage << number->wanted << ", but got " << number->written;
    return success();
  });
  return parse();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What others call the ops.
static constexpr ForeignName foreignOps[] = {
    {"residual", "add"}, {"residual_add", "add"}, {"bias_add", "add_bias"}, {"dynamic_tanh", "dyt"}};

ParseResult resid::parseUnknownOp(OpAsmParser &parser, OperationState &state) {
  auto [dialect, written] = state.name.getStringRef().split('.');
  SmallVector<StringRef> names;
  // MLIR's own search by dialect misses ops.
  for (RegisteredOperationName name : parser.getContext()->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect)
      names.push_back(name.getStringRef().split('.').second);
  llvm::sort(names);
  std::string prefix = (dialect + ".").str();
  InFlightDiagnostic message = parser.emitError(parser.getNameLoc(), "expected ");
  describeNames(message, written, {names, foreignOps, prefix}, "an op of the dialect", "no op");
  return message;
}
