// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the items of a function in order. Instructions are counted by basic block, which costs less than one by one:
// each block begins with an instruction that counts. A predicate becomes an instruction that skips the next one.

#include "test/ptx/Decoder.h"

#include "llvm/ADT/STLExtras.h"

using namespace resid::ptx;

static const Instruction *enterBlock(const Instruction *i, Thread &t) {
  ++t.counters[i->immediate];
  if (LLVM_UNLIKELY((*t.fuel)-- == 0))
    return t.fail(i, "the kernel does not end");
  return i + 1;
}

template <bool Negated> static const Instruction *skipUnless(const Instruction *i, Thread &t) {
  if (t.read<bool>(i->slots[0]) != Negated)
    return i + 1;
  ++t.counters[i->immediate];
  return i + i->slots[1];
}

static const Instruction *reachEnd(const Instruction *i, Thread &t) {
  return t.fail(i, "control reaches the end of the function");
}

void Decoder::startBlock() {
  block = names.module.counters++;
  emit(enterBlock, {}, block);
  needsBlock = false;
}

Rule Decoder::findRule() const {
  auto *type = llvm::find_if(modifiers, [](llvm::StringRef modifier) { return parseType(modifier).has_value(); });
  Rule ofFloats = names.rules.ofFloats.lookup(opcodeName);
  return ofFloats && type != modifiers.end() && isFloat(*parseType(*type)) ? ofFloats
                                                                           : names.rules.any.lookup(opcodeName);
}

void Decoder::decodeStatement(const Statement &statement) {
  current = &statement;
  modifiers.clear();
  statement.mnemonic.split(modifiers, '.');
  opcodeName = modifiers.front();
  modifiers.erase(modifiers.begin());
  function.lines.push_back({statement.line, statement.text, statement.mnemonic, block, ~0u});
  if (needsBlock) {
    startBlock();
    function.lines.back().entered = block;
  }
  if (has("approx") || has("full"))
    return fail("an approximation");
  if (has("ftz"))
    return fail("subnormals are flushed");
  Rule rule = findRule();
  if (!rule)
    return fail("unknown instruction");

  // A branch looks at its predicate itself.
  bool isGuarded = !statement.predicate.empty() && opcodeName != "bra";
  size_t guard = function.code.size();
  if (isGuarded) {
    function.lines.back().skipped = names.module.counters++;
    uint32_t predicate = lookUp(statement.predicate);
    emit(statement.predicateNegated ? skipUnless<true> : skipUnless<false>, {predicate, 0},
         function.lines.back().skipped);
  }
  rule(*this);
  if (!modifiers.empty())
    fail("unknown modifier '." + modifiers.front() + "'");
  if (isGuarded)
    function.code[guard].slots[1] = function.code.size() - guard;
}

llvm::Error Decoder::decode() {
  for (const Item &item : text.body)
    if (item.kind == Item::Targets)
      targetLists[item.label] = &item;
  for (const Item &item : text.body) {
    if (!error.empty())
      break;
    switch (item.kind) {
    case Item::Label:
      // The block begins with the instruction after the label, wherever that is.
      needsBlock = true;
      if (!labels.try_emplace(item.label, function.code.size()).second)
        failAt(item.statement.line, "label '" + item.label + "' twice");
      break;
    case Item::Instruction:
      decodeStatement(item.statement);
      break;
    case Item::Declare:
      declare(item.declaration);
      break;
    case Item::Open:
      scopes.emplace_back();
      break;
    case Item::Close:
      scopes.pop_back();
      break;
    case Item::Targets:
      break;
    }
  }
  if (error.empty())
    finish();
  if (!error.empty())
    return errorAtLine(errorLine, error);
  return llvm::Error::success();
}

/// What is known at the end only: where labels are, and how large the frame is.
void Decoder::finish() {
  if (function.lines.empty())
    function.lines.push_back({text.line, text.name, "", 0, ~0u});
  emit(reachEnd, {});
  for (const Fixup &fixup : fixups) {
    auto label = labels.find(fixup.label);
    if (label == labels.end())
      return failAt(fixup.line, "unknown label '" + fixup.label + "'");
    function.code[fixup.instruction].immediate = int64_t(label->second) - int64_t(fixup.instruction);
  }
  for (auto [instruction, slot] : frameSizes)
    function.code[instruction].slots[slot] = function.frame.size();
}
