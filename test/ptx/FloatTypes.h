// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the handler of a float type.

#pragma once

#include "test/ptx/Decoder.h"
#include "test/ptx/FloatMath.h"

namespace resid::ptx {

template <typename Make> Handler forWideFloat(std::optional<Type> type, Make make) {
  if (type == Type::F32)
    return make.template operator()<float>();
  if (type == Type::F64)
    return make.template operator()<double>();
  return nullptr;
}

template <typename Make> Handler forScalarFloat(std::optional<Type> type, Make make) {
  if (type == Type::F16)
    return make.template operator()<Half>();
  if (type == Type::BF16)
    return make.template operator()<BFloat>();
  return forWideFloat(type, make);
}

template <typename Make> Handler forFloat(std::optional<Type> type, Make make) {
  if (type == Type::F16x2)
    return make.template operator()<Both<Half>>();
  if (type == Type::BF16x2)
    return make.template operator()<Both<BFloat>>();
  return forScalarFloat(type, make);
}

/// Of sums and products, which have pairs of f32 too.
template <typename Make> Handler forArithmetic(std::optional<Type> type, Make make) {
  return type == Type::F32x2 ? make.template operator()<Both<float>>() : forFloat(type, make);
}

/// Takes the rounding of an operation, which must be to nearest, ties to even. Without it, ptxas may fuse a product
/// with a sum. Subnormals must not be flushed.
bool takeRounding(Decoder &d);
bool refuseFlush(Decoder &d);

/// In ApproximateRules.cpp: what is left of an instruction with `.approx` or `.full`.
void decodeApproximate(Decoder &d, llvm::StringRef accuracy);

} // namespace resid::ptx
