// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of text; see TextFit.h.

#include "diagram/TextFit.h"

using namespace llvm;
using namespace mlir::resid::diagram;

/// How many bytes the first `count` characters of UTF-8 take; a broken sequence counts byte by byte.
static size_t getBytes(StringRef text, unsigned count) {
  size_t bytes = 0;
  while (bytes < text.size() && count > 0) {
    ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80)
      ++bytes;
    --count;
  }
  return bytes;
}

FittedText mlir::resid::diagram::fitText(StringRef text, unsigned length, unsigned lines) {
  FittedText fitted;
  while (fitted.lines.size() < lines) {
    size_t fits = getBytes(text, length);
    if (fits == text.size()) {
      fitted.lines.push_back(text.str());
      return fitted;
    }
    if (fitted.lines.size() + 1 == lines)
      break;
    size_t space = text.substr(0, fits + 1).rfind(' ');
    size_t end = space == StringRef::npos || space == 0 ? fits : space;
    fitted.lines.push_back(text.substr(0, end).str());
    text = text.substr(end).ltrim(' ');
  }
  fitted.isCut = true;
  fitted.lines.push_back(text.substr(0, getBytes(text, length - 1)).rtrim(" ,").str() + "…");
  return fitted;
}
