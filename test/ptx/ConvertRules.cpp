// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt: conversions between integers and floats of all widths. cvt.pack and formats of 8 bits are not known.

#include "test/ptx/Handlers.h"

#include <limits>

using namespace resid::ptx;

namespace {

constexpr OneOf<Type::U8, Type::S8, Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64> forAnyInteger;

/// The nearest value of the other type.
template <typename To, typename From> To saturateInteger(From value) {
  __int128 wide = value, low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  return To(wide < low ? low : wide > high ? high : wide);
}

template <typename To, typename From> Extended<To> extendInteger(From value) { return To(value); }
template <typename To, typename From> Extended<To> extendSaturated(From value) {
  return saturateInteger<To, From>(value);
}

/// An integer as a float, rounded once. A 64-bit integer is rounded to odd before it is rounded to 16 bits.
template <typename To, typename From> To fromInteger(From value) {
  if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
    return To(value);
  } else {
    double rounded = double(value);
    if constexpr (sizeof(From) == 8) {
      // Beyond 2^53 all bits of the double are in use; what is lost shows in the last of them.
      __int128 lost = __int128(value) - __int128(rounded);
      uint64_t bits = llvm::bit_cast<uint64_t>(rounded);
      if (lost != 0 && !(bits & 1))
        rounded = llvm::bit_cast<double>((lost > 0) == (rounded > 0) ? bits + 1 : bits - 1);
    }
    return narrow<To>(rounded);
  }
}

enum class Rounding { Nearest, Zero, Down, Up };
double roundInteger(Rounding rounding, double value) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
}

/// Out of range, the nearest integer. NaN gives 0, but the leading bit where one of the types has 64 bits (PTX ISA,
/// cvt).
template <typename To, typename From> Extended<To> toInteger(From value, Rounding rounding) {
  double wide = widen(value);
  if (std::isnan(wide))
    return sizeof(To) == 8 || sizeof(From) == 8 ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
  double rounded = roundInteger(rounding, wide);
  // The least double over the range is exact for every type.
  double end = std::ldexp(1.0, 8 * sizeof(To) - std::is_signed_v<To>);
  if (rounded >= end)
    return std::numeric_limits<To>::max();
  if (rounded < double(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return To(rounded);
}

// Between floats. bf16 to f32 is a shift, and keeps the bits of NaN.
template <typename To, typename From> To convertFloat(From value) { return narrow<To>(widen(value)); }
template <> float convertFloat<float, BFloat>(BFloat value) {
  return llvm::bit_cast<float>(uint32_t(value.bits) << 16);
}
template <typename T> T roundFloat(T value, Rounding rounding) {
  return narrow<T>(roundInteger(rounding, widen(value)));
}

/// To [0, 1]; NaN becomes 0.
template <typename To, typename From> To saturateFloat(From value) {
  double wide = widen(value);
  return narrow<To>(wide > 0 ? std::min(wide, 1.0) : 0.0);
}
/// Negative numbers become 0; NaN stays.
template <typename To, typename From> To rectifyFloat(From value) {
  double wide = widen(value);
  return narrow<To>(wide < 0 ? 0.0 : wide);
}

/// The first operand becomes the upper half.
template <typename T, bool Rectifies> Both<T> pack(float high, float low) {
  return Rectifies ? Both<T>{rectifyFloat<T>(low), rectifyFloat<T>(high)} : Both<T>{narrow<T>(low), narrow<T>(high)};
}

/// A function of a value and of a rounding, which is the immediate.
template <auto F, typename T> const Instruction *rounded(const Instruction *i, Thread &t) {
  t.write(i->slots[0], F(t.read<T>(i->slots[1]), Rounding(i->immediate)));
  return i + 1;
}

std::optional<Rounding> takeIntegerRounding(Decoder &d) {
  return d.takeOne<Rounding>(
      {{"rni", Rounding::Nearest}, {"rzi", Rounding::Zero}, {"rmi", Rounding::Down}, {"rpi", Rounding::Up}});
}

/// What `make` gives for the values of two types, each of which is one of several.
template <typename ToTypes, typename FromTypes, typename Make>
auto forBoth(ToTypes toTypes, Type to, FromTypes fromTypes, Type from, Make make) {
  return toTypes(to, [&]<typename To>() {
    return fromTypes(from, [&]<typename From>() { return make.template operator()<To, From>(); });
  });
}

void decodeIntegers(Decoder &d, Type to, Type from) {
  bool saturates = d.take("sat");
  d.emitPure(forBoth(forAnyInteger, to, forAnyInteger, from, [&]<typename To, typename From>() {
    return saturates ? pure<extendSaturated<To, From>> : pure<extendInteger<To, From>>;
  }));
}

void decodeFromInteger(Decoder &d, Type to, Type from) {
  if (takeRounding(d))
    d.emitPure(forBoth(forScalarFloat, to, forAnyInteger, from,
                       []<typename To, typename From>() { return pure<fromInteger<To, From>>; }));
}

void decodeToInteger(Decoder &d, Type to, Type from) {
  // Values out of range saturate in any case.
  d.take("sat");
  auto rounding = takeIntegerRounding(d);
  if (!rounding)
    return d.fail("expected .rni, .rzi, .rmi or .rpi");
  d.emitPure(forBoth(forAnyInteger, to, forScalarFloat, from,
                     []<typename To, typename From>() {
                       return Pure{rounded<toInteger<To, From>, From>, 2};
                     }),
             uint64_t(*rounding));
}

void decodePack(Decoder &d, Type to) {
  bool rectifies = d.take("relu");
  if (takeRounding(d))
    d.emitPure(forNarrowFloat(to == Type::F16x2 ? Type::F16 : Type::BF16,
                              [&]<typename T>() { return rectifies ? pure<pack<T, true>> : pure<pack<T, false>>; }));
}

void decodeFloats(Decoder &d, Type to, Type from) {
  auto rounding = takeIntegerRounding(d);
  if (rounding && to == from)
    return d.emitPure(forScalarFloat(to,
                                     []<typename T>() {
                                       return Pure{rounded<roundFloat<T>, T>, 2};
                                     }),
                      uint64_t(*rounding));
  // Between f16 and bf16, both directions round.
  bool rounds = bytesOf(to) < bytesOf(from) || (bytesOf(to) == 2 && bytesOf(from) == 2 && to != from);
  if (rounding || (rounds && !takeRounding(d)))
    return rounding ? d.fail("unknown instruction") : void();
  bool saturates = d.take("sat"), rectifies = !saturates && d.take("relu");
  d.emitPure(forBoth(forScalarFloat, to, forScalarFloat, from, [&]<typename To, typename From>() {
    return saturates   ? pure<saturateFloat<To, From>>
           : rectifies ? pure<rectifyFloat<To, From>>
                       : pure<convertFloat<To, From>>;
  }));
}

void decodeCvt(Decoder &d) {
  auto to = d.takeType(), from = d.takeType();
  if (!to || !from)
    return d.fail("unknown type");
  if ((to == Type::F16x2 || to == Type::BF16x2) && from == Type::F32)
    return decodePack(d, *to);
  if (isFloat(*to))
    return isFloat(*from) ? decodeFloats(d, *to, *from) : decodeFromInteger(d, *to, *from);
  return isFloat(*from) ? decodeToInteger(d, *to, *from) : decodeIntegers(d, *to, *from);
}

} // namespace

void resid::ptx::addConvertRules(Rules &rules) { rules.any["cvt"] = decodeCvt; }
