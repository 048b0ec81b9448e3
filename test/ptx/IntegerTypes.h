// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the handler of an integer type. Types without a sign (.b32) are unsigned ones.

#pragma once

#include "test/ptx/Decoder.h"

namespace resid::ptx {

template <typename T> struct WideOf;
template <> struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WideOf<int16_t> {
  using type = int32_t;
};
template <> struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WideOf<int32_t> {
  using type = int64_t;
};
template <> struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <> struct WideOf<int64_t> {
  using type = __int128;
};
/// An integer of twice the width.
template <typename T> using Wide = typename WideOf<T>::type;
/// Signed sums may overflow, which C++ does not define; unsigned ones wrap around, as PTX says.
template <typename T> using Unsigned = std::make_unsigned_t<T>;

template <typename Make> Handler forNarrowInteger(std::optional<Type> type, Make make) {
  if (type == Type::U16)
    return make.template operator()<uint16_t>();
  if (type == Type::S16)
    return make.template operator()<int16_t>();
  if (type == Type::U32)
    return make.template operator()<uint32_t>();
  if (type == Type::S32)
    return make.template operator()<int32_t>();
  return nullptr;
}

template <typename Make> Handler forSigned(std::optional<Type> type, Make make) {
  if (type == Type::S16)
    return make.template operator()<int16_t>();
  if (type == Type::S32)
    return make.template operator()<int32_t>();
  if (type == Type::S64)
    return make.template operator()<int64_t>();
  return nullptr;
}

template <typename Make> Handler forInteger(std::optional<Type> type, Make make) {
  if (type == Type::U64)
    return make.template operator()<uint64_t>();
  if (type == Type::S64)
    return make.template operator()<int64_t>();
  return forNarrowInteger(type, make);
}

template <typename Make> Handler forBits(std::optional<Type> type, Make make) {
  if (type == Type::B16)
    return make.template operator()<uint16_t>();
  if (type == Type::B32)
    return make.template operator()<uint32_t>();
  if (type == Type::B64)
    return make.template operator()<uint64_t>();
  return nullptr;
}

} // namespace resid::ptx
