// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser of PTX texts. Functions return false after an error, which `parse` hands out.

#pragma once

#include "test/ptx/Syntax.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace resid::ptx {

struct Token {
  enum Kind { Word, Integer, Float, String, Punctuation, End, Bad };
  Kind kind = End;
  llvm::StringRef text;
  uint64_t bits = 0; ///< Of a number.
  unsigned line = 1;

  bool is(llvm::StringRef expected) const { return kind != String && text == expected; }
};

/// Cuts a text into tokens. Owns comments, line numbers and numbers.
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

class Parser {
public:
  explicit Parser(llvm::StringRef text) : lexer(text) {}
  llvm::Expected<ModuleText> parse();

private:
  bool fail(const llvm::Twine &message);
  bool expect(llvm::StringRef text);
  bool parseName(llvm::StringRef &name);
  bool parseInteger(uint64_t &value);
  bool parseDirective();
  bool parseFunction(bool external);
  bool parseFunctionDirectives(FunctionText &function);
  bool parseParameters(std::vector<Declaration> &parameters);
  bool parseDeclared(Declaration &declared);
  bool parseDeclarator(Declaration &declared);
  bool parseDeclarations(bool external, std::vector<Declaration> &declarations);
  bool parseInitial(std::vector<Operand> &initial);

  // In ParseStatement.cpp.
  bool parseBody(std::vector<Item> &body);
  bool parseLabelled(llvm::StringRef label, std::vector<Item> &body);
  bool parseStatement(std::vector<Item> &body);
  bool parseScalar(Operand &operand);
  bool parseOperand(Operand &operand);
  bool parseList(llvm::StringRef close, std::vector<Operand> &parts);

  Lexer lexer;
  ModuleText module;
  llvm::StringRef addressSize;
  std::string error;
  unsigned errorLine = 0;
};

} // namespace resid::ptx
