// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of floats. An operation that rounds says `.rn`.

#include "test/ptx/FloatRules.h"
#include "test/ptx/FloatTypes.h"

using namespace resid::ptx;

bool resid::ptx::refuseFlush(Decoder &d) {
  if (!d.take("ftz"))
    return true;
  d.fail("subnormals are flushed");
  return false;
}

bool resid::ptx::takeRounding(Decoder &d) {
  if (!refuseFlush(d))
    return false;
  if (d.take("rn"))
    return true;
  d.fail("a float operation rounds without .rn");
  return false;
}

namespace {

template <typename T> T divideFloat(T a, T b);
template <> float divideFloat(float a, float b) { return canonical(a / b); }
template <> double divideFloat(double a, double b) { return canonical64(a / b, a, b); }
float root(float a) { return canonical(std::sqrt(a)); }
double root(double a) { return canonical64(std::sqrt(a), a); }
float reciprocal(float a) { return canonical(1.0f / a); }
double reciprocal(double a) { return canonical64(1.0 / a, a); }

/// neg and abs change the sign only. PTX leaves open what they do with a NaN.
template <typename T, T Sign> T flipSign(T a) { return a ^ Sign; }
template <typename T, T Sign> T clearSign(T a) { return a & T(~Sign); }
/// The magnitude of the second operand, with the sign of the first.
template <typename T, T Sign> T copySign(T a, T b) { return (a & Sign) | (b & T(~Sign)); }

enum class Test { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <typename T, Test What> bool test(T a) {
  switch (What) {
  case Test::Finite:
    return std::isfinite(a);
  case Test::Infinite:
    return std::isinf(a);
  case Test::Number:
    return !std::isnan(a);
  case Test::NotANumber:
    return std::isnan(a);
  case Test::Normal:
    return std::isnormal(a);
  case Test::Subnormal:
    return std::fpclassify(a) == FP_SUBNORMAL;
  }
}

/// A narrow float, made wide: exact, but for the bits of a NaN, which the sum sets anyway.
template <typename T> float single(T a) { return float(widen(a)); }
template <typename T> float addMixed(T a, float c) { return addFloat(single(a), c); }
template <typename T> float subtractMixed(T a, float c) { return subtractFloat(single(a), c); }
template <typename T> float multiplyAddMixed(T a, T b, float c) { return multiplyAdd(single(a), single(b), c); }

/// `add.rn.f32.bf16` and the like take narrow operands but for the last. Chooses the handler of the narrow type.
Handler mixedOf(Type narrowType, Handler half, Handler bfloat) {
  return narrowType == Type::F16 ? half : narrowType == Type::BF16 ? bfloat : nullptr;
}

template <bool IsMax, bool KeepsNaN> Handler extremeOf(Type type) {
  return forFloat(type, []<typename T>() { return pure<(T (*)(T, T))extreme<IsMax, KeepsNaN>>; });
}

void decodeFma(Decoder &d) {
  auto type = d.takeType(), narrowType = d.takeType();
  if (!takeRounding(d))
    return;
  if (type == Type::F32 && narrowType)
    return d.emitPure(mixedOf(*narrowType, pure<multiplyAddMixed<Half>>, pure<multiplyAddMixed<BFloat>>), 4);
  d.emitPure(forArithmetic(type, []<typename T>() { return pure<(T (*)(T, T, T))multiplyAdd>; }), 4);
}

void decodeSqrt(Decoder &d) {
  if (d.take("approx"))
    return decodeApproximate(d, "approx");
  auto type = d.takeType();
  if (takeRounding(d))
    d.emitPure(forWideFloat(type, []<typename T>() { return pure<(T (*)(T))root>; }), 2);
}

void decodeRcp(Decoder &d) {
  if (d.take("approx"))
    return decodeApproximate(d, "approx");
  auto type = d.takeType();
  if (takeRounding(d))
    d.emitPure(forWideFloat(type, []<typename T>() { return pure<(T (*)(T))reciprocal>; }), 2);
}

void decodeCopysign(Decoder &d) {
  auto type = d.takeType();
  d.emitPure(type == Type::F32   ? pure<copySign<uint32_t, 1u << 31>>
             : type == Type::F64 ? pure<copySign<uint64_t, uint64_t(1) << 63>>
                                 : nullptr,
             3);
}

template <Test What> Handler testOf(std::optional<Type> type) {
  return forWideFloat(type, []<typename T>() { return pure<test<T, What>>; });
}

void decodeTestp(Decoder &d) {
  auto type = d.takeType();
  Handler run = d.take("finite")       ? testOf<Test::Finite>(type)
                : d.take("infinite")   ? testOf<Test::Infinite>(type)
                : d.take("number")     ? testOf<Test::Number>(type)
                : d.take("notanumber") ? testOf<Test::NotANumber>(type)
                : d.take("normal")     ? testOf<Test::Normal>(type)
                : d.take("subnormal")  ? testOf<Test::Subnormal>(type)
                                       : nullptr;
  d.emitPure(run, 2);
}

} // namespace

void resid::ptx::decodeFloatAdd(Decoder &d, Type type) {
  auto narrowType = d.takeType();
  if (!takeRounding(d))
    return;
  if (type == Type::F32 && narrowType)
    return d.emitPure(mixedOf(*narrowType, pure<addMixed<Half>>, pure<addMixed<BFloat>>), 3);
  d.emitPure(forArithmetic(type, []<typename T>() { return pure<(T (*)(T, T))addFloat>; }), 3);
}

void resid::ptx::decodeFloatSub(Decoder &d, Type type) {
  auto narrowType = d.takeType();
  if (!takeRounding(d))
    return;
  if (type == Type::F32 && narrowType)
    return d.emitPure(mixedOf(*narrowType, pure<subtractMixed<Half>>, pure<subtractMixed<BFloat>>), 3);
  d.emitPure(forArithmetic(type, []<typename T>() { return pure<(T (*)(T, T))subtractFloat>; }), 3);
}

void resid::ptx::decodeFloatMul(Decoder &d, Type type) {
  if (takeRounding(d))
    d.emitPure(forArithmetic(type, []<typename T>() { return pure<(T (*)(T, T))multiplyFloat>; }), 3);
}

void resid::ptx::decodeFloatDiv(Decoder &d, Type type) {
  if (llvm::StringRef accuracy = d.takeAny({"approx", "full"}); !accuracy.empty())
    return decodeApproximate(d, accuracy);
  if (takeRounding(d))
    d.emitPure(forWideFloat(type, []<typename T>() { return pure<divideFloat<T>>; }), 3);
}

void resid::ptx::decodeFloatNeg(Decoder &d, Type type) {
  Handler run = type == Type::F64                         ? pure<flipSign<uint64_t, uint64_t(1) << 63>>
                : type == Type::F32                       ? pure<flipSign<uint32_t, 1u << 31>>
                : type == Type::F16 || type == Type::BF16 ? pure<flipSign<uint16_t, 1u << 15>>
                                                          : pure<flipSign<uint32_t, 0x80008000>>;
  if (refuseFlush(d))
    d.emitPure(run, 2);
}

void resid::ptx::decodeFloatAbs(Decoder &d, Type type) {
  Handler run = type == Type::F64                         ? pure<clearSign<uint64_t, uint64_t(1) << 63>>
                : type == Type::F32                       ? pure<clearSign<uint32_t, 1u << 31>>
                : type == Type::F16 || type == Type::BF16 ? pure<clearSign<uint16_t, 1u << 15>>
                                                          : pure<clearSign<uint32_t, 0x80008000>>;
  if (refuseFlush(d))
    d.emitPure(run, 2);
}

void resid::ptx::decodeFloatMinMax(Decoder &d, Type type, bool isMax) {
  if (!refuseFlush(d))
    return;
  if (d.take("NaN"))
    d.emitPure(isMax ? extremeOf<true, true>(type) : extremeOf<false, true>(type), 3);
  else
    d.emitPure(isMax ? extremeOf<true, false>(type) : extremeOf<false, false>(type), 3);
}

void resid::ptx::addFloatRules(Rules &rules) {
  rules["fma"] = decodeFma;
  rules["sqrt"] = decodeSqrt;
  rules["rcp"] = decodeRcp;
  rules["copysign"] = decodeCopysign;
  rules["testp"] = decodeTestp;
}
