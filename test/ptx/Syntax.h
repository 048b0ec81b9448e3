// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PTX text as a tree. Owns the tree and the parser's interface. Does not own what instructions mean.
// All StringRefs point into the text, which must outlive the tree.

#pragma once

#include "test/ptx/Types.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace resid::ptx {

/// "line 12: message"
llvm::Error errorAtLine(unsigned line, const llvm::Twine &message);

struct Operand {
  enum Kind { Register, Integer, Float, Symbol, Vector, Address, Pair, Discard };
  Kind kind = Discard;
  bool negated = false;       ///< `!%p`
  llvm::StringRef name;       ///< Of a register, a special register or a symbol; of an address, its base, or empty.
  uint64_t bits = 0;          ///< Of a number; of an address or a symbol, the offset.
  std::vector<Operand> parts; ///< Of a vector `{a, b}`, a pair `a|b`, or a list `(a, b)`.
};

struct Statement {
  unsigned line = 0;
  llvm::StringRef text;      ///< With the predicate, without the semicolon.
  llvm::StringRef mnemonic;  ///< "add.rn.f32"
  llvm::StringRef predicate; ///< Empty where there is none.
  bool predicateNegated = false;
  std::vector<Operand> operands;
};

/// A declaration of registers, parameters or memory.
struct Declaration {
  unsigned line = 0;
  llvm::StringRef space; ///< "reg", "param", "shared", "global", "const", "local"
  bool external = false;
  llvm::StringRef name;
  Type type = Type::B32;
  unsigned align = 0;
  uint64_t count = 1; ///< Elements of an array; of registers `%r<10>`, 10. 0 for `[]`.
  bool isArray = false, isRange = false;
  std::vector<Operand> initial; ///< Elements, numbers or symbols.

  uint64_t bytes() const { return count * bytesOf(type); }
  unsigned alignment() const { return align ? align : bytesOf(type); }
};

struct Item {
  enum Kind { Label, Instruction, Declare, Open, Close, Targets };
  Kind kind;
  llvm::StringRef label; ///< Of a label, or of a list of branch targets.
  Statement statement;
  Declaration declaration;
  std::vector<llvm::StringRef> targets;
};

struct FunctionText {
  unsigned line = 0;
  llvm::StringRef name;
  bool isKernel = false, hasBody = false;
  std::vector<Declaration> parameters, results;
  unsigned maxThreads = 0, requiredThreads = 0;
  std::vector<Item> body;
};

struct ModuleText {
  llvm::StringRef version, target;
  std::vector<Declaration> variables;
  std::vector<FunctionText> functions;
};

llvm::Expected<ModuleText> parseText(llvm::StringRef text);

} // namespace resid::ptx
