// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic: add, sub, mul, mad, div, rem, neg, abs, min, max, and sums with a carry.

#include "test/ptx/Handlers.h"

#include <limits>

using namespace resid::ptx;

namespace {

/// Signed sums may overflow, which C++ does not define; unsigned ones wrap around, as PTX says.
template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> T add(T a, T b) { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
template <typename T> T subtract(T a, T b) { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
template <typename T> T negate(T a) { return T(-Unsigned<T>(a)); }
template <typename T> T absolute(T a) { return a < 0 ? negate(a) : a; }
template <typename T> T minimum(T a, T b) { return a < b ? a : b; }
template <typename T> T maximum(T a, T b) { return a > b ? a : b; }
/// Both halves of a register, each on its own.
template <typename T> Both<T> add(Both<T> a, Both<T> b) { return {add(a.low, b.low), add(a.high, b.high)}; }
template <typename T> Both<T> minimum(Both<T> a, Both<T> b) { return {minimum(a.low, b.low), minimum(a.high, b.high)}; }
template <typename T> Both<T> maximum(Both<T> a, Both<T> b) { return {maximum(a.low, b.low), maximum(a.high, b.high)}; }
constexpr OneOf<Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64, Type::U16x2, Type::S16x2> forNumber;

/// In which each product of two numbers is exact.
template <typename T> using Exact = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
// In 64 bits, since 16-bit factors would be promoted to a signed int that may overflow.
template <typename T> T multiplyLow(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
template <typename T> T multiplyHigh(T a, T b) { return T((Exact<T>(a) * Exact<T>(b)) >> (8 * sizeof(T))); }
template <typename T> Extended<T> multiplyWide(T a, T b) { return Extended<T>(a) * Extended<T>(b); }
template <typename T> T multiplyAddLow(T a, T b, T c) { return add(multiplyLow(a, b), c); }
template <typename T> T multiplyAddHigh(T a, T b, T c) { return add(multiplyHigh(a, b), c); }
template <typename T> Extended<T> multiplyAddWide(T a, T b, Extended<T> c) { return add(multiplyWide(a, b), c); }

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

/// The immediate says whether the sum gives a carry to the next one.
template <typename T, bool Subtracts, bool Takes> const Instruction *addWithCarry(const Instruction *i, Thread &t) {
  using U = Unsigned<T>;
  U a = t.read<U>(i->slots[1]), b = t.read<U>(i->slots[2]);
  // a - b is a + ~b + 1, and a borrow is a carry that is missing.
  if (Subtracts)
    b = ~b;
  bool carry = Takes ? t.carry : Subtracts;
  U result = a + b + U(carry);
  if (i->immediate)
    t.carry = carry ? result <= a : result < a;
  t.write<U>(i->slots[0], result);
  return i + 1;
}

template <bool Subtracts, bool Takes> void decodeCarry(Decoder &d) {
  bool gives = d.take("cc");
  d.emitPure(forWideInteger(d.takeType(),
                            []<typename T>() {
                              return Pure{addWithCarry<T, Subtracts, Takes>, 3};
                            }),
             gives);
}

template <bool Subtracts, auto Types, auto Make, auto Saturated> void decodeSum(Decoder &d) {
  if (d.has("cc"))
    return decodeCarry<Subtracts, false>(d);
  auto type = d.takeType();
  d.emitPure(type == Type::S32 && d.take("sat") ? Saturated : Types(type, Make));
}

template <auto Low, auto High, auto Wide> void decodeProduct(Decoder &d) {
  auto type = d.takeType();
  llvm::StringRef part = d.takeAny({"lo", "hi", "wide"});
  if (part.empty())
    return d.fail("expected .lo, .hi or .wide");
  d.emitPure(part == "lo"   ? forInteger(type, Low)
             : part == "hi" ? forInteger(type, High)
                            : forNarrowInteger(type, Wide));
}

} // namespace

void resid::ptx::addIntegerRules(Rules &rules) {
  rules.any["add"] =
      decodeSum<false, forNumber, []<typename T>() { return pure<(T(*)(T, T))add>; }, pure<addSaturated>>;
  rules.any["sub"] =
      decodeSum<true, forInteger, []<typename T>() { return pure<subtract<T>>; }, pure<subtractSaturated>>;
  rules.any["addc"] = decodeCarry<false, true>;
  rules.any["subc"] = decodeCarry<true, true>;
  rules.any["mul"] = decodeProduct<[]<typename T>() { return pure<multiplyLow<T>>; },
                                   []<typename T>() { return pure<multiplyHigh<T>>; },
                                   []<typename T>() { return pure<multiplyWide<T>>; }>;
  rules.any["mad"] = decodeProduct<[]<typename T>() { return pure<multiplyAddLow<T>>; },
                                   []<typename T>() { return pure<multiplyAddHigh<T>>; },
                                   []<typename T>() { return pure<multiplyAddWide<T>>; }>;
  rules.any["div"] = decodeTyped<forInteger, []<typename T>() { return Pure{divide<T, false>, 3}; }>;
  rules.any["rem"] = decodeTyped<forInteger, []<typename T>() { return Pure{divide<T, true>, 3}; }>;
  rules.any["neg"] = decodeTyped<forSigned, []<typename T>() { return pure<negate<T>>; }>;
  rules.any["abs"] = decodeTyped<forSigned, []<typename T>() { return pure<absolute<T>>; }>;
  rules.any["min"] = decodeTyped<forNumber, []<typename T>() { return pure<(T(*)(T, T))minimum>; }>;
  rules.any["max"] = decodeTyped<forNumber, []<typename T>() { return pure<(T(*)(T, T))maximum>; }>;
}
