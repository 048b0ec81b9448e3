// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic: add, sub, mul, mad, div, rem, neg, abs, min, max, and sums with a carry.
// `add`, `neg` and other names that floats have too go on to the rules of floats, in FloatRules.cpp.

#include "test/ptx/FloatMath.h"
#include "test/ptx/FloatRules.h"
#include "test/ptx/IntegerTypes.h"

#include <limits>

using namespace resid::ptx;

namespace {

template <typename T> T add(T a, T b) { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
template <typename T> T subtract(T a, T b) { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
template <typename T> T negate(T a) { return T(-Unsigned<T>(a)); }
template <typename T> T absolute(T a) { return a < 0 ? negate(a) : a; }
template <typename T> T minimum(T a, T b) { return a < b ? a : b; }
template <typename T> T maximum(T a, T b) { return a > b ? a : b; }
/// Both halves of a register, each on its own.
template <auto F, typename T> Both<T> each(Both<T> a, Both<T> b) { return {F(a.low, b.low), F(a.high, b.high)}; }
template <auto OfUnsigned, auto OfSigned> Handler forPair(std::optional<Type> type) {
  return type == Type::U16x2   ? pure<each<OfUnsigned, uint16_t>>
         : type == Type::S16x2 ? pure<each<OfSigned, int16_t>>
                               : nullptr;
}

// In 64 bits, since 16-bit factors would be promoted to a signed int that may overflow.
template <typename T> T multiplyLow(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
template <typename T> T multiplyHigh(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); }
template <typename T> Wide<T> multiplyWide(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
template <typename T> T multiplyAddLow(T a, T b, T c) { return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); }
template <typename T> T multiplyAddHigh(T a, T b, T c) { return add(multiplyHigh(a, b), c); }
template <typename T> Wide<T> multiplyAddWide(T a, T b, Wide<T> c) { return add(multiplyWide(a, b), c); }

int32_t saturate(int64_t value) { return std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX); }
int32_t addSaturated(int32_t a, int32_t b) { return saturate(int64_t(a) + b); }
int32_t subtractSaturated(int32_t a, int32_t b) { return saturate(int64_t(a) - b); }

/// PTX leaves the result of a division by 0 open, so a kernel must not do it.
template <typename T, bool IsRemainder> const Instruction *divide(const Instruction *i, Thread &t) {
  T a = t.read<T>(i->slots[1]), b = t.read<T>(i->slots[2]);
  if (b == 0)
    return t.fail(i, "division by 0");
  // The one quotient that overflows wraps around, and would trap on the host.
  bool overflows = std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == T(-1);
  t.write<T>(i->slots[0], IsRemainder ? (overflows ? T(0) : T(a % b)) : (overflows ? a : T(a / b)));
  return i + 1;
}

template <typename T, bool Subtracts, bool Takes, bool Gives>
const Instruction *addWithCarry(const Instruction *i, Thread &t) {
  T a = t.read<T>(i->slots[1]), b = t.read<T>(i->slots[2]);
  // a - b is a + ~b + 1, and a borrow is a carry that is missing.
  if (Subtracts)
    b = ~b;
  bool carry = Takes ? t.carry : Subtracts;
  T result = a + b + T(carry);
  if (Gives)
    t.carry = carry ? result <= a : result < a;
  t.write<T>(i->slots[0], result);
  return i + 1;
}

template <bool Subtracts, bool Takes> void decodeCarry(Decoder &d, bool gives) {
  auto type = d.takeType();
  bool is64 = type && bytesOf(*type) == 8;
  if (!type || isFloat(*type) || bytesOf(*type) < 4)
    return d.fail("unknown type");
  Handler wide =
      gives ? addWithCarry<uint64_t, Subtracts, Takes, true> : addWithCarry<uint64_t, Subtracts, Takes, false>;
  Handler narrow =
      gives ? addWithCarry<uint32_t, Subtracts, Takes, true> : addWithCarry<uint32_t, Subtracts, Takes, false>;
  d.emitPure(is64 ? wide : narrow, 3);
}

template <bool Subtracts> void decodeAdd(Decoder &d) {
  if (d.take("cc"))
    return decodeCarry<Subtracts, false>(d, true);
  auto type = d.takeType();
  if (type && isFloat(*type))
    return Subtracts ? decodeFloatSub(d, *type) : decodeFloatAdd(d, *type);
  if (Handler pair = Subtracts ? nullptr : forPair<add<uint16_t>, add<int16_t>>(type))
    return d.emitPure(pair, 3);
  if (type == Type::S32 && d.take("sat"))
    return d.emitPure(Subtracts ? pure<subtractSaturated> : pure<addSaturated>, 3);
  d.emitPure(forInteger(type, [&]<typename T>() { return Subtracts ? pure<subtract<T>> : pure<add<T>>; }), 3);
}

template <bool Subtracts> void decodeAddCarry(Decoder &d) { decodeCarry<Subtracts, true>(d, d.take("cc")); }

void decodeMul(Decoder &d) {
  auto type = d.takeType();
  if (type && isFloat(*type))
    return decodeFloatMul(d, *type);
  llvm::StringRef part = d.takeAny({"lo", "hi", "wide"});
  if (part == "lo")
    d.emitPure(forInteger(type, []<typename T>() { return pure<multiplyLow<T>>; }), 3);
  else if (part == "hi")
    d.emitPure(forInteger(type, []<typename T>() { return pure<multiplyHigh<T>>; }), 3);
  else if (part == "wide")
    d.emitPure(forNarrowInteger(type, []<typename T>() { return pure<multiplyWide<T>>; }), 3);
  else
    d.fail("expected .lo, .hi or .wide");
}

void decodeMad(Decoder &d) {
  auto type = d.takeType();
  llvm::StringRef part = d.takeAny({"lo", "hi", "wide"});
  if (part == "lo")
    d.emitPure(forInteger(type, []<typename T>() { return pure<multiplyAddLow<T>>; }), 4);
  else if (part == "hi")
    d.emitPure(forInteger(type, []<typename T>() { return pure<multiplyAddHigh<T>>; }), 4);
  else if (part == "wide")
    d.emitPure(forNarrowInteger(type, []<typename T>() { return pure<multiplyAddWide<T>>; }), 4);
  else
    d.fail("expected .lo, .hi or .wide");
}

void decodeDiv(Decoder &d) {
  auto type = d.takeType();
  if (type && isFloat(*type))
    return decodeFloatDiv(d, *type);
  d.emitPure(forInteger(type, []<typename T>() -> Handler { return divide<T, false>; }), 3);
}

void decodeRem(Decoder &d) {
  d.emitPure(forInteger(d.takeType(), []<typename T>() -> Handler { return divide<T, true>; }), 3);
}

void decodeNeg(Decoder &d) {
  auto type = d.takeType();
  if (type && isFloat(*type))
    return decodeFloatNeg(d, *type);
  d.emitPure(forSigned(type, []<typename T>() { return pure<negate<T>>; }), 2);
}

void decodeAbs(Decoder &d) {
  auto type = d.takeType();
  if (type && isFloat(*type))
    return decodeFloatAbs(d, *type);
  d.emitPure(forSigned(type, []<typename T>() { return pure<absolute<T>>; }), 2);
}

template <bool IsMax> void decodeMinMax(Decoder &d) {
  auto type = d.takeType();
  if (type && isFloat(*type))
    return decodeFloatMinMax(d, *type, IsMax);
  constexpr auto ofUnsigned = IsMax ? maximum<uint16_t> : minimum<uint16_t>;
  constexpr auto ofSigned = IsMax ? maximum<int16_t> : minimum<int16_t>;
  if (Handler pair = forPair<ofUnsigned, ofSigned>(type))
    return d.emitPure(pair, 3);
  d.emitPure(forInteger(type, []<typename T>() { return IsMax ? pure<maximum<T>> : pure<minimum<T>>; }), 3);
}

} // namespace

void resid::ptx::addIntegerRules(Rules &rules) {
  rules["add"] = decodeAdd<false>;
  rules["sub"] = decodeAdd<true>;
  rules["addc"] = decodeAddCarry<false>;
  rules["subc"] = decodeAddCarry<true>;
  rules["mul"] = decodeMul;
  rules["mad"] = decodeMad;
  rules["div"] = decodeDiv;
  rules["rem"] = decodeRem;
  rules["neg"] = decodeNeg;
  rules["abs"] = decodeAbs;
  rules["min"] = decodeMinMax<false>;
  rules["max"] = decodeMinMax<true>;
}
