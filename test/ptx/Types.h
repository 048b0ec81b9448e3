// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of PTX, and what stands for them in the interpreter. Owns names and sizes.

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstdint>
#include <optional>

namespace resid::ptx {

enum class Type {
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  BF16,
  F16x2,
  BF16x2,
  F32,
  F32x2,
  F64,
  Pred
};

inline std::optional<Type> parseType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Type>>(name)
      .Case("b8", Type::B8)
      .Case("b16", Type::B16)
      .Case("b32", Type::B32)
      .Case("b64", Type::B64)
      .Case("u8", Type::U8)
      .Case("u16", Type::U16)
      .Case("u32", Type::U32)
      .Case("u64", Type::U64)
      .Case("s8", Type::S8)
      .Case("s16", Type::S16)
      .Case("s32", Type::S32)
      .Case("s64", Type::S64)
      .Case("u16x2", Type::U16x2)
      .Case("s16x2", Type::S16x2)
      .Case("f16", Type::F16)
      .Case("bf16", Type::BF16)
      .Case("f16x2", Type::F16x2)
      .Case("bf16x2", Type::BF16x2)
      .Case("f32", Type::F32)
      .Case("f32x2", Type::F32x2)
      .Case("f64", Type::F64)
      .Case("pred", Type::Pred)
      .Default(std::nullopt);
}

inline unsigned bytesOf(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::Pred:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  default:
    return 4;
  }
}

inline bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F16x2 || type == Type::BF16x2 || type == Type::F32 ||
         type == Type::F32x2 || type == Type::F64;
}

} // namespace resid::ptx
