// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes what warps do with matrices. They stop there; Matrix.cpp goes on.

#include "test/ptx/Block.h"
#include "test/ptx/Decoder.h"
#include "test/ptx/Matrix.h"

using namespace resid::ptx;

namespace {

/// The slots of a list of registers in braces.
template <typename Find>
bool takeRegisters(Decoder &d, size_t operand, llvm::MutableArrayRef<uint32_t> slots, Find find) {
  const Operand &list = d.statement().operands[operand];
  llvm::ArrayRef<Operand> parts = list.kind == Operand::Vector ? llvm::ArrayRef<Operand>(list.parts) : list;
  if (parts.size() != slots.size()) {
    d.fail("expected " + llvm::Twine(slots.size()) + " registers but got " + llvm::Twine(parts.size()));
    return false;
  }
  for (auto [slot, part] : llvm::zip_equal(slots, parts))
    slot = find(part);
  return true;
}

/// ldmatrix.sync.aligned.m8n8.{x1, x2, x4}{.trans}.shared.b16 registers, [address];
void decodeLoadMatrix(Decoder &d) {
  auto count = d.takeOne<uint32_t>({{"x1", 1}, {"x2", 2}, {"x4", 4}});
  bool isTransposed = d.take("trans"), isShared = d.take("shared") || d.take("shared::cta");
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !count || !isShared || d.takeType() != Type::B16 ||
      !d.hasOperands(2))
    return d.fail("unknown instruction");
  const Operand &address = d.statement().operands[1];
  if (address.kind != Operand::Address)
    return d.fail("expected an address in brackets");
  uint32_t data[4] = {}, from = d.in(d.baseOf(address)), all = d.constant(0xffffffff);
  if (!takeRegisters(d, 0, llvm::MutableArrayRef<uint32_t>(data, *count), [&](const Operand &o) { return d.out(o); }))
    return;
  d.emit(waitForWarp, {data[0], data[1], data[2], data[3], from, all}, uint64_t(Together::LoadMatrix));
  d.emit(waitForWarp, {*count, isTransposed}, address.bits);
}

/// mma.sync.aligned.SHAPE.row.col.D.A.B.C d, a, b, c;
void decodeMultiply(Decoder &d) {
  bool isWide = d.take("m16n8k32"), isKnown = isWide || d.take("m16n8k16");
  if (!d.take("sync") || !d.take("aligned") || !isKnown || !d.take("row") || !d.take("col") || !d.hasOperands(4))
    return d.fail("unknown instruction");
  auto result = d.takeType(), a = d.takeType(), b = d.takeType(), start = d.takeType();
  std::optional<MatrixFactor> factor;
  if (!isWide && result == Type::F32 && a == Type::BF16)
    factor = MatrixFactor::BFloat;
  if (!isWide && result == Type::F32 && a == Type::F16)
    factor = MatrixFactor::Half;
  if (isWide && result == Type::S32 && a == Type::S8)
    factor = MatrixFactor::Byte;
  if (!factor || a != b || result != start)
    return d.fail("unknown type");
  uint32_t sums[4], ofA[4], ofB[2], starts[4], all = d.constant(0xffffffff);
  auto read = [&](const Operand &operand) { return d.in(operand); };
  if (!takeRegisters(d, 1, ofA, read) || !takeRegisters(d, 2, ofB, read) || !takeRegisters(d, 3, starts, read) ||
      !takeRegisters(d, 0, sums, [&](const Operand &operand) { return d.out(operand); }))
    return;
  d.emit(waitForWarp, {sums[0], sums[1], sums[2], sums[3], 0, all}, uint64_t(Together::MultiplyMatrix));
  d.emit(waitForWarp, {ofA[0], ofA[1], ofA[2], ofA[3], ofB[0], ofB[1]}, uint64_t(*factor));
  d.emit(waitForWarp, {starts[0], starts[1], starts[2], starts[3]});
}

} // namespace

void resid::ptx::addMatrixRules(Rules &rules) {
  rules.any["ldmatrix"] = decodeLoadMatrix;
  rules.any["mma"] = decodeMultiply;
}
