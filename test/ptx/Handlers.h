// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the handler of an instruction by its type.

#pragma once

#include "test/ptx/Decoder.h"
#include "test/ptx/FloatMath.h"

namespace resid::ptx {

/// What `make` gives for the constant that is equal to a value, or null.
template <auto... Known, typename Value, typename Make> auto among(Value value, Make make) {
  std::common_type_t<decltype(make.template operator()<Known>())...> found{};
  ((value == Known ? void(found = make.template operator()<Known>()) : void()), ...);
  return found;
}

/// What `make` gives for the values of a type that is one of these, or null.
template <Type... Known> struct OneOf {
  template <typename Make> auto operator()(std::optional<Type> type, Make make) const {
    return among<Known...>(type, [&]<Type T>() { return make.template operator()<ValueOf<T>>(); });
  }
};

inline constexpr OneOf<Type::B16, Type::B32, Type::B64> forBits;
inline constexpr OneOf<Type::B32, Type::B64> forWideBits;
inline constexpr OneOf<Type::S16, Type::S32, Type::S64> forSigned;
inline constexpr OneOf<Type::U16, Type::S16, Type::U32, Type::S32> forNarrowInteger;
inline constexpr OneOf<Type::U32, Type::S32, Type::U64, Type::S64> forWideInteger;
inline constexpr OneOf<Type::U16, Type::S16, Type::U32, Type::S32, Type::U64, Type::S64> forInteger;
inline constexpr OneOf<Type::F32, Type::F64> forWideFloat;
inline constexpr OneOf<Type::F16, Type::BF16> forNarrowFloat;
inline constexpr OneOf<Type::F16, Type::BF16, Type::F32, Type::F64> forScalarFloat;
inline constexpr OneOf<Type::F16, Type::BF16, Type::F32, Type::F64, Type::F16x2, Type::BF16x2> forFloat;

/// The rule of an instruction that is a function of its operands, for each type that it has.
template <auto Types, auto Make> void decodeTyped(Decoder &d) { d.emitPure(Types(d.takeType(), Make)); }

/// A result narrower than its register is extended by its sign.
template <typename T> using Extended = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

/// Takes the rounding of an operation, which must be to nearest, ties to even. Without it, ptxas may fuse a product
/// with a sum.
bool takeRounding(Decoder &d);

} // namespace resid::ptx
