// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt: conversions between integers and floats of all widths. cvt.pack and formats of 8 bits are not known.

#include "test/ptx/FloatTypes.h"
#include "test/ptx/IntegerTypes.h"

#include <limits>

using namespace resid::ptx;

namespace {

template <typename Make> Handler forAnyInteger(Type type, Make make) {
  if (type == Type::U8)
    return make.template operator()<uint8_t>();
  if (type == Type::S8)
    return make.template operator()<int8_t>();
  return forInteger(type, make);
}

template <typename To, typename From> To convertInteger(From value) { return To(value); }

/// The nearest value of the other type.
template <typename To, typename From> To saturateInteger(From value) {
  __int128 wide = value, low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  return To(wide < low ? low : wide > high ? high : wide);
}

/// A result narrower than its register is extended by its sign, as the manual says of cvt.
template <typename T> using Extended = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
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
template <Rounding R> double roundInteger(double value) {
  switch (R) {
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
template <typename To, typename From, Rounding R> Extended<To> toInteger(From value) {
  double wide = widen(value);
  if (std::isnan(wide))
    return sizeof(To) == 8 || sizeof(From) == 8 ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
  double rounded = roundInteger<R>(wide);
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
template <typename T, Rounding R> T roundFloat(T value) { return narrow<T>(roundInteger<R>(widen(value))); }

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

std::optional<Rounding> takeIntegerRounding(Decoder &d) {
  llvm::StringRef name = d.takeAny({"rni", "rzi", "rmi", "rpi"});
  if (name.empty())
    return std::nullopt;
  return name == "rni"   ? Rounding::Nearest
         : name == "rzi" ? Rounding::Zero
         : name == "rmi" ? Rounding::Down
                         : Rounding::Up;
}

template <Rounding R> Handler toIntegerHandler(Type to, Type from) {
  return forAnyInteger(to, [&]<typename To>() {
    return forScalarFloat(from, []<typename From>() { return pure<toInteger<To, From, R>>; });
  });
}

template <Rounding R> Handler roundHandler(Type type) {
  return forScalarFloat(type, []<typename T>() { return pure<roundFloat<T, R>>; });
}

/// A function of the rounding, chosen by its name.
template <typename Make> Handler forRounding(Rounding rounding, Make make) {
  switch (rounding) {
  case Rounding::Nearest:
    return make.template operator()<Rounding::Nearest>();
  case Rounding::Zero:
    return make.template operator()<Rounding::Zero>();
  case Rounding::Down:
    return make.template operator()<Rounding::Down>();
  case Rounding::Up:
    return make.template operator()<Rounding::Up>();
  }
}

void decodeIntegers(Decoder &d, Type to, Type from) {
  bool saturates = d.take("sat");
  d.emitPure(forAnyInteger(to,
                           [&]<typename To>() {
                             return forAnyInteger(from, [&]<typename From>() {
                               return saturates ? pure<extendSaturated<To, From>> : pure<extendInteger<To, From>>;
                             });
                           }),
             2);
}

void decodeFromInteger(Decoder &d, Type to, Type from) {
  if (takeRounding(d))
    d.emitPure(forScalarFloat(to,
                              [&]<typename To>() {
                                return forAnyInteger(from, []<typename From>() { return pure<fromInteger<To, From>>; });
                              }),
               2);
}

void decodeToInteger(Decoder &d, Type to, Type from) {
  // Values out of range saturate in any case.
  d.take("sat");
  auto rounding = takeIntegerRounding(d);
  if (!refuseFlush(d))
    return;
  if (!rounding)
    return d.fail("expected .rni, .rzi, .rmi or .rpi");
  d.emitPure(forRounding(*rounding, [&]<Rounding R>() { return toIntegerHandler<R>(to, from); }), 2);
}

void decodePack(Decoder &d, Type to) {
  bool rectifies = d.take("relu");
  if (!takeRounding(d))
    return;
  if (to == Type::F16x2)
    d.emitPure(rectifies ? pure<pack<Half, true>> : pure<pack<Half, false>>, 3);
  else
    d.emitPure(rectifies ? pure<pack<BFloat, true>> : pure<pack<BFloat, false>>, 3);
}

void decodeFloats(Decoder &d, Type to, Type from) {
  if (!refuseFlush(d))
    return;
  auto rounding = takeIntegerRounding(d);
  if (rounding && to == from)
    return d.emitPure(forRounding(*rounding, [&]<Rounding R>() { return roundHandler<R>(to); }), 2);
  // Between f16 and bf16, both directions round.
  bool rounds = bytesOf(to) < bytesOf(from) || (bytesOf(to) == 2 && bytesOf(from) == 2 && to != from);
  if (rounding || (rounds && !takeRounding(d)))
    return rounding ? d.fail("unknown instruction") : void();
  bool saturates = d.take("sat"), rectifies = !saturates && d.take("relu");
  d.emitPure(forScalarFloat(to,
                            [&]<typename To>() {
                              return forScalarFloat(from, [&]<typename From>() {
                                return saturates   ? pure<saturateFloat<To, From>>
                                       : rectifies ? pure<rectifyFloat<To, From>>
                                                   : pure<convertFloat<To, From>>;
                              });
                            }),
             2);
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

void resid::ptx::addConvertRules(Rules &rules) { rules["cvt"] = decodeCvt; }
