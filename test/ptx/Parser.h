// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser of PTX texts. Functions return false after an error, which `parse` hands out.

#pragma once

#include "test/ptx/Lexer.h"
#include "test/ptx/Syntax.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace resid::ptx {

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
