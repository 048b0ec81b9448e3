// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of PTX, and what stands for them in the interpreter. Owns names and sizes.

#pragma once

#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <optional>

namespace resid::ptx {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
/// The two halves of a register, as in `.f16x2` or `.s16x2`.
template <typename T> struct Both { T low, high; };

/// Each type of PTX, and its values here. Types without a sign (.b32) are unsigned numbers. The name in a text is the
/// one here in lower case.
// clang-format off
#define RESID_PTX_TYPES(TYPE)                                                                                          \
  TYPE(B8, uint8_t) TYPE(B16, uint16_t) TYPE(B32, uint32_t) TYPE(B64, uint64_t)                                        \
  TYPE(U8, uint8_t) TYPE(U16, uint16_t) TYPE(U32, uint32_t) TYPE(U64, uint64_t)                                        \
  TYPE(S8, int8_t) TYPE(S16, int16_t) TYPE(S32, int32_t) TYPE(S64, int64_t)                                            \
  TYPE(U16x2, Both<uint16_t>) TYPE(S16x2, Both<int16_t>) TYPE(Pred, bool)                                              \
  TYPE(F16, Half) TYPE(BF16, BFloat) TYPE(F16x2, Both<Half>) TYPE(BF16x2, Both<BFloat>)                                \
  TYPE(F32, float) TYPE(F32x2, Both<float>) TYPE(F64, double)
// clang-format on

#define RESID_PTX_ENUMERATOR(NAME, VALUE) NAME,
enum class Type { RESID_PTX_TYPES(RESID_PTX_ENUMERATOR) };
#undef RESID_PTX_ENUMERATOR

namespace detail {
template <Type> struct Value;
#define RESID_PTX_VALUE(NAME, VALUE)                                                                                   \
  template <> struct Value<Type::NAME> { using type = VALUE; };
RESID_PTX_TYPES(RESID_PTX_VALUE)
#undef RESID_PTX_VALUE
} // namespace detail
template <Type T> using ValueOf = typename detail::Value<T>::type;

inline std::optional<Type> parseType(llvm::StringRef name) {
#define RESID_PTX_NAME(NAME, VALUE) {llvm::StringRef(#NAME).lower(), Type::NAME},
  static const llvm::StringMap<Type> types = {RESID_PTX_TYPES(RESID_PTX_NAME)};
#undef RESID_PTX_NAME
  auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

inline unsigned bytesOf(Type type) {
#define RESID_PTX_SIZE(NAME, VALUE) sizeof(VALUE),
  constexpr unsigned sizes[] = {RESID_PTX_TYPES(RESID_PTX_SIZE)};
#undef RESID_PTX_SIZE
  return sizes[unsigned(type)];
}

inline bool isFloat(Type type) { return type >= Type::F16; }

} // namespace resid::ptx
