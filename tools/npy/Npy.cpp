// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing .npy headers. The header is a Python dictionary literal of three known keys; nothing else of
// Python is understood.

#include "tools/npy/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::resid::npy {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static constexpr StringRef magic("\x93NUMPY", 6);
/// The largest array in bytes that resid accepts anywhere.
static constexpr uint64_t maxBytes = uint64_t(1) << 47;

template <typename... Parts> static Error makeError(const char *format, const Parts &...parts) {
  return llvm::createStringError(std::errc::invalid_argument, format, parts...);
}

/// A file's bytes as part of a message: short, and printable.
static std::string quote(StringRef text) {
  std::string result = "'";
  for (char c : text.take_front(24))
    result += llvm::isPrint(c) ? c : '?';
  return result + (text.size() > 24 ? "…'" : "'");
}

namespace {

/// Reads the dictionary from left to right.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  Error parse(View &view) {
    if (Error error = expect('{'))
      return error;
    while (!accept('}')) {
      if (Error error = parseEntry(view))
        return error;
      if (accept(','))
        continue;
      if (Error error = expect('}'))
        return error;
      break;
    }
    if (!rest.trim().empty())
      return makeError("expected the end of the .npy header but got %s", quote(rest.trim()).c_str());
    if (!hasType || !hasOrder || !hasShape)
      return makeError("expected 'descr', 'fortran_order' and 'shape' in the .npy header");
    if (isFortran && view.shape.size() > 1)
      return makeError("expected an array in C order but got Fortran order");
    return Error::success();
  }

private:
  bool accept(char c) {
    rest = rest.ltrim();
    return rest.consume_front(StringRef(&c, 1));
  }
  Error expect(char c) {
    if (accept(c))
      return Error::success();
    return makeError("expected '%c' in the .npy header but got %s", c, quote(rest).c_str());
  }

  Expected<StringRef> parseString() {
    rest = rest.ltrim();
    char delimiter = rest.empty() ? 0 : rest.front();
    size_t end = delimiter == '\'' || delimiter == '"' ? rest.find(delimiter, 1) : StringRef::npos;
    if (end == StringRef::npos)
      return makeError("expected a string in the .npy header but got %s", quote(rest).c_str());
    StringRef text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return text;
  }

  Error parseEntry(View &view) {
    Expected<StringRef> key = parseString();
    if (!key)
      return key.takeError();
    if (Error error = expect(':'))
      return error;
    if (*key == "descr")
      return once(hasType, *key, [&] { return parseType(view); });
    if (*key == "fortran_order")
      return once(hasOrder, *key, [&] { return parseOrder(); });
    if (*key == "shape")
      return once(hasShape, *key, [&] { return parseShape(view); });
    return makeError("expected 'descr', 'fortran_order' or 'shape' in the .npy header but got %s", quote(*key).c_str());
  }

  template <typename Parse> Error once(bool &seen, StringRef key, Parse parseValue) {
    if (seen)
      return makeError("expected one '%s' in the .npy header but got two", key.str().c_str());
    seen = true;
    return parseValue();
  }

  Error parseType(View &view) {
    rest = rest.ltrim();
    if (rest.starts_with("["))
      return makeError("expected an array of numbers but got an array of structures");
    Expected<StringRef> text = parseString();
    if (!text)
      return text.takeError();
    unsigned bytes = 0;
    bool known = text->size() >= 3 && StringRef("<>|=").contains((*text)[0]) &&
                 StringRef("fiubV").contains((*text)[1]) && !text->drop_front(2).getAsInteger(10, bytes) &&
                 bytes >= 1 && bytes <= 16;
    if (!known)
      return makeError("expected an element type such as '<f4' but got %s", quote(*text).c_str());
    view.kind = (*text)[1];
    view.itemBytes = bytes;
    if (text->front() == '>' && bytes > 1 && view.kind != 'V')
      return makeError("expected little-endian elements but got %s", quote(*text).c_str());
    return Error::success();
  }

  Error parseOrder() {
    rest = rest.ltrim();
    isFortran = rest.consume_front("True");
    if (isFortran || rest.consume_front("False"))
      return Error::success();
    return makeError("expected True or False for 'fortran_order' but got %s", quote(rest).c_str());
  }

  Error parseShape(View &view) {
    if (Error error = expect('('))
      return error;
    while (!accept(')')) {
      rest = rest.ltrim();
      StringRef digits = rest.take_while(llvm::isDigit);
      int64_t size = 0;
      if (digits.empty() || digits.getAsInteger(10, size))
        return makeError("expected a size in the .npy header but got %s", quote(rest).c_str());
      if (view.shape.size() == 64)
        return makeError("expected at most 64 dimensions in the .npy header but got more");
      view.shape.push_back(size);
      rest = rest.drop_front(digits.size());
      rest.consume_front("L"); // Python 2 wrote long integers so.
      if (accept(','))
        continue;
      if (Error error = expect(')'))
        return error;
      // (3) is a number in Python, and (3,) a tuple.
      if (view.shape.size() == 1)
        return makeError("expected a tuple as the shape but got a number");
      break;
    }
    return Error::success();
  }

  StringRef rest;
  bool hasType = false, hasOrder = false, hasShape = false, isFortran = false;
};

} // namespace

