// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each scalar op of arith and math computes. Owns no control flow and no tensors.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "reference/Bounds.h"
#include "reference/FloatFunctions.h"
#include "reference/ScalarProgram.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>

namespace mlir::resid::reference {

namespace {

//===------------------------------------------- floats -----------------------------------------------------------===//
// f16, bf16 and f32 are computed in double and rounded: for + - * / and sqrt the double rounding is innocuous, since
// double has more than twice their precision and two bits more.

void runUnary(const Instruction &in, Machine &m) {
  m.registers[in.result].number = in.round(in.unary(m.registers[in.operands[0]].number));
}
void runBinary(const Instruction &in, Machine &m) {
  m.registers[in.result].number =
      in.round(in.binary(m.registers[in.operands[0]].number, m.registers[in.operands[1]].number));
}
void runClassify(const Instruction &in, Machine &m) {
  m.registers[in.result].integer = in.classify(m.registers[in.operands[0]].number);
}
void runPowerOfInteger(const Instruction &in, Machine &m) {
  double base = m.registers[in.operands[0]].number;
  int64_t power = m.registers[in.operands[1]].integer;
  // As a float, an exponent past 2^53 may be even where the integer is odd.
  double result = std::pow(std::fabs(base), static_cast<double>(power));
  m.registers[in.result].number = in.round(power % 2 != 0 ? std::copysign(result, base) : result);
}
void runFma(const Instruction &in, Machine &m) {
  double a = m.registers[in.operands[0]].number, b = m.registers[in.operands[1]].number;
  double c = m.registers[in.operands[2]].number;
  // A double fma rounded to f32 would round twice; one of f16 or bf16 is computed in f32 by definition.
  if (in.rounds && in.kind != FloatKind::F64)
    m.registers[in.result].number =
        in.round(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  else
    m.registers[in.result].number = in.round(std::fma(a, b, c));
}

void runClamp(const Instruction &in, Machine &m) {
  double raised = maximum(m.registers[in.operands[0]].number, m.registers[in.operands[1]].number);
  m.registers[in.result].number = in.round(minimum(raised, m.registers[in.operands[2]].number));
}

void runCompareFloats(const Instruction &in, Machine &m) {
  llvm::APFloat a(m.registers[in.operands[0]].number), b(m.registers[in.operands[1]].number);
  m.registers[in.result].integer = arith::applyCmpPredicate(static_cast<arith::CmpFPredicate>(in.immediate), a, b);
}

//===------------------------------------------- integers ---------------------------------------------------------===//

uint64_t toUnsigned(int64_t value, unsigned width) {
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}
/// The signed reading; an i1 is stored as 0 or 1 and read as 0 or -1.
int64_t toSigned(int64_t value, unsigned width) { return width == 1 ? -value : value; }
int64_t wrap(int64_t value, unsigned width) {
  return width == 1 ? value & 1 : width == 64 ? value : llvm::SignExtend64(static_cast<uint64_t>(value), width);
}
/// -2^63 / -1 and its like overflow.
bool divides(int64_t a, int64_t b, const char *&fault) {
  if (b == 0)
    fault = "division by zero";
  else if (b == -1 && a == std::numeric_limits<int64_t>::min())
    fault = "overflow in a division";
  return !fault;
}
void runInteger(const Instruction &in, Machine &m) {
  int64_t value =
      in.integer(m.registers[in.operands[0]].integer, m.registers[in.operands[1]].integer, in.operandWidth, m.fault);
  m.registers[in.result].integer = wrap(value, in.resultWidth);
}

void runCompareIntegers(const Instruction &in, Machine &m) {
  llvm::APInt a(in.operandWidth, toUnsigned(m.registers[in.operands[0]].integer, in.operandWidth));
  llvm::APInt b(in.operandWidth, toUnsigned(m.registers[in.operands[1]].integer, in.operandWidth));
  m.registers[in.result].integer = arith::applyCmpPredicate(static_cast<arith::CmpIPredicate>(in.immediate), a, b);
}

//===------------------------------------------- casts and moves --------------------------------------------------===//

void runSelect(const Instruction &in, Machine &m) {
  m.registers[in.result] = m.registers[in.operands[m.registers[in.operands[0]].integer ? 1 : 2]];
}
void runRound(const Instruction &in, Machine &m) {
  m.registers[in.result].number = in.round(m.registers[in.operands[0]].number);
}
/// From 64 bits straight to f32, since by way of double it would round twice; f16 and bf16 go through f32 by
/// definition.
template <typename Integer> double toFloat(const Instruction &in, Integer value) {
  bool isSingle = in.rounds && in.kind != FloatKind::F64;
  return in.round(isSingle ? static_cast<double>(static_cast<float>(value)) : static_cast<double>(value));
}
void runSignedToFloat(const Instruction &in, Machine &m) {
  m.registers[in.result].number = toFloat(in, toSigned(m.registers[in.operands[0]].integer, in.operandWidth));
}
void runUnsignedToFloat(const Instruction &in, Machine &m) {
  m.registers[in.result].number = toFloat(in, toUnsigned(m.registers[in.operands[0]].integer, in.operandWidth));
}
void runFloatToInteger(const Instruction &in, Machine &m) {
  double value = std::trunc(m.registers[in.operands[0]].number);
  bool isSigned = in.immediate;
  double limit = std::ldexp(1.0, static_cast<int>(in.resultWidth) - (isSigned ? 1 : 0));
  if (!(value < limit && value >= (isSigned ? -limit : 0.0))) {
    m.fault = "a float that its integer type cannot hold";
    return;
  }
  m.registers[in.result].integer =
      wrap(isSigned ? static_cast<int64_t>(value) : static_cast<int64_t>(static_cast<uint64_t>(value)), in.resultWidth);
}
void runIntegerCast(const Instruction &in, Machine &m) {
  int64_t value = m.registers[in.operands[0]].integer;
  value = in.immediate ? toSigned(value, in.operandWidth) : static_cast<int64_t>(toUnsigned(value, in.operandWidth));
  m.registers[in.result].integer = wrap(value, in.resultWidth);
}
void runFloatBits(const Instruction &in, Machine &m) {
  m.registers[in.result].integer =
      wrap(static_cast<int64_t>(encodeFloat(in.kind, m.registers[in.operands[0]].number)), in.resultWidth);
}
void runBitsToFloat(const Instruction &in, Machine &m) {
  m.registers[in.result].number =
      decodeFloat(in.kind, toUnsigned(m.registers[in.operands[0]].integer, in.operandWidth));
}
void runMove(const Instruction &in, Machine &m) { m.registers[in.result] = m.registers[in.operands[0]]; }
void runLoopIndex(const Instruction &in, Machine &m) { m.registers[in.result].integer = m.loopIndices[in.immediate]; }

//===------------------------------------------- selection --------------------------------------------------------===//

unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

using Integer = int64_t (*)(int64_t, int64_t, unsigned, const char *&);

Integer getIntegerArithmetic(Operation *op) {
#define RESID_INTEGER(expression)                                                                                      \
  [](int64_t a, int64_t b, unsigned width, const char *&fault) -> int64_t { return expression; }
  return llvm::TypeSwitch<Operation *, Integer>(op)
      .Case<arith::AddIOp, index::AddOp>([](auto) { return RESID_INTEGER(int64_t(uint64_t(a) + uint64_t(b))); })
      .Case<arith::SubIOp, index::SubOp>([](auto) { return RESID_INTEGER(int64_t(uint64_t(a) - uint64_t(b))); })
      .Case<arith::MulIOp, index::MulOp>([](auto) { return RESID_INTEGER(int64_t(uint64_t(a) * uint64_t(b))); })
      .Case<arith::AndIOp, index::AndOp>([](auto) { return RESID_INTEGER(a & b); })
      .Case<arith::OrIOp, index::OrOp>([](auto) { return RESID_INTEGER(a | b); })
      .Case<arith::XOrIOp, index::XOrOp>([](auto) { return RESID_INTEGER(a ^ b); })
      .Case<arith::MaxSIOp, index::MaxSOp>(
          [](auto) { return RESID_INTEGER(toSigned(a, width) > toSigned(b, width) ? a : b); })
      .Case<arith::MinSIOp, index::MinSOp>(
          [](auto) { return RESID_INTEGER(toSigned(a, width) < toSigned(b, width) ? a : b); })
      .Case<arith::MaxUIOp, index::MaxUOp>(
          [](auto) { return RESID_INTEGER(toUnsigned(a, width) > toUnsigned(b, width) ? a : b); })
      .Case<arith::MinUIOp, index::MinUOp>(
          [](auto) { return RESID_INTEGER(toUnsigned(a, width) < toUnsigned(b, width) ? a : b); })
      .Case<arith::DivSIOp, index::DivSOp>([](auto) { return RESID_INTEGER(divides(a, b, fault) ? a / b : 0); })
      .Case<arith::RemSIOp, index::RemSOp>([](auto) { return RESID_INTEGER(divides(a, b, fault) ? a % b : 0); })
      .Case<arith::FloorDivSIOp, index::FloorDivSOp>(
          [](auto) { return RESID_INTEGER(divides(a, b, fault) ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0); })
      .Case<arith::CeilDivSIOp, index::CeilDivSOp>(
          [](auto) { return RESID_INTEGER(divides(a, b, fault) ? a / b + (a % b != 0 && (a < 0) == (b < 0)) : 0); })
      .Case([](math::AbsIOp) { return RESID_INTEGER(toSigned(a, width) < 0 ? int64_t(0 - uint64_t(a)) : a); })
      .Case([](math::CountLeadingZerosOp) {
        return RESID_INTEGER(int64_t(llvm::countl_zero(toUnsigned(a, width))) - (64 - int64_t(width)));
      })
      .Case([](math::CountTrailingZerosOp) {
        return RESID_INTEGER(std::min<int64_t>(llvm::countr_zero(toUnsigned(a, width)), width));
      })
      .Case([](math::CtPopOp) { return RESID_INTEGER(llvm::popcount(toUnsigned(a, width))); })
      .Case<arith::DivUIOp, index::DivUOp>([](auto) {
        return RESID_INTEGER(divides(0, b, fault) ? int64_t(toUnsigned(a, width) / toUnsigned(b, width)) : 0);
      })
      .Case<arith::CeilDivUIOp, index::CeilDivUOp>([](auto) {
        return RESID_INTEGER(
            divides(0, b, fault) ? int64_t(llvm::divideCeil(toUnsigned(a, width), toUnsigned(b, width))) : 0);
      })
      .Case<arith::RemUIOp, index::RemUOp>([](auto) {
        return RESID_INTEGER(divides(0, b, fault) ? int64_t(toUnsigned(a, width) % toUnsigned(b, width)) : 0);
      })
      .Default(Integer(nullptr));
#undef RESID_INTEGER
}

/// The two results of arithmetic in twice the width: what the width holds, and what is beyond it.
Integer getExtended(Operation *op, unsigned number) {
#define RESID_EXTENDED(expression)                                                                                     \
  [](int64_t a, int64_t b, unsigned width, const char *&) -> int64_t {                                                 \
    llvm::APInt x(width, toUnsigned(a, width)), y(width, toUnsigned(b, width));                                        \
    return int64_t((expression).getZExtValue());                                                                       \
  }
  return llvm::TypeSwitch<Operation *, Integer>(op)
      .Case([&](arith::AddUIExtendedOp) {
        return number == 0 ? RESID_EXTENDED(x + y) : RESID_EXTENDED(llvm::APInt(1, (x + y).ult(x)));
      })
      .Case([&](arith::MulSIExtendedOp) {
        return number == 0 ? RESID_EXTENDED(x * y) : RESID_EXTENDED(llvm::APIntOps::mulhs(x, y));
      })
      .Case([&](arith::MulUIExtendedOp) {
        return number == 0 ? RESID_EXTENDED(x * y) : RESID_EXTENDED(llvm::APIntOps::mulhu(x, y));
      })
      .Default(Integer(nullptr));
#undef RESID_EXTENDED
}

Integer getShift(Operation *op) {
#define RESID_SHIFT(expression)                                                                                        \
  [](int64_t a, int64_t b, unsigned width, const char *&fault) -> int64_t {                                            \
    if (toUnsigned(b, width) >= width)                                                                                 \
      fault = "a shift by the width of the type or more";                                                              \
    return fault ? 0 : expression;                                                                                     \
  }
  return llvm::TypeSwitch<Operation *, Integer>(op)
      .Case<arith::ShLIOp, index::ShlOp>([](auto) { return RESID_SHIFT(int64_t(uint64_t(a) << b)); })
      .Case<arith::ShRSIOp, index::ShrSOp>([](auto) { return RESID_SHIFT(a >> b); })
      .Case<arith::ShRUIOp, index::ShrUOp>([](auto) { return RESID_SHIFT(int64_t(toUnsigned(a, width) >> b)); })
      .Default(Integer(nullptr));
#undef RESID_SHIFT
}

arith::CmpIPredicate toArithmetic(index::IndexCmpPredicate predicate) {
  std::optional<arith::CmpIPredicate> same = arith::symbolizeCmpIPredicate(index::stringifyEnum(predicate));
  assert(same && "expected the predicates of arith");
  return *same;
}

/// Casts, comparisons and the other ops with a shape of their own.
void selectSpecial(Operation *op, Instruction &in) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](math::FmaOp) { in.execute = runFma; })
      .Case([&](math::FPowIOp) {
        in.execute = runPowerOfInteger;
        in.units = bounds::functionUnits(bounds::FunctionFamily::InDouble, in.kind);
      })
      .Case([&](arith::SelectOp) { in.execute = runSelect; })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { in.execute = runRound; })
      .Case([&](arith::SIToFPOp) { in.execute = runSignedToFloat; })
      .Case([&](arith::UIToFPOp) { in.execute = runUnsignedToFloat; })
      .Case([&](arith::FPToSIOp) { in.execute = runFloatToInteger, in.immediate = 1; })
      .Case([&](arith::FPToUIOp) { in.execute = runFloatToInteger, in.immediate = 0; })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, index::CastSOp>(
          [&](auto) { in.execute = runIntegerCast, in.immediate = 1; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, index::CastUOp>(
          [&](auto) { in.execute = runIntegerCast, in.immediate = 0; })
      .Case([&](arith::CmpFOp cmp) {
        in.execute = runCompareFloats, in.immediate = static_cast<int64_t>(cmp.getPredicate());
      })
      .Case([&](arith::CmpIOp cmp) {
        in.execute = runCompareIntegers, in.immediate = static_cast<int64_t>(cmp.getPredicate());
      })
      .Case([&](index::CmpOp cmp) {
        in.execute = runCompareIntegers, in.immediate = static_cast<int64_t>(toArithmetic(cmp.getPred()));
      })
      .Case([&](math::ClampFOp) { in.execute = runClamp; })
      .Case([&](math::IsNaNOp) { in.execute = runClassify, in.classify = [](double a) { return std::isnan(a); }; })
      .Case([&](math::IsInfOp) { in.execute = runClassify, in.classify = [](double a) { return std::isinf(a); }; })
      .Case(
          [&](math::IsFiniteOp) { in.execute = runClassify, in.classify = [](double a) { return std::isfinite(a); }; })
      .Case([&](linalg::IndexOp index) {
        in.execute = runLoopIndex, in.immediate = static_cast<int64_t>(index.getDim());
      })
      .Case<arith::BitcastOp, tensor::BitcastOp>([&](auto cast) {
        Type from = getElementTypeOrSelf(cast->getOperand(0)), to = getElementTypeOrSelf(cast->getResult(0));
        if (isa<FloatType>(from) != isa<FloatType>(to))
          in.execute = isa<FloatType>(from) ? runFloatBits : runBitsToFloat;
        else if (from == to)
          in.execute = runMove;
      });
}

} // namespace

