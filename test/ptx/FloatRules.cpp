// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of floats. An operation that rounds says `.rn`.

#include "test/ptx/Handlers.h"

using namespace resid::ptx;

bool resid::ptx::takeRounding(Decoder &d) {
  if (d.take("rn"))
    return true;
  d.fail("a float operation rounds without .rn");
  return false;
}

namespace {

float divideFloat(float a, float b) { return canonical(a / b); }
double divideFloat(double a, double b) { return canonical64(a / b, a, b); }
float root(float a) { return canonical(std::sqrt(a)); }
double root(double a) { return canonical64(std::sqrt(a), a); }
float reciprocal(float a) { return canonical(1.0f / a); }
double reciprocal(double a) { return canonical64(1.0 / a, a); }

// neg, abs and copysign change the sign only. PTX leaves open what they do with a NaN.
template <typename T> struct Sign { static constexpr uint32_t bit = 0x80008000; };
template <> struct Sign<Half> { static constexpr uint16_t bit = 0x8000; };
template <> struct Sign<BFloat> : Sign<Half> {};
template <> struct Sign<float> { static constexpr uint32_t bit = 1u << 31; };
template <> struct Sign<double> { static constexpr uint64_t bit = uint64_t(1) << 63; };
template <typename T> using BitsOf = std::remove_const_t<decltype(Sign<T>::bit)>;
template <typename T> BitsOf<T> flipSign(BitsOf<T> a) { return a ^ Sign<T>::bit; }
template <typename T> BitsOf<T> clearSign(BitsOf<T> a) { return a & ~Sign<T>::bit; }
/// The magnitude of the second operand, with the sign of the first.
template <typename T> BitsOf<T> copySign(BitsOf<T> a, BitsOf<T> b) { return (a & Sign<T>::bit) | (b & ~Sign<T>::bit); }

/// A class of numbers, of which a test is a set.
enum Class : unsigned { Zero = 1, Subnormal = 2, Normal = 4, Infinite = 8, NotANumber = 16 };

/// The immediate is the set.
template <typename T> const Instruction *test(const Instruction *i, Thread &t) {
  T a = t.read<T>(i->slots[1]);
  Class found = std::isnan(a)      ? NotANumber
                : std::isinf(a)    ? Infinite
                : std::isnormal(a) ? Normal
                : a                ? Subnormal
                                   : Zero;
  t.write<bool>(i->slots[0], i->immediate & found);
  return i + 1;
}

void decodeTestp(Decoder &d) {
  auto classes = d.takeOne<unsigned>({{"finite", Zero | Subnormal | Normal},
                                      {"infinite", Infinite},
                                      {"number", Zero | Subnormal | Normal | Infinite},
                                      {"notanumber", NotANumber},
                                      {"normal", Normal},
                                      {"subnormal", Subnormal}});
  Pure found = forWideFloat(d.takeType(), []<typename T>() { return Pure{test<T>, 2}; });
  d.emitPure(classes ? found : Pure(), classes.value_or(0));
}

/// A narrow float, made wide: exact, but for the bits of a NaN, which the sum sets anyway.
template <typename T> float single(T a) { return float(widen(a)); }
template <typename T> float addMixed(T a, float c) { return addFloat(single(a), c); }
template <typename T> float subtractMixed(T a, float c) { return subtractFloat(single(a), c); }
template <typename T> float multiplyAddMixed(T a, T b, float c) { return multiplyAdd(single(a), single(b), c); }

/// Of sums and products, which have pairs of f32 too.
constexpr OneOf<Type::F16, Type::BF16, Type::F32, Type::F64, Type::F16x2, Type::BF16x2, Type::F32x2> forArithmetic;

template <auto Types, auto Make> void decodeRounded(Decoder &d) {
  if (takeRounding(d))
    decodeTyped<Types, Make>(d);
}

/// `add.rn.f32.bf16` and the like take narrow operands but for the last.
template <auto Make, auto Mixed> void decodeSum(Decoder &d) {
  if (!takeRounding(d))
    return;
  auto type = d.takeType(), narrowType = d.takeType();
  d.emitPure(type == Type::F32 && narrowType ? forNarrowFloat(narrowType, Mixed) : forArithmetic(type, Make));
}

template <bool IsMax> void decodeExtreme(Decoder &d) {
  if (d.take("NaN"))
    decodeTyped<forFloat, []<typename T>() { return pure<(T(*)(T, T))extreme<IsMax, true>>; }>(d);
  else
    decodeTyped<forFloat, []<typename T>() { return pure<(T(*)(T, T))extreme<IsMax, false>>; }>(d);
}

} // namespace

void resid::ptx::addFloatRules(Rules &rules) {
  rules.ofFloats["add"] = decodeSum<[]<typename T>() { return pure<(T(*)(T, T))addFloat>; },
                                    []<typename T>() { return pure<addMixed<T>>; }>;
  rules.ofFloats["sub"] = decodeSum<[]<typename T>() { return pure<(T(*)(T, T))subtractFloat>; },
                                    []<typename T>() { return pure<subtractMixed<T>>; }>;
  rules.ofFloats["fma"] = decodeSum<[]<typename T>() { return pure<(T(*)(T, T, T))multiplyAdd>; },
                                    []<typename T>() { return pure<multiplyAddMixed<T>>; }>;
  rules.ofFloats["mul"] = decodeRounded<forArithmetic, []<typename T>() { return pure<(T(*)(T, T))multiplyFloat>; }>;
  rules.ofFloats["div"] = decodeRounded<forWideFloat, []<typename T>() { return pure<(T(*)(T, T))divideFloat>; }>;
  rules.ofFloats["sqrt"] = decodeRounded<forWideFloat, []<typename T>() { return pure<(T(*)(T))root>; }>;
  rules.ofFloats["rcp"] = decodeRounded<forWideFloat, []<typename T>() { return pure<(T(*)(T))reciprocal>; }>;
  rules.ofFloats["neg"] = decodeTyped<forFloat, []<typename T>() { return pure<flipSign<T>>; }>;
  rules.ofFloats["abs"] = decodeTyped<forFloat, []<typename T>() { return pure<clearSign<T>>; }>;
  rules.ofFloats["copysign"] = decodeTyped<forWideFloat, []<typename T>() { return pure<copySign<T>>; }>;
  rules.ofFloats["min"] = decodeExtreme<false>;
  rules.ofFloats["max"] = decodeExtreme<true>;
  rules.ofFloats["testp"] = decodeTestp;
}