/// The number of elements times their size, checked.
static Expected<uint64_t> getByteCount(const View &view) {
  uint64_t count = 1;
  // A dimension of size 0 makes the others irrelevant, however large.
  if (llvm::is_contained(view.shape, 0))
    return 0;
  for (int64_t size : view.shape) {
    if (static_cast<uint64_t>(size) > maxBytes / count)
      return makeError("expected an array of at most 2^47 bytes");
    count *= static_cast<uint64_t>(size);
  }
  if (count * view.itemBytes > maxBytes)
    return makeError("expected an array of at most 2^47 bytes");
  return count * view.itemBytes;
}

Expected<View> parse(StringRef buffer) {
  if (!buffer.starts_with(magic))
    return makeError("expected a .npy file but got one that starts with %s", quote(buffer.take_front(6)).c_str());
  auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(buffer[i])); };
  if (buffer.size() < 10)
    return makeError("expected a .npy header but the file ends after %zu bytes", buffer.size());
  uint64_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    return makeError("expected .npy version 1.0, 2.0 or 3.0 but got %u.%u", unsigned(major), unsigned(minor));
  size_t start = major == 1 ? 10 : 12;
  if (buffer.size() < start)
    return makeError("expected a .npy header but the file ends after %zu bytes", buffer.size());
  uint64_t length = byte(8) | byte(9) << 8;
  if (major > 1)
    length |= byte(10) << 16 | byte(11) << 24;
  if (buffer.size() - start < length)
    return makeError("expected a .npy header of %zu bytes but the file has %zu", size_t(length), buffer.size() - start);
  View view;
  if (Error error = HeaderParser(buffer.substr(start, length)).parse(view))
    return std::move(error);
  Expected<uint64_t> bytes = getByteCount(view);
  if (!bytes)
    return bytes.takeError();
  view.data = buffer.drop_front(start + length);
  if (view.data.size() != *bytes)
    return makeError("expected %zu bytes of data after the .npy header but got %zu", size_t(*bytes), view.data.size());
  return view;
}

std::string View::describe() const {
  std::string order = itemBytes == 1 || kind == 'V' ? "|" : "<";
  return order + kind + std::to_string(itemBytes);
}

std::string makeHeader(StringRef descr, llvm::ArrayRef<int64_t> shape) {
  std::string sizes = llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), ", ");
  sizes += shape.size() == 1 ? "," : "";
  std::string text = "{'descr': '" + descr.str() + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  auto pad = [&](size_t start) { return llvm::alignTo(start + text.size() + 1, 64) - start; };
  bool isLong = pad(10) > 0xffff;
  size_t start = isLong ? 12 : 10, length = pad(start);
  text.append(length - 1 - text.size(), ' ');
  std::string header = magic.str();
  header += isLong ? '\x02' : '\x01';
  header += '\0';
  for (size_t i = 8; i != start; ++i)
    header += static_cast<char>(length >> (8 * (i - 8)));
  return header + text + '\n';
}

} // namespace mlir::resid::npy
