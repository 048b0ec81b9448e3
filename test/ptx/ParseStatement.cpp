// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the bodies of functions: labels, scopes, instructions and their operands.

#include "test/ptx/Parser.h"

using namespace resid::ptx;

/// A register, a number, or a symbol with an offset.
bool Parser::parseScalar(Operand &operand) {
  const Token token = lexer.token();
  if (token.is("-")) {
    operand.kind = Operand::Integer;
    return parseInteger(operand.bits);
  }
  if (token.kind == Token::Integer || token.kind == Token::Float) {
    operand.kind = token.kind == Token::Integer ? Operand::Integer : Operand::Float;
    operand.bits = token.bits;
    lexer.advance();
    return true;
  }
  if (!parseName(operand.name))
    return false;
  operand.kind = operand.name == "_"             ? Operand::Discard
                 : operand.name.starts_with("%") ? Operand::Register
                                                 : Operand::Symbol;
  if (operand.kind == Operand::Symbol && lexer.consume("+"))
    return parseInteger(operand.bits);
  return true;
}

bool Parser::parseList(llvm::StringRef close, std::vector<Operand> &parts) {
  while (!lexer.token().is(close)) {
    Operand part;
    if (!parseOperand(part))
      return false;
    parts.push_back(part);
    if (!lexer.consume(","))
      break;
  }
  return expect(close);
}

bool Parser::parseOperand(Operand &operand) {
  // The operands of a call are in parentheses.
  if (bool isVector = lexer.consume("{"); isVector || lexer.consume("(")) {
    operand.kind = Operand::Vector;
    return parseList(isVector ? "}" : ")", operand.parts);
  }
  if (lexer.consume("[")) {
    operand.kind = Operand::Address;
    Operand base;
    if (!parseScalar(base))
      return false;
    operand.name = base.name;
    operand.bits = base.bits;
    // A symbol has taken its offset itself.
    if (lexer.consume("+")) {
      uint64_t offset = 0;
      if (!parseInteger(offset))
        return false;
      operand.bits += offset;
    }
    return expect("]");
  }
  operand.negated = lexer.consume("!");
  if (!parseScalar(operand))
    return false;
  if (lexer.consume("|")) {
    Operand first = operand, second;
    if (!parseScalar(second))
      return false;
    operand = Operand();
    operand.kind = Operand::Pair;
    operand.parts = {first, second};
  }
  return true;
}

bool Parser::parseStatement(std::vector<Item> &body) {
  const Token first = lexer.token();
  Item item{Item::Instruction, {}, {}, {}, {}};
  Statement &statement = item.statement;
  statement.line = first.line;
  if (lexer.consume("@")) {
    statement.predicateNegated = lexer.consume("!");
    if (!parseName(statement.predicate))
      return false;
  }
  if (!parseName(statement.mnemonic))
    return false;
  while (!lexer.token().is(";")) {
    Operand operand;
    if (!parseOperand(operand))
      return false;
    statement.operands.push_back(operand);
    if (!lexer.consume(","))
      break;
  }
  statement.text = lexer.textSince(first);
  body.push_back(std::move(item));
  return expect(";");
}

/// What follows `label:`. A list of branch targets has its label before it, and all else is on its own.
bool Parser::parseLabelled(llvm::StringRef label, std::vector<Item> &body) {
  Item item{Item::Label, label, {}, {}, {}};
  item.statement.line = lexer.token().line;
  if (lexer.consume(".branchtargets")) {
    item.kind = Item::Targets;
    do {
      llvm::StringRef target;
      if (!parseName(target))
        return false;
      item.targets.push_back(target);
    } while (lexer.consume(","));
    if (!expect(";"))
      return false;
  }
  body.push_back(std::move(item));
  return true;
}

bool Parser::parseBody(std::vector<Item> &body) {
  unsigned depth = 1;
  while (depth > 0) {
    const Token token = lexer.token();
    if (token.kind == Token::End)
      return fail("expected '}' before the end of the text");
    if (token.is("{") || token.is("}")) {
      depth += token.is("{") ? 1 : -1;
      if (depth)
        body.push_back({token.is("{") ? Item::Open : Item::Close, {}, {}, {}, {}});
      lexer.advance();
    } else if (token.is(".loc")) {
      lexer.skipLine();
    } else if (token.is(".pragma")) {
      while (lexer.token().kind != Token::End && !lexer.token().is(";"))
        lexer.advance();
      lexer.advance();
    } else if (token.is(".reg") || token.is(".param") || token.is(".shared") || token.is(".local")) {
      std::vector<Declaration> declarations;
      if (!parseDeclarations(false, declarations))
        return false;
      for (Declaration &declaration : declarations)
        body.push_back({Item::Declare, {}, {}, std::move(declaration), {}});
    } else if (token.kind == Token::Word && token.text.starts_with(".")) {
      return fail("unknown directive '" + token.text + "'");
    } else if (token.is("@")) {
      if (!parseStatement(body))
        return false;
    } else {
      // A label or an instruction: a colon tells.
      Lexer before = lexer;
      llvm::StringRef label;
      if (!parseName(label))
        return false;
      if (lexer.consume(":")) {
        if (!parseLabelled(label, body))
          return false;
      } else {
        lexer = before;
        if (!parseStatement(body))
          return false;
      }
    }
  }
  return true;
}
