// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mov, with packing and unpacking of vectors, and cvta.

#include "test/ptx/Decoder.h"

using namespace resid::ptx;

namespace {

uint64_t copy(uint64_t a) { return a; }
bool copyPredicate(bool a) { return a; }

/// Slot 5 is the number of parts, the immediate the bits of each.
const Instruction *packParts(const Instruction *i, Thread &t) {
  unsigned width = i->immediate;
  uint64_t result = 0;
  for (unsigned part = 0; part < i->slots[5]; ++part)
    result |= (t.read<uint64_t>(i->slots[1 + part]) & ~(~uint64_t(0) << width)) << (part * width);
  t.write(i->slots[0], result);
  return i + 1;
}

const Instruction *unpackParts(const Instruction *i, Thread &t) {
  unsigned width = i->immediate;
  uint64_t value = t.read<uint64_t>(i->slots[4]);
  for (unsigned part = 0; part < i->slots[5]; ++part)
    t.write(i->slots[part], value >> (part * width) & ~(~uint64_t(0) << width));
  return i + 1;
}

void decodeParts(Decoder &d, Type type, const Operand &vector, bool packs) {
  unsigned parts = vector.parts.size(), width = 8 * bytesOf(type) / std::max(parts, 1u);
  if ((parts != 2 && parts != 4) || width < 8)
    return d.fail("expected 2 or 4 parts");
  uint32_t slots[4] = {};
  for (unsigned part = 0; part < parts; ++part)
    slots[part] = packs ? d.in(vector.parts[part]) : d.out(vector.parts[part]);
  if (packs)
    d.emit(packParts, {d.out(size_t(0)), slots[0], slots[1], slots[2], slots[3], parts}, width);
  else
    d.emit(unpackParts, {slots[0], slots[1], slots[2], slots[3], d.in(1), parts}, width);
}

void decodeMov(Decoder &d) {
  auto type = d.takeType();
  if (!type || !d.hasOperands(2))
    return type ? void() : d.fail("unknown type");
  for (unsigned index : {0, 1})
    if (const Operand &operand = d.statement().operands[index]; operand.kind == Operand::Vector)
      return decodeParts(d, *type, operand, index == 1);
  d.emitPure(type == Type::Pred ? pure<copyPredicate> : pure<copy>);
}

uint64_t enterWindow(uint64_t address) { return address + kSharedWindow; }
uint64_t leaveWindow(uint64_t address) { return address - kSharedWindow; }

/// Global and constant addresses are generic ones already.
void decodeCvta(Decoder &d) {
  bool leaves = d.take("to");
  llvm::StringRef space = d.takeAny({"global", "const", "shared", "shared::cta"});
  auto type = d.takeType();
  if (space.empty() || !type || bytesOf(*type) != 8)
    return d.fail("unknown instruction");
  if (!space.starts_with("shared"))
    return d.emitPure(pure<copy>);
  d.emitPure(leaves ? pure<leaveWindow> : pure<enterWindow>);
}

} // namespace

void resid::ptx::addMoveRules(Rules &rules) {
  rules.any["mov"] = decodeMov;
  rules.any["cvta"] = decodeCvta;
}
