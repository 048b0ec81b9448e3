// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which a function is decoded, and what rules ask about it: names, slots and labels.

#include "test/ptx/Decoder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

Decoder::Decoder(ModuleNames &names, Function &function, const FunctionText &text)
    : names(names), function(function), text(text), scopes(1) {
  function.frame.assign(kSpecials, kUnset);
  declareParameters();
}

void Decoder::failAt(unsigned line, const llvm::Twine &message) {
  if (!error.empty())
    return;
  error = message.str();
  errorLine = line;
}

void Decoder::fail(const llvm::Twine &message) { failAt(current->line, message + ": " + current->text); }

/// Those of a kernel lie in its block, where a launch gives them. The callers of other functions write into its frame.
void Decoder::declareParameters() {
  unsigned offset = 0;
  for (const Declaration &declared : text.parameters) {
    offset = llvm::alignTo(offset, declared.alignment());
    unsigned bytes = declared.bytes();
    if (function.isKernel) {
      function.parameters.push_back({offset, bytes});
      scopes[0].parameters[declared.name] = {true, offset, bytes};
    } else {
      declare(declared);
      auto storage = scopes[0].parameters[declared.name];
      function.parameters.push_back({storage.offset, bytes});
    }
    offset += bytes;
  }
  function.parameterBytes = offset;
  for (const Declaration &declared : text.results) {
    declare(declared);
    function.results.push_back({scopes[0].parameters[declared.name].offset, unsigned(declared.bytes())});
  }
}

void Decoder::declare(const Declaration &declared) {
  Scope &scope = scopes.back();
  if (declared.space == "reg") {
    if (declared.isRange)
      scope.ranges[declared.name] = declared.count;
    else
      scope.registers[declared.name] = slot(kUnset);
  } else if (declared.space == "param") {
    unsigned slots = llvm::divideCeil(declared.bytes(), 8);
    scope.parameters[declared.name] = {false, unsigned(8 * function.frame.size()), unsigned(declared.bytes())};
    function.frame.insert(function.frame.end(), slots, kUnset);
  } else if (declared.space == "shared" && function.isKernel && !declared.external) {
    function.sharedBytes = llvm::alignTo(function.sharedBytes, declared.alignment());
    scope.shared[declared.name] = {kSharedBase + function.sharedBytes, Space::Shared};
    function.sharedBytes += declared.bytes();
  } else {
    failAt(declared.line,
           (declared.space == "local" ? "local memory: .local " : "unsupported declaration of ") + declared.name);
  }
}

bool Decoder::has(llvm::StringRef modifier) const { return llvm::is_contained(modifiers, modifier); }

bool Decoder::take(llvm::StringRef modifier) {
  auto *found = llvm::find(modifiers, modifier);
  if (found == modifiers.end())
    return false;
  modifiers.erase(found);
  return true;
}

llvm::StringRef Decoder::takeAny(std::initializer_list<llvm::StringRef> candidates) {
  for (llvm::StringRef candidate : candidates)
    if (take(candidate))
      return candidate;
  return "";
}

std::optional<Type> Decoder::takeType() {
  for (llvm::StringRef modifier : modifiers)
    if (std::optional<Type> type = parseType(modifier)) {
      take(modifier);
      return type;
    }
  return std::nullopt;
}

bool Decoder::hasOperands(size_t count) {
  if (current->operands.size() == count)
    return true;
  fail("expected " + llvm::Twine(count) + " operands but got " + llvm::Twine(current->operands.size()));
  return false;
}

uint32_t Decoder::constant(uint64_t value) {
  auto [entry, isNew] = constants.try_emplace(value, 0);
  if (isNew)
    entry->second = slot(value);
  return entry->second;
}

static std::optional<unsigned> findSpecial(llvm::StringRef name) {
  static const char *const spellings[] = {"tid.x",       "tid.y",       "tid.z",       "ntid.x",      "ntid.y",
                                          "ntid.z",      "ctaid.x",     "ctaid.y",     "ctaid.z",     "nctaid.x",
                                          "nctaid.y",    "nctaid.z",    "laneid",      "warpid",      "nwarpid",
                                          "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"};
  for (auto [index, spelling] : llvm::enumerate(spellings))
    if (name == spelling)
      return index;
  return std::nullopt;
}