LogicalResult selectInstruction(Operation *op, unsigned number, Mode mode, Instruction &in) {
  Integer extended = getExtended(op, number);
  if (number >= op->getNumResults() || (op->getNumResults() != 1 && !extended) ||
      op->getNumOperands() > in.operands.size())
    return failure();
  Type result = getElementTypeOrSelf(op->getResult(number));
  Type operand = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0)) : result;
  auto isScalar = [](Type type) { return getFloatKind(type) || type.isIntOrIndex(); };
  if (!isScalar(result) || !isScalar(operand))
    return failure();
  in.rounds = mode == Mode::ExactType;
  if (auto kind = getFloatKind(result) ? getFloatKind(result) : getFloatKind(operand))
    in.kind = *kind;
  in.operandWidth = widthOf(operand);
  in.resultWidth = widthOf(result);
  if (FloatFunction function = getFloatFunction(op, in.kind); function.unary)
    in.execute = runUnary, in.unary = function.unary, in.units = function.units;
  else if (function.binary)
    in.execute = runBinary, in.binary = function.binary, in.units = function.units;
  else if (extended)
    in.execute = runInteger, in.integer = extended;
  else if (Integer arithmetic = getIntegerArithmetic(op))
    in.execute = runInteger, in.integer = arithmetic;
  else if (Integer shift = getShift(op))
    in.execute = runInteger, in.integer = shift;
  else
    selectSpecial(op, in);
  return success(in.execute != nullptr);
}

} // namespace mlir::resid::reference
