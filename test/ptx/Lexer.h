// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts a PTX text into tokens. Owns comments, line numbers and numbers.

#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace resid::ptx {

struct Token {
  enum Kind { Word, Integer, Float, String, Punctuation, End, Bad };
  Kind kind = End;
  llvm::StringRef text;
  uint64_t bits = 0; ///< Of a number.
  unsigned line = 1;

  bool is(llvm::StringRef expected) const { return kind != String && text == expected; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text(text) { advance(); }

  const Token &token() const { return current; }
  void advance();
  bool consume(llvm::StringRef expected);
  /// Directives of debuggers end with their line.
  void skipLine();
  /// The text from the start of a token to the end of the token before the current one.
  llvm::StringRef textSince(const Token &first) const;

private:
  void skipSpace();
  void lexNumber();
  llvm::StringRef text;
  size_t position = 0, endOfPrevious = 0;
  unsigned line = 1;
  Token current;
};

} // namespace resid::ptx