/// The slot of a register, from the innermost scope out. Those of a range get one when they are first named.
std::optional<uint32_t> Decoder::findRegister(llvm::StringRef name) {
  llvm::StringRef prefix = name.rtrim("0123456789");
  unsigned number = 0;
  bool hasNumber = !name.drop_front(prefix.size()).getAsInteger(10, number);
  for (Scope &scope : llvm::reverse(scopes)) {
    if (auto found = scope.registers.find(name); found != scope.registers.end())
      return found->second;
    if (auto range = scope.ranges.find(prefix); hasNumber && range != scope.ranges.end() && number < range->second)
      return scope.registers[name] = slot(kUnset);
  }
  return std::nullopt;
}

uint32_t Decoder::lookUp(llvm::StringRef name) {
  if (auto found = findRegister(name))
    return *found;
  if (auto special = name.starts_with("%") ? findSpecial(name.drop_front()) : std::nullopt)
    return *special;
  fail("unknown register '" + name + "'");
  return 0;
}

static bool isNotTrue(bool value) { return !value; }
static uint64_t sum(uint64_t a, uint64_t b) { return a + b; }

uint32_t Decoder::in(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Integer:
  case Operand::Float:
    return constant(operand.bits);
  case Operand::Register: {
    uint32_t found = lookUp(operand.name);
    if (!operand.negated)
      return found;
    uint32_t negated = temporary();
    emit(pure<isNotTrue>.run, {negated, found});
    return negated;
  }
  case Operand::Symbol: {
    // A register may have a name without a percent sign.
    if (auto found = findRegister(operand.name))
      return *found;
    auto variable = findVariable(operand.name);
    if (!variable)
      break;
    if (variable->value)
      return constant(variable->value + operand.bits);
    if (!operand.bits)
      return DynamicShared;
    uint32_t address = temporary();
    emit(pure<sum>.run, {address, DynamicShared, constant(operand.bits)});
    return address;
  }
  default:
    fail("expected a register or a number");
    return 0;
  }
  fail("unknown symbol '" + operand.name + "'");
  return 0;
}

Operand Decoder::baseOf(const Operand &address) {
  Operand base;
  base.kind = address.name.empty()            ? Operand::Integer
              : address.name.starts_with("%") ? Operand::Register
                                              : Operand::Symbol;
  base.name = address.name;
  return base;
}

uint32_t Decoder::out(const Operand &operand) {
  if (operand.kind == Operand::Discard)
    return temporary();
  bool isName = operand.kind == Operand::Register || operand.kind == Operand::Symbol;
  if (isName && !operand.negated)
    return lookUp(operand.name);
  fail("expected a register as the result");
  return 0;
}

const ParameterStorage *Decoder::findParameter(llvm::StringRef name) {
  for (Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.parameters.find(name); found != scope.parameters.end())
      return &found->second;
  return nullptr;
}

std::optional<ModuleNames::Address> Decoder::findVariable(llvm::StringRef name) {
  for (Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.shared.find(name); found != scope.shared.end())
      return found->second;
  if (auto found = names.variables.find(name); found != names.variables.end())
    return found->second;
  return std::nullopt;
}

void Decoder::emit(Handler run, std::initializer_list<uint32_t> slots, uint64_t immediate) {
  Instruction instruction{run, {}, immediate};
  llvm::copy(slots, instruction.slots.begin());
  function.code.push_back(instruction);
  function.lineOf.push_back(function.lines.size() - 1);
}

void Decoder::emitPure(const Pure &instruction, uint64_t immediate) {
  if (!instruction.run)
    return fail("unknown instruction");
  if (!hasOperands(instruction.operands))
    return;
  uint32_t slots[5] = {};
  for (size_t index = 1; index < instruction.operands; ++index)
    slots[index] = in(index);
  slots[0] = out(size_t(0));
  emit(instruction.run, {slots[0], slots[1], slots[2], slots[3], slots[4]}, immediate);
}

void Decoder::emitBranch(Handler run, llvm::StringRef label, std::initializer_list<uint32_t> slots) {
  emit(run, slots);
  fixups.push_back({function.code.size() - 1, label, current->line});
  needsBlock = true;
}

void Decoder::emitTargets(llvm::StringRef list, Handler run) {
  auto found = targetLists.find(list);
  if (found == targetLists.end())
    return fail("unknown list of targets '" + list + "'");
  for (llvm::StringRef label : found->second->targets)
    emitBranch(run, label);
}
