// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, calls and returns. The frame of a called function lies after that of its caller.

#include "test/ptx/Decoder.h"

using namespace resid::ptx;

namespace {

const Instruction *branch(const Instruction *i, Thread &) { return i + int64_t(i->immediate); }

template <bool Negated> const Instruction *branchIf(const Instruction *i, Thread &t) {
  return t.read<bool>(i->slots[0]) != Negated ? i + int64_t(i->immediate) : i + 1;
}

/// The targets follow, one branch each. The immediate is their number.
const Instruction *branchByIndex(const Instruction *i, Thread &t) {
  uint32_t index = t.read<uint32_t>(i->slots[0]);
  if (index >= i->immediate)
    return t.fail(i, "index " + llvm::Twine(index) + " of " + llvm::Twine(i->immediate) + " branch targets");
  return i + 1 + index;
}

const Instruction *exitThread(const Instruction *i, Thread &t) { return t.wait(i, State::Done); }
const Instruction *trap(const Instruction *i, Thread &t) { return t.fail(i, "trap"); }
const Instruction *nothing(const Instruction *i, Thread &) { return i + 1; }

const Instruction *returnFromCall(const Instruction *, Thread &t) {
  Return back = t.calls.back();
  t.calls.pop_back();
  t.registers = back.registers;
  return back.next;
}

const Function *calleeOf(const Instruction *i) { return reinterpret_cast<const Function *>(i->immediate); }

/// Slot 0 is the size of the caller's frame.
const Instruction *makeFrame(const Instruction *i, Thread &t) {
  const std::vector<uint64_t> &frame = calleeOf(i)->frame;
  uint64_t *registers = t.registers + i->slots[0];
  std::memcpy(registers, t.registers, kSpecials * sizeof(uint64_t));
  std::memcpy(registers + kSpecials, frame.data() + kSpecials, (frame.size() - kSpecials) * sizeof(uint64_t));
  return i + 1;
}

/// Copies slot 3 bytes between the frames: from offset 1 of the caller to offset 2 of the callee, or back.
template <bool IsResult> const Instruction *pass(const Instruction *i, Thread &t) {
  auto *caller = reinterpret_cast<uint8_t *>(t.registers) + i->slots[1];
  auto *callee = reinterpret_cast<uint8_t *>(t.registers + i->slots[0]) + i->slots[2];
  std::memcpy(IsResult ? caller : callee, IsResult ? callee : caller, i->slots[3]);
  return i + 1;
}

const Instruction *call(const Instruction *i, Thread &t) {
  t.calls.push_back({t.registers, i + 1});
  t.registers += i->slots[0];
  return calleeOf(i)->code.data();
}

void decodeBra(Decoder &d) {
  d.take("uni");
  const Statement &statement = d.statement();
  if (!d.hasOperands(1))
    return;
  llvm::StringRef label = statement.operands[0].name;
  if (statement.predicate.empty())
    return d.emitBranch(branch, label);
  Operand predicate;
  predicate.kind = Operand::Register;
  predicate.name = statement.predicate;
  d.emitBranch(statement.predicateNegated ? branchIf<true> : branchIf<false>, label, {d.in(predicate)});
}

void decodeBrx(Decoder &d) {
  d.take("uni");
  if (!d.take("idx") || !d.hasOperands(2))
    return d.fail("unknown instruction");
  uint32_t index = d.in(size_t(0));
  size_t at = d.decoded().code.size();
  d.emit(branchByIndex, {index});
  d.emitTargets(d.statement().operands[1].name, branch);
  d.setImmediate(at, d.decoded().code.size() - at - 1);
}

/// Of an instruction without operands.
template <Handler Run> void decodeAlone(Decoder &d) {
  if (d.hasOperands(0))
    d.emit(Run, {});
}

void decodeExit(Decoder &d) {
  decodeAlone<exitThread>(d);
  d.endBlock();
}

void decodeRet(Decoder &d) {
  d.take("uni");
  if (d.decoded().isKernel)
    return decodeExit(d);
  decodeAlone<returnFromCall>(d);
  d.endBlock();
}

/// Orders memory, but no other thread waits for it. So it makes no race good.
void decodeFence(Decoder &d) {
  d.takeAny({"sc", "acq_rel"});
  d.takeAny({"cta", "gpu", "gl", "sys"});
  decodeAlone<nothing>(d);
}

/// Brings memory nearer, and changes nothing that a thread could see. An address that there is not is no mistake.
void decodePrefetch(Decoder &d) {
  d.take("global");
  d.takeAny({"L1", "L2"});
  if (d.hasOperands(1))
    d.emit(nothing, {});
}

void passAll(Decoder &d, const Operand *list, llvm::ArrayRef<Parameter> parameters, bool isResult) {
  size_t given = list ? list->parts.size() : 0;
  if (given != parameters.size())
    return d.fail("expected " + llvm::Twine(parameters.size()) + (isResult ? " results" : " arguments") + " but got " +
                  llvm::Twine(given));
  for (size_t index = 0; index < given; ++index) {
    const ParameterStorage *storage = d.findParameter(list->parts[index].name);
    if (!storage || storage->inBlock || storage->bytes != parameters[index].bytes)
      return d.fail("'" + list->parts[index].name + "' does not fit the parameter");
    d.emit(isResult ? pass<true> : pass<false>, {0, storage->offset, parameters[index].offset, storage->bytes});
    d.needFrameSize(0);
  }
}

/// call (results), function, (arguments), where both lists may be missing.
void decodeCall(Decoder &d) {
  d.take("uni");
  llvm::ArrayRef<Operand> operands = d.statement().operands;
  const Operand *results = nullptr, *arguments = nullptr;
  if (!operands.empty() && operands.front().kind == Operand::Vector) {
    results = &operands.front();
    operands = operands.drop_front();
  }
  if (operands.empty() || operands.size() > 2 || operands[0].kind != Operand::Symbol)
    return d.fail("only calls of functions by name are known");
  if (operands.size() == 2)
    arguments = &operands[1];
  const Function *callee = d.findFunction(operands[0].name);
  if (!callee)
    return d.fail("unknown function '" + operands[0].name + "'");
  auto address = reinterpret_cast<uint64_t>(callee);
  d.addCallee(callee);
  d.emit(makeFrame, {0}, address);
  d.needFrameSize(0);
  passAll(d, arguments, callee->parameters, false);
  d.emit(call, {0}, address);
  d.needFrameSize(0);
  passAll(d, results, callee->results, true);
}

} // namespace

void resid::ptx::addControlRules(Rules &rules) {
  rules.any["bra"] = decodeBra;
  rules.any["brx"] = decodeBrx;
  rules.any["ret"] = decodeRet;
  rules.any["exit"] = decodeExit;
  rules.any["trap"] = decodeAlone<trap>;
  rules.any["call"] = decodeCall;
  rules.any["membar"] = decodeFence;
  rules.any["fence"] = decodeFence;
  rules.any["prefetch"] = decodePrefetch;
}
