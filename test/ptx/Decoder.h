// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the instructions of a function into handlers and slots. A rule decodes the instructions of one opcode: it takes
// their modifiers, names a handler, and emits. Modifiers that a rule leaves are unknown ones, and an error.

#pragma once

#include "test/ptx/Code.h"
#include "test/ptx/Syntax.h"
#include "llvm/ADT/Twine.h"
#include <initializer_list>
#include <optional>
#include <type_traits>

namespace resid::ptx {

class Decoder;
using Rule = void (*)(Decoder &);
/// By opcode. Some opcodes have another rule where the first type of the instruction is one of floats.
struct Rules {
  llvm::StringMap<Rule> any, ofFloats;
};

void addIntegerRules(Rules &rules);
void addBitRules(Rules &rules);
void addCompareRules(Rules &rules);
void addFloatRules(Rules &rules);
void addConvertRules(Rules &rules);
void addMoveRules(Rules &rules);
void addMemoryRules(Rules &rules);
void addControlRules(Rules &rules);
void addWarpRules(Rules &rules);
void addAsyncRules(Rules &rules);
void addMatrixRules(Rules &rules);

/// What the functions of a module know of each other.
struct ModuleNames {
  ModuleCode &module;
  Rules rules;
  struct Address {
    uint64_t value;
    Space space;
  };
  llvm::StringMap<Address> variables;
  llvm::StringMap<Function *> functions;
  uint64_t sharedBytes = 0; ///< Of variables of the module.
};

/// A parameter of the function, or one that it makes for a call.
struct ParameterStorage {
  bool inBlock = false; ///< In a kernel's block of parameters, otherwise in the frame.
  unsigned offset = 0, bytes = 0;
};

class Decoder {
public:
  Decoder(ModuleNames &names, Function &function, const FunctionText &text);
  llvm::Error decode();

  // For rules: modifiers.
  bool take(llvm::StringRef modifier);
  /// The first of these modifiers that is there, or an empty string.
  llvm::StringRef takeAny(std::initializer_list<llvm::StringRef> modifiers);
  /// What the first of these modifiers that is there stands for.
  template <typename T>
  std::optional<T> takeOne(std::initializer_list<std::pair<llvm::StringRef, std::type_identity_t<T>>> known) {
    for (const auto &[modifier, value] : known)
      if (take(modifier))
        return value;
    return std::nullopt;
  }
  bool has(llvm::StringRef modifier) const;
  /// The first type that is left.
  std::optional<Type> takeType();
  llvm::StringRef opcode() const { return opcodeName; }

  // For rules: operands. They return 0 after an error.
  const Statement &statement() const { return *current; }
  bool hasOperands(size_t count);
  uint32_t in(const Operand &operand);
  uint32_t in(size_t index) { return in(current->operands[index]); }
  uint32_t out(const Operand &operand);
  uint32_t out(size_t index) { return out(current->operands[index]); }
  /// Of an address in brackets, without its offset.
  Operand baseOf(const Operand &address);
  uint32_t constant(uint64_t value);
  uint32_t temporary() { return slot(kUnset); }
  const ParameterStorage *findParameter(llvm::StringRef name);
  std::optional<ModuleNames::Address> findVariable(llvm::StringRef name);
  const Function *findFunction(llvm::StringRef name) const { return names.functions.lookup(name); }
  ModuleNames &moduleNames() { return names; }

  // For rules: results.
  void emit(Handler run, std::initializer_list<uint32_t> slots, uint64_t immediate = 0);
  /// Emits an instruction of all operands, the first of which is the result. A missing handler is an unknown type.
  void emitPure(const Pure &instruction, uint64_t immediate = 0);
  /// The handler's last slot becomes the size of the frame, which is known at the end.
  void needFrameSize(size_t slot) { frameSizes.push_back({function.code.size() - 1, slot}); }
  void emitBranch(Handler run, llvm::StringRef label, std::initializer_list<uint32_t> slots = {});
  /// Emits a list of targets: one instruction each, of which only the address counts.
  void emitTargets(llvm::StringRef list, Handler run);
  void setImmediate(size_t instruction, uint64_t value) { function.code[instruction].immediate = value; }
  /// What follows is counted on its own, since threads may have left.
  void endBlock() { needsBlock = true; }
  void addCallee(const Function *callee) { function.callees.push_back(callee); }
  const Function &decoded() const { return function; }
  void fail(const llvm::Twine &message);
  void failAt(unsigned line, const llvm::Twine &message);

private:
  static constexpr uint64_t kUnset = 0xdeadbeefdeadbeef;
  uint32_t slot(uint64_t initial) {
    function.frame.push_back(initial);
    return function.frame.size() - 1;
  }
  void declareParameters();
  void declare(const Declaration &declaration);
  void decodeStatement(const Statement &statement);
  Rule findRule() const;
  void startBlock();
  void finish();
  std::optional<uint32_t> findRegister(llvm::StringRef name);
  uint32_t lookUp(llvm::StringRef name);

  struct Scope {
    llvm::StringMap<uint32_t> registers;
    llvm::StringMap<unsigned> ranges; ///< Of names like `%r<10>`: how many.
    llvm::StringMap<ParameterStorage> parameters;
    llvm::StringMap<ModuleNames::Address> shared;
  };

  ModuleNames &names;
  Function &function;
  const FunctionText &text;
  std::vector<Scope> scopes;
  llvm::StringMap<uint32_t> labels;
  llvm::StringMap<const Item *> targetLists;
  struct Fixup {
    size_t instruction;
    llvm::StringRef label;
    unsigned line;
  };
  std::vector<Fixup> fixups;
  std::vector<std::pair<size_t, size_t>> frameSizes;
  std::map<uint64_t, uint32_t> constants;
  const Statement *current = nullptr;
  llvm::StringRef opcodeName;
  llvm::SmallVector<llvm::StringRef> modifiers;
  uint32_t block = 0;
  bool needsBlock = true;
  std::string error;
  unsigned errorLine = 0;
};

/// Decodes all functions of a text.
llvm::Error decodeModule(const ModuleText &text, ModuleCode &module);

} // namespace resid::ptx
