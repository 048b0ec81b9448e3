// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens of PTX. A word has all dots of a mnemonic or a directive, and the sign of a register: "add.rn.f32",
// "%tid.x".

#include "test/ptx/Parser.h"

#include "llvm/ADT/StringExtras.h"

using namespace resid::ptx;

static bool startsWord(char c) { return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%' || c == '.'; }
static bool continuesWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

void Lexer::skipSpace() {
  while (position < text.size()) {
    llvm::StringRef rest = text.substr(position);
    if (rest.starts_with("//")) {
      position = std::min(text.find('\n', position), text.size());
    } else if (rest.starts_with("/*")) {
      size_t end = text.find("*/", position + 2);
      end = end == llvm::StringRef::npos ? text.size() : end + 2;
      line += text.slice(position, end).count('\n');
      position = end;
    } else if (llvm::isSpace(text[position])) {
      line += text[position++] == '\n';
    } else {
      return;
    }
  }
}

void Lexer::lexNumber() {
  size_t begin = position;
  while (position < text.size() && (llvm::isAlnum(text[position]) || text[position] == '.'))
    ++position;
  current.text = text.slice(begin, position);
  llvm::StringRef digits = current.text;
  current.kind = Token::Integer;
  size_t width = digits.size() - 2;
  if ((digits.starts_with_insensitive("0f") && width == 8) || (digits.starts_with_insensitive("0d") && width == 16)) {
    current.kind = Token::Float;
    if (digits.drop_front(2).getAsInteger(16, current.bits))
      current.kind = Token::Bad;
    return;
  }
  // ".version 7.0" is the only number with a point.
  if (digits.contains('.')) {
    current.kind = Token::Word;
    return;
  }
  if (digits.ends_with("U"))
    digits = digits.drop_back();
  // Radix 0 knows 0x, 0b and a leading 0 for octal numbers.
  if (digits.getAsInteger(0, current.bits))
    current.kind = Token::Bad;
}

void Lexer::advance() {
  endOfPrevious = position;
  skipSpace();
  current = Token();
  current.line = line;
  if (position == text.size()) {
    current.text = text.substr(position);
    return;
  }
  size_t begin = position;
  char first = text[position];
  if (llvm::isDigit(first)) {
    lexNumber();
  } else if (startsWord(first)) {
    current.kind = Token::Word;
    ++position;
    // Two colons belong to a cache operator, as in "ld.global.L1::no_allocate"; one ends a label.
    while (position < text.size() && (continuesWord(text[position]) || text.substr(position).starts_with("::")))
      position += text[position] == ':' ? 2 : 1;
    current.text = text.slice(begin, position);
  } else if (first == '"') {
    current.kind = Token::String;
    size_t end = text.find('"', position + 1);
    position = end == llvm::StringRef::npos ? text.size() : end + 1;
    current.text = text.slice(begin, position);
  } else {
    current.kind = Token::Punctuation;
    current.text = text.slice(begin, ++position);
  }
}

bool Lexer::consume(llvm::StringRef expected) {
  if (!current.is(expected))
    return false;
  advance();
  return true;
}

void Lexer::skipLine() {
  // The current token may stand on a later line already.
  if (current.kind == Token::End)
    return;
  unsigned first = current.line;
  while (current.kind != Token::End && current.line == first)
    advance();
}

llvm::StringRef Lexer::textSince(const Token &first) const {
  size_t begin = first.text.data() - text.data();
  return text.slice(begin, endOfPrevious);
}
