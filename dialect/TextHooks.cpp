// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    {"is_causal", "causal"},
    {"sliding_window", "window"},
    {"softcap", "cap"},
    {"logits_soft_cap", "cap"},
    {"softmax_scale", "scale"},
    {"sm_scale", "scale"},
    {"scaling", "scale"},
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

/// The number after the token at `place` that begins with a point. MLIR refuses the point as it reads on.
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

/// The clauses of ops of one kind, in the order in which their text has them.
static constexpr StringLiteral clauseOrder[] = {"mask",    "sink",   "past",   "segments", "bias",
                                                "dropout", "origin", "extent", "gate",     "alpha",
                                                "gamma",   "beta",   "cos",    "sin",      "offset"};

/// Where the word at `place` is a clause that belongs before one that is written already: the two of them.
static std::optional<std::pair<StringRef, StringRef>> findClauseOrder(StringRef before, const char *place) {
  StringRef word = StringRef(place).take_while(llvm::isAlpha);
  const auto *clause = llvm::find(clauseOrder, word);
  if (clause == std::end(clauseOrder))
    return std::nullopt;
  for (const auto *later = clause + 1; later != std::end(clauseOrder); ++later)
    for (size_t found = before.find(*later); found != StringRef::npos; found = before.find(*later, found + 1)) {
      bool isWord = found != 0 && llvm::isSpace(before[found - 1]);
      if (isWord && before.drop_front(found + later->size()).ltrim().starts_with("("))
        return std::pair(word, StringRef(*later));
    }
  return std::nullopt;
}

static constexpr StringLiteral floatMessage = "expected a float with digits before and after its point, ";

/// MLIR's parser names the op in front of a verifier's message, which names it too.
static LogicalResult withoutRepeatedName(const Diagnostic &diagnostic, StringRef said) {
  if (!said.consume_front("custom op '"))
    return failure();
  StringRef name = said.take_until([](char c) { return c == '\''; });
  said = said.drop_front(name.size());
  if (!said.consume_front("' ") || !said.starts_with(("'" + name + "' ").str()))
    return failure();
  emitError(diagnostic.getLocation()) << said;
  return success();
}

static std::string describe(const Number &number) {
  return (floatMessage + number.wanted + ", but got " + number.written).str();
}

std::optional<WrongNumber> resid::findWrongNumber(StringRef text, const char *place) {
  std::optional<Number> number;
  if (place == text.begin() || place >= text.end())
    return std::nullopt;
  place -= place[-1] == '.' && llvm::isDigit(*place);
  if (*place == '.' && llvm::isDigit(place[1])) {
    std::string written(place, skipDigits(place + 1));
    number = Number{place, written, "0" + written};
  } else if (llvm::isDigit(place[-1]) && text.find_first_not_of("0123456789") < size_t(place - text.begin())) {
    number = findExponent(place);
  }
  // The digits of a name are no number.
  auto isNameCharacter = [](char c) { return llvm::isAlnum(c) || StringRef("_$.%#@!").contains(c); };
  if (!number || number->begin == text.begin() || isNameCharacter(number->begin[-1]))
    return std::nullopt;
  return WrongNumber{llvm::SMLoc::getFromPointer(number->begin), describe(*number)};
}

ParseResult resid::parseWithHints(OpAsmParser &parser, function_ref<ParseResult()> parse) {
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
    if (number) {
      parser.emitError(llvm::SMLoc::getFromPointer(number->begin)) << describe(*number);
      return success();
    }
    const char *begin = parser.getNameLoc().getPointer();
    if (auto clauses = findClauseOrder(StringRef(begin, place - begin), place)) {
      parser.emitError(llvm::SMLoc::getFromPointer(place))
          << "expected '" << clauses->first << "' before '" << clauses->second << "', but got it after";
      return success();
    }
    return withoutRepeatedName(diagnostic, said);
  });
  return parse();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What others call the ops.
static constexpr ForeignName foreignOps[] = {
    {"residual", "add"},
    {"residual_add", "add"},
    {"bias_add", "add_bias"},
    {"dynamic_tanh", "dyt"},
    {"scaled_dot_product_attention", "attention"},
    {"sdpa", "attention"},
    {"multi_head_attention", "attention"},
    {"multihead_attention", "attention"},
    {"grouped_query_attention", "attention"},
    {"group_query_attention", "attention"},
    {"flash_attention", "attention"},
    {"mha", "attention"},
    {"cache_append", "append"},
    {"update_cache", "append"},
    {"cache_update", "append"},
    {"dense", "linear"},
    {"fully_connected", "linear"},
    {"matmul", "linear"},
    {"relu", "activation"},
    {"gelu", "activation"},
    {"silu", "activation"},
    {"swiglu", "activation"},
    {"sigmoid", "activation"},
    {"rope", "rotary"},
    {"rotary_embedding", "rotary"},
    {"attention_backward", "attention_grad"},
    {"flash_attention_backward", "attention_grad"},
    {"layer_norm_backward", "layer_norm_grad"},
    {"rms_norm_backward", "rms_norm_grad"},
    {"group_norm_backward", "group_norm_grad"},
    {"batch_norm_backward", "batch_norm_grad"},
    {"dyt_backward", "dyt_grad"},
    {"batchnorm", "batch_norm"},
    {"softmax_cross_entropy", "cross_entropy"},
    {"cross_entropy_loss", "cross_entropy"},
    {"nll_loss", "cross_entropy"},
    {"cross_entropy_backward", "cross_entropy_grad"},
    {"gather", "embedding"},
    {"lookup", "embedding"},
    {"embedding_backward", "embedding_grad"},
};

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
