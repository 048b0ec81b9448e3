// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that approximate, where the caller of `parse` allows them. NVIDIA states bounds of their errors, not
// their bits. So a result errs here by a random part of its bound, which the seed and the operand choose.

#include "test/ptx/FloatTypes.h"

using namespace resid::ptx;

namespace {

/// From -1 to 1, the same for the same seed and operands.
double randomError(uint64_t seed, uint64_t operand) {
  uint64_t x = seed + operand * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return double(int64_t(x ^ x >> 31)) * 0x1p-63;
}

float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }

double reciprocal(double a) { return 1 / a; }
double reciprocalRoot(double a) { return 1 / std::sqrt(a); }
double root(double a) { return std::sqrt(a); }
double power(double a) { return std::exp2(a); }
double logarithm(double a) { return std::log2(a); }
double tangent(double a) { return std::tanh(a); }

using Function1 = double (*)(double);

float finish(double exact, double error, bool isAbsolute, bool flushes) {
  double result = isAbsolute ? exact + error : exact * (1 + error);
  // Infinities, zeros and NaN are exact.
  if (!std::isfinite(exact) || exact == 0)
    result = exact;
  float rounded = canonical(float(result));
  return flushes ? flush(rounded) : rounded;
}

/// Slot 2: how many bits of the result are right; slot 3: whether in absolute terms.
template <Function1 F, bool Flushes> const Instruction *approximate(const Instruction *i, Thread &t) {
  float a = t.read<float>(i->slots[1]);
  if (Flushes)
    a = flush(a);
  double error = std::ldexp(randomError(i->immediate, llvm::bit_cast<uint32_t>(a)), -int(i->slots[2]));
  t.write(i->slots[0], finish(F(a), error, i->slots[3], Flushes));
  return i + 1;
}

/// The f64 forms see the upper half of the operand and give the upper half of the result.
template <Function1 F> const Instruction *approximateUpper(const Instruction *i, Thread &t) {
  constexpr uint64_t upper = ~uint64_t(0) << 32;
  auto flush64 = [](double a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0, a) : a; };
  double a = t.read<double>(i->slots[1]);
  double cut = flush64(std::isnan(a) ? a : llvm::bit_cast<double>(llvm::bit_cast<uint64_t>(a) & upper));
  double exact = F(cut);
  double error = std::ldexp(randomError(i->immediate, llvm::bit_cast<uint64_t>(cut)), -int(i->slots[2]));
  double result = std::isfinite(exact) && exact != 0 ? exact * (1 + error) : exact;
  uint64_t bits = std::isnan(result) ? 0x7fffffff00000000 : llvm::bit_cast<uint64_t>(flush64(result)) & upper;
  t.write(i->slots[0], bits);
  return i + 1;
}

template <bool Flushes> const Instruction *approximateQuotient(const Instruction *i, Thread &t) {
  float a = t.read<float>(i->slots[1]), b = t.read<float>(i->slots[2]);
  if (Flushes) {
    a = flush(a);
    b = flush(b);
  }
  uint64_t operands = uint64_t(llvm::bit_cast<uint32_t>(a)) << 32 | llvm::bit_cast<uint32_t>(b);
  double error = std::ldexp(randomError(i->immediate, operands), -22);
  t.write(i->slots[0], finish(double(a) / double(b), error, false, Flushes));
  return i + 1;
}

void decodeQuotient(Decoder &d, bool flushes) {
  if (!d.hasOperands(3))
    return;
  uint32_t a = d.in(1), b = d.in(2), result = d.out(size_t(0));
  d.emit(flushes ? approximateQuotient<true> : approximateQuotient<false>, {result, a, b}, d.moduleNames().module.seed);
}

template <Function1 F>
void decodeFunction(Decoder &d, Type type, bool flushes, uint32_t bits, bool isAbsolute = false) {
  if (!d.hasOperands(2))
    return;
  if (type == Type::F64 && !flushes)
    return d.fail("unknown type");
  uint32_t a = d.in(1), result = d.out(size_t(0));
  Handler run = type == Type::F64 ? approximateUpper<F> : flushes ? approximate<F, true> : approximate<F, false>;
  d.emit(run, {result, a, type == Type::F64 ? 20 : bits, isAbsolute}, d.moduleNames().module.seed);
}

void decodeUnary(Decoder &d) {
  if (!d.take("approx"))
    return d.fail("expected .approx");
  decodeApproximate(d, "approx");
}

} // namespace

void resid::ptx::decodeApproximate(Decoder &d, llvm::StringRef accuracy) {
  if (!d.isAllowed())
    return d.fail("an approximation that is not allowed");
  bool flushes = d.take("ftz");
  auto type = d.takeType();
  // Division has taken its type already.
  if (d.opcode() == "div")
    return decodeQuotient(d, flushes);
  bool hasWide = d.opcode() == "rcp" || d.opcode() == "rsqrt";
  if (type != Type::F32 && !(type == Type::F64 && hasWide))
    return d.fail("unknown type");
  if (d.opcode() == "rcp")
    return decodeFunction<reciprocal>(d, *type, flushes, 23);
  if (d.opcode() == "rsqrt")
    return decodeFunction<reciprocalRoot>(d, *type, flushes, 22);
  if (d.opcode() == "sqrt")
    return decodeFunction<root>(d, *type, flushes, 23);
  if (d.opcode() == "ex2")
    return decodeFunction<power>(d, *type, flushes, 22);
  if (d.opcode() == "lg2")
    return decodeFunction<logarithm>(d, *type, flushes, 22, /*isAbsolute=*/true);
  if (d.opcode() == "tanh")
    return decodeFunction<tangent>(d, *type, flushes, 11);
  d.fail("unknown instruction");
}

void resid::ptx::addApproximateRules(Rules &rules) {
  for (llvm::StringRef opcode : {"rsqrt", "ex2", "lg2", "tanh"})
    rules[opcode] = decodeUnary;
}
