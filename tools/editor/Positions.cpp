// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/editor/Positions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::resid;

/// How many units of UTF-16 a byte of UTF-8 adds: those that continue a character none, the first of four two.
static unsigned getUnits(char byte) {
  auto code = static_cast<unsigned char>(byte);
  return (code & 0xC0) == 0x80 ? 0 : code >= 0xF0 ? 2 : 1;
}

unsigned editor::getUTF16Length(StringRef text) {
  unsigned length = 0;
  for (char byte : text)
    length += getUnits(byte);
  return length;
}

std::optional<size_t> editor::findByte(StringRef text, const json::Object *position) {
  std::optional<int64_t> line = position ? position->getInteger("line") : std::nullopt;
  std::optional<int64_t> column = position ? position->getInteger("character") : std::nullopt;
  if (!line || !column)
    return std::nullopt;
  size_t byte = 0;
  for (int64_t i = 0; i < *line; ++i) {
    size_t end = text.find('\n', byte);
    if (end == StringRef::npos)
      return std::nullopt;
    byte = end + 1;
  }
  int64_t units = 0;
  while (byte < text.size() && text[byte] != '\n' && units + getUnits(text[byte]) <= *column)
    units += getUnits(text[byte++]);
  return byte;
}

json::Object editor::makeRange(unsigned line, StringRef lineText, size_t begin, size_t end) {
  auto position = [&](size_t byte) {
    return json::Object{{"line", line}, {"character", getUTF16Length(lineText.take_front(byte))}};
  };
  return json::Object{{"start", position(begin)}, {"end", position(end)}};
}

bool editor::isNameCharacter(char character) { return isAlnum(character) || character == '_' || character == '.'; }
