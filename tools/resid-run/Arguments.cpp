// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of --arg: quick forms, scalars and .npy files.

#include "dialect/FunctionAttributes.h"
#include "dialect/Spelling.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/npy/Npy.h"
#include "tools/resid-run/Arrays.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// The largest array in bytes.
static constexpr int64_t maxBytes = int64_t(1) << 47;

static constexpr StringRef kElementTypes[] = {"f16", "bf16", "f32", "f64", "index", "i1",
                                              "i4",  "i8",   "i16", "i32", "i64"};
static constexpr StringRef kRandom[] = {"random"};

unsigned getElementBytes(Type type) {
  return type.isIndex() ? 8 : static_cast<unsigned>(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
}

/// How many elements a byte has.
static int64_t countInByte(Type type) { return type.isInteger(4) ? 2 : 1; }

int64_t getByteSize(const Array &array) {
  Type type = array.getElementType();
  return array.size() * getElementBytes(type) / countInByte(type);
}

int64_t getStoredSize(Type element, ArrayRef<int64_t> shape, size_t dimension) {
  return shape[dimension] / (dimension + 1 == shape.size() ? countInByte(element) : 1);
}

/// Two elements in each byte, the first in the low half.
static void encodePairs(ArrayRef<int64_t> elements, char *bytes) {
  for (size_t i = 0, e = elements.size(); i != e; i += 2)
    *bytes++ = static_cast<char>((elements[i] & 15) | elements[i + 1] << 4);
}

void encode(const Array &array, char *bytes) {
  if (countInByte(array.getElementType()) == 2)
    return encodePairs(array.integers(), bytes);
  unsigned width = getElementBytes(array.getElementType());
  for (int64_t i = 0, e = array.size(); i != e; ++i) {
    uint64_t bits = array.isFloat() ? reference::encodeFloat(array.floatKind(), array.floats()[i])
                                    : static_cast<uint64_t>(array.integers()[i]);
    for (unsigned byte = 0; byte != width; ++byte)
      *bytes++ = static_cast<char>(bits >> (8 * byte));
  }
}

void decode(const char *bytes, Array &array) {
  unsigned width = getElementBytes(array.getElementType());
  double *floats = array.isFloat() ? array.mutableFloats().data() : nullptr;
  int64_t *integers = array.isFloat() ? nullptr : array.mutableIntegers().data();
  Type type = array.getElementType();
  if (countInByte(type) == 2) {
    for (int64_t i = 0, e = array.size(); i != e; ++i)
      integers[i] = reference::wrapInteger(type, bytes[i / 2] >> (i % 2 * 4));
    return;
  }
  for (int64_t i = 0, e = array.size(); i != e; ++i) {
    uint64_t bits = 0;
    for (unsigned byte = 0; byte != width; ++byte)
      bits |= static_cast<uint64_t>(static_cast<uint8_t>(*bytes++)) << (8 * byte);
    if (floats)
      floats[i] = reference::decodeFloat(array.floatKind(), bits);
    else
      integers[i] = reference::wrapInteger(type, static_cast<int64_t>(bits));
  }
}

namespace {

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// One argument's place and type, for messages.
struct Argument {
  std::string description;
  Type type;
  StringRef text;

  Error error(tools::ExitCode code, const llvm::Twine &what) const {
    return makeError(code, description + ": " + what);
  }
  Error expected(const llvm::Twine &what) const {
    return error(tools::ExitProgram, "expected " + what + " but got '" + text + "'");
  }
  /// Of a text that is wrong for every program. `nearest` is what was probably meant, or empty.
  Error malformed(const llvm::Twine &what, const std::string &nearest = "") const {
    return error(tools::ExitUsage, "expected " + what + " but got '" + text + "'" +
                                       (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
};

/// Whether `text` is a number or a truth value, of whatever type.
bool isScalar(StringRef text) {
  double number;
  llvm::APInt integer;
  return text == "true" || text == "false" || !text.getAsDouble(number) || !text.getAsInteger(0, integer);
}

Expected<Array> makeArray(const Argument &argument, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<RankedTensorType>(argument.type);
  bool fits = static_cast<size_t>(tensor ? tensor.getRank() : 0) == shape.size();
  int64_t bytes = getElementBytes(getElementTypeOrSelf(argument.type));
  std::string found = llvm::join(llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }), "x");
  bool isEmpty = llvm::is_contained(shape, 0);
  for (size_t i = 0; fits && i != shape.size(); ++i) {
    fits = tensor.isDynamicDim(i) || tensor.getDimSize(i) == shape[i];
    if (!isEmpty && (llvm::MulOverflow(bytes, shape[i], bytes) || bytes > maxBytes))
      return argument.error(tools::ExitProgram, "expected at most 2^47 bytes");
  }
  if (!fits)
    return argument.error(tools::ExitProgram, "expected an array of its shape but got [" + found + "]");
  if (tensor && !shape.empty() && shape.back() % countInByte(tensor.getElementType()) != 0)
    return argument.error(tools::ExitProgram, "expected an even last dimension, since a byte holds two elements, but "
                                              "got [" +
                                                  found + "]");
  std::string use = argument.description + " takes " + std::to_string(isEmpty ? 0 : bytes) + " bytes as " + found;
  tools::MemoryNote note(use.c_str());
  return Array::zeros(argument.type, shape);
}

/// A number in the text form of floats, integers and booleans. An array's own text names its type. A scalar's type is
/// the program's, so that a number of another type is no mistake in the text.
Error parseValue(const Argument &argument, StringRef text, Array &array, int64_t position) {
  auto wrong = [&](const llvm::Twine &what) {
    bool isForm = !isa<RankedTensorType>(argument.type) && isScalar(text);
    return isForm ? argument.expected(what) : argument.malformed(what);
  };
  if (array.isFloat()) {
    double value = 0;
    if (text.getAsDouble(value))
      return wrong("a number");
    double rounded = reference::roundTo(array.floatKind(), value);
    if (std::isinf(rounded) && !text.ltrim("+-").starts_with_insensitive("inf"))
      return wrong("a number in the range of " + print(array.getElementType()));
    array.mutableFloats()[position] = rounded;
    return Error::success();
  }
  int64_t value = text == "true";
  unsigned width = array.getElementType().isIndex() ? 64 : array.getElementType().getIntOrFloatBitWidth();
  if (array.getElementType().isInteger(1)) {
    if (text != "true" && text != "false" && text != "0" && text != "1")
      return wrong("true or false");
    value |= text == "1";
  } else if (uint64_t bits = 0; text.getAsInteger(0, value)) {
    // 64-bit seeds are often written without a sign. Sizes and indices have one.
    if (width != 64 || array.getElementType().isIndex() || text.getAsInteger(0, bits))
      return wrong("an integer");
    value = static_cast<int64_t>(bits);
  }
  if (width < 64 && !llvm::isIntN(width, value) && !llvm::isUIntN(width, static_cast<uint64_t>(value)))
    return wrong("an integer of " + llvm::Twine(width) + " bits");
  array.mutableIntegers()[position] = reference::wrapInteger(array.getElementType(), value);
  return Error::success();
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough for inputs.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

} // namespace

void fillRandom(Array &array, uint64_t state, double scale, uint64_t limit) {
  auto uniform = [&] { return static_cast<double>((nextRandom(state) >> 11) + 1) * 0x1p-53; };
  for (int64_t i = 0, e = array.size(); i != e; ++i) {
    if (!array.isFloat()) {
      array.mutableIntegers()[i] =
          reference::wrapInteger(array.getElementType(), static_cast<int64_t>(nextRandom(state) % limit));
      continue;
    }
    double radius = std::sqrt(-2.0 * std::log(uniform()));
    array.mutableFloats()[i] =
        reference::roundTo(array.floatKind(), scale * radius * std::cos(6.283185307179586 * uniform()));
  }
}

namespace {

Error fillQuick(const Argument &argument, StringRef value, Array &array) {
  if (value.consume_front("random:")) {
    uint64_t seed = 0, limit = 128;
    auto [numbers, limitText] = value.split('%');
    bool isLimited = numbers.size() != value.size();
    if (isLimited && (array.isFloat() || limitText.getAsInteger(10, limit) || limit == 0))
      return argument.malformed("a number of integers, 1 or more, after 'random:SEED%'");
    auto [seedText, scaleText] = numbers.split('*');
    double scale = 1.0;
    if (seedText.getAsInteger(10, seed))
      return argument.malformed("a seed after 'random:'");
    bool isScaled = seedText.size() != numbers.size();
    if (isScaled && (!array.isFloat() || scaleText.getAsDouble(scale) ||
                     !std::isfinite(reference::roundTo(array.floatKind(), scale))))
      return argument.malformed("a finite scale of floats after 'random:SEED*'");
    fillRandom(array, seed, scale, limit);
    return Error::success();
  }
  auto [word, seed] = value.split(':');
  if (StringRef nearest = findNearest(word, {kRandom, {}, {}}); !nearest.empty())
    return argument.malformed("a number or random:SEED", argument.text.drop_back(value.size()).str() + nearest.str() +
                                                             ":" + (seed.empty() ? "1" : seed.str()));
  SmallVector<StringRef> values;
  value.split(values, ',');
  if (values.size() != 1 && static_cast<int64_t>(values.size()) != array.size())
    return argument.error(tools::ExitUsage, "expected 1 or " + llvm::Twine(array.size()) + " values but got " +
                                                llvm::Twine(values.size()));
  if (values.size() == 1) {
    Array one = Array::zeros(array.getElementType());
    if (Error error = parseValue(argument, value.trim(), one, 0))
      return error;
    if (array.isFloat())
      llvm::fill(array.mutableFloats(), one.asFloat());
    else
      llvm::fill(array.mutableIntegers(), one.asInteger());
    return Error::success();
  }
  for (auto [i, text] : llvm::enumerate(values))
    if (Error error = parseValue(argument, text.trim(), array, i))
      return error;
  return Error::success();
}

/// TYPE[4x512]=VALUE
Expected<Array> readQuick(const Argument &argument) {
  auto [head, value] = argument.text.split("]=");
  auto [type, sizes] = head.split('[');
  if (!llvm::is_contained(kElementTypes, type)) {
    KnownNames known{kElementTypes, {}, {}};
    std::string nearest = findNearest(type, known).str();
    return argument.malformed("elements of type " + listNames(known),
                              nearest.empty() ? "" : nearest + argument.text.drop_front(type.size()).str());
  }
  if (!isa<RankedTensorType>(argument.type))
    return argument.expected("a number");
  if (type != print(getElementTypeOrSelf(argument.type)))
    return argument.expected("an array of its type");
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  if (!sizes.empty())
    sizes.split(parts, 'x');
  for (StringRef part : parts)
    if (part.getAsInteger(10, shape.emplace_back()) || shape.back() < 0)
      return argument.malformed("sizes such as 4x512");
  Expected<Array> array = makeArray(argument, shape);
  if (!array)
    return array.takeError();
  if (Error error = fillQuick(argument, value, *array))
    return std::move(error);
  return array;
}

/// Whether NumPy's type is how `type` is stored; bfloat16 has no type of its own there.
bool fitsStorage(const npy::View &view, Type type) {
  if (view.itemBytes != getElementBytes(type))
    return false;
  if (type.isBF16())
    return view.kind == 'u' || view.kind == 'V';
  if (isa<FloatType>(type))
    return view.kind == 'f';
  return type.isInteger(1) ? view.kind == 'b' : view.kind == 'i' || view.kind == 'u';
}

Expected<Array> readFile(const Argument &argument) {
  // What nobody would call a file.
  constexpr StringLiteral forms = "a .npy file or TYPE[SIZES]=VALUE, such as f32[4x512]=random:1,";
  bool exists = llvm::sys::fs::exists(argument.text);
  if (!exists && isScalar(argument.text))
    return argument.expected(forms);
  if (!exists && argument.text.contains('[')) {
    auto [head, value] = argument.text.split('=');
    bool lacksBracket = !value.empty() && !head.contains(']');
    return argument.malformed(forms, lacksBracket ? (head + "]=" + value).str() : "");
  }
  auto buffer = tools::readInput(argument.text);
  if (!buffer)
    return argument.error(tools::ExitFile, llvm::toString(buffer.takeError()));
  Expected<npy::View> view = npy::parse((*buffer)->getBuffer());
  if (!view)
    return argument.error(tools::ExitFile, argument.text + ": " + llvm::toString(view.takeError()));
  if (!fitsStorage(*view, getElementTypeOrSelf(argument.type)))
    return argument.error(tools::ExitProgram,
                          "expected elements of its type but " + argument.text + " has '" + view->describe() + "'");
  SmallVector<int64_t> shape(view->shape);
  if (!shape.empty())
    shape.back() *= countInByte(getElementTypeOrSelf(argument.type));
  Expected<Array> array = makeArray(argument, shape);
  if (array)
    decode(view->data.data(), *array);
  return array;
}

} // namespace

std::string describeArgument(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, kArgumentNameAttribute);
  return "argument " + std::to_string(index) + (name ? " ('" + name.str() + "')" : "") + " of type " +
         print(function.getArgumentTypes()[index]);
}

Expected<Array> readArgument(func::FuncOp function, unsigned index, StringRef text) {
  Argument argument{describeArgument(function, index), function.getArgumentTypes()[index], text};
  Type element = getElementTypeOrSelf(argument.type);
  bool isTensor = isa<RankedTensorType>(argument.type);
  bool isStorable =
      reference::getFloatKind(element) || element.isIndex() ||
      (element.isSignlessInteger() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth())) ||
      (isTensor && element.isInteger(4) && cast<RankedTensorType>(argument.type).getRank() > 0);
  if (!isStorable || (!isTensor && argument.type != element))
    return argument.error(tools::ExitUnavailable, "expected a number or an array of f16, bf16, f32, f64, index, i1, "
                                                  "i8, i16, i32 or i64, or an array of i4");
  if (text.contains("]=") &&
      text.take_until([](char c) { return c == '['; }).find_if_not(llvm::isAlnum) == StringRef::npos)
    return readQuick(argument);
  if (isTensor || text.ends_with(".npy"))
    return readFile(argument);
  Array scalar = Array::zeros(argument.type);
  if (Error error = parseValue(argument, text, scalar, 0))
    return std::move(error);
  return scalar;
}

} // namespace mlir::resid::run
