// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses directives, declarations and functions. Operands and instructions are in ParseStatement.cpp.

#include "test/ptx/Parser.h"

#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

llvm::Error resid::ptx::errorAtLine(unsigned line, const llvm::Twine &message) {
  return llvm::createStringError("line " + llvm::Twine(line) + ": " + message);
}

bool Parser::fail(const llvm::Twine &message) {
  if (error.empty()) {
    error = message.str();
    errorLine = lexer.token().line;
  }
  return false;
}

bool Parser::expect(llvm::StringRef text) {
  if (lexer.consume(text))
    return true;
  return fail("expected '" + text + "' but got '" + lexer.token().text + "'");
}

bool Parser::parseName(llvm::StringRef &name) {
  if (lexer.token().kind != Token::Word || lexer.token().text.starts_with("."))
    return fail("expected a name but got '" + lexer.token().text + "'");
  name = lexer.token().text;
  lexer.advance();
  return true;
}

bool Parser::parseInteger(uint64_t &value) {
  bool negative = lexer.consume("-");
  if (lexer.token().kind != Token::Integer)
    return fail("expected an integer but got '" + lexer.token().text + "'");
  value = negative ? -lexer.token().bits : lexer.token().bits;
  lexer.advance();
  return true;
}

/// `.align 16 .b8 name[256]`, after the space. `.ptr .global .align 1` says where the parameter of a kernel points.
bool Parser::parseDeclared(Declaration &declared) {
  bool hasType = false, isPointer = false;
  while (lexer.token().kind == Token::Word && lexer.token().text.starts_with(".")) {
    llvm::StringRef word = lexer.token().text.drop_front();
    lexer.advance();
    uint64_t align = 0;
    if (word == "align") {
      if (!parseInteger(align))
        return false;
      if (!llvm::isPowerOf2_64(align))
        return fail("expected a power of two as alignment");
      if (!isPointer)
        declared.align = align;
    } else if (word == "ptr") {
      isPointer = true;
    } else if (auto type = parseType(word); type && !hasType) {
      declared.type = *type;
      hasType = true;
    } else if (!(isPointer && (word == "global" || word == "shared" || word == "const"))) {
      return fail("unknown directive '." + word + "' in a declaration");
    }
  }
  if (!hasType)
    return fail("expected a type");
  return parseDeclarator(declared);
}

/// `name`, `%r<10>` or `name[256]`
bool Parser::parseDeclarator(Declaration &declared) {
  if (!parseName(declared.name))
    return false;
  if (lexer.consume("<")) {
    declared.isRange = true;
    return parseInteger(declared.count) && expect(">");
  }
  while (lexer.consume("[")) {
    uint64_t size = 0;
    if (!lexer.token().is("]") && !parseInteger(size))
      return false;
    declared.count = declared.isArray ? declared.count * size : size;
    declared.isArray = true;
    if (!expect("]"))
      return false;
  }
  return true;
}

/// Elements of an array, in braces that may be nested, or one value.
bool Parser::parseInitial(std::vector<Operand> &initial) {
  if (lexer.consume("{")) {
    while (!lexer.token().is("}")) {
      if (!parseInitial(initial))
        return false;
      if (!lexer.consume(","))
        break;
    }
    return expect("}");
  }
  bool isGeneric = lexer.consume("generic");
  if (isGeneric && !expect("("))
    return false;
  Operand value;
  if (!parseScalar(value))
    return false;
  initial.push_back(value);
  return !isGeneric || expect(")");
}

/// `.reg .b32 %r<10>, %x;` and the like, from the space on.
bool Parser::parseDeclarations(bool external, std::vector<Declaration> &declarations) {
  Declaration declared;
  declared.line = lexer.token().line;
  declared.external = external;
  declared.space = lexer.token().text.drop_front();
  lexer.advance();
  if (!parseDeclared(declared))
    return false;
  if (lexer.consume("=") && !parseInitial(declared.initial))
    return false;
  declarations.push_back(declared);
  while (lexer.consume(",")) {
    Declaration next = declared;
    next.count = 1;
    next.isRange = next.isArray = false;
    if (!parseDeclarator(next))
      return false;
    declarations.push_back(next);
  }
  return expect(";");
}

/// `(.param .u64 a, .param .u32 b)`
bool Parser::parseParameters(std::vector<Declaration> &parameters) {
  if (!expect("("))
    return false;
  while (!lexer.token().is(")")) {
    Declaration declared;
    declared.line = lexer.token().line;
    declared.space = "param";
    if (!expect(".param") || !parseDeclared(declared))
      return false;
    parameters.push_back(declared);
    if (!lexer.consume(","))
      break;
  }
  return expect(")");
}

/// What stands between the signature and the body.
bool Parser::parseFunctionDirectives(FunctionText &function) {
  while (lexer.token().kind == Token::Word) {
    llvm::StringRef word = lexer.token().text;
    lexer.advance();
    if (word == ".noreturn")
      continue;
    if (word != ".maxntid" && word != ".reqntid" && word != ".minnctapersm" && word != ".maxnreg")
      return fail("unknown directive '" + word + "'");
    uint64_t product = 1, factor = 1;
    do {
      if (!parseInteger(factor))
        return false;
      product *= factor;
    } while (lexer.consume(","));
    if (word == ".maxntid")
      function.maxThreads = product;
    else if (word == ".reqntid")
      function.requiredThreads = product;
  }
  return true;
}

bool Parser::parseFunction(bool external) {
  FunctionText function;
  function.line = lexer.token().line;
  function.isKernel = lexer.token().is(".entry");
  lexer.advance();
  if (lexer.token().is("(") && !parseParameters(function.results))
    return false;
  if (!parseName(function.name))
    return false;
  if (lexer.token().is("(") && !parseParameters(function.parameters))
    return false;
  if (!parseFunctionDirectives(function))
    return false;
  if (external)
    return fail("external function '" + function.name + "'");
  if (!lexer.consume(";")) {
    function.hasBody = true;
    if (!expect("{") || !parseBody(function.body))
      return false;
  }
  module.functions.push_back(std::move(function));
  return true;
}

bool Parser::parseDirective() {
  bool external = false;
  while (lexer.token().is(".visible") || lexer.token().is(".extern") || lexer.token().is(".weak")) {
    external |= lexer.token().is(".extern");
    lexer.advance();
  }
  llvm::StringRef word = lexer.token().text;
  if (word == ".entry" || word == ".func")
    return parseFunction(external);
  if (word == ".global" || word == ".const" || word == ".shared")
    return parseDeclarations(external, module.variables);
  if (word == ".version" || word == ".target" || word == ".address_size") {
    lexer.advance();
    (word == ".version" ? module.version : word == ".target" ? module.target : addressSize) = lexer.token().text;
    lexer.skipLine();
    return true;
  }
  if (word == ".file") {
    lexer.skipLine();
    return true;
  }
  if (word == ".section") {
    while (lexer.token().kind != Token::End && !lexer.token().is("}"))
      lexer.advance();
    return expect("}");
  }
  return fail("unknown directive '" + word + "'");
}

llvm::Expected<ModuleText> Parser::parse() {
  while (error.empty() && lexer.token().kind != Token::End)
    parseDirective();
  if (error.empty() && module.version.empty())
    fail("expected .version");
  if (error.empty() && module.target.empty())
    fail("expected .target");
  if (error.empty() && addressSize != "64")
    fail("expected .address_size 64");
  if (!error.empty())
    return errorAtLine(errorLine, error);
  return std::move(module);
}

llvm::Expected<ModuleText> resid::ptx::parseText(llvm::StringRef text) { return Parser(text).parse(); }
