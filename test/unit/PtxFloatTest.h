// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands for tests of float instructions, and narrow floats of LLVM.

#pragma once

#include "PtxTest.h"

#include "llvm/ADT/APFloat.h"

namespace resid::ptx {

inline const std::vector<uint64_t> kFloats = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f800001, 0x4b800000,
                                              0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                                              0x7fa00001, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3eaaaaab};
inline const std::vector<Operands> kFloatCases = triples(kFloats, 4000);

inline std::vector<Operands> doubleCases() {
  std::vector<uint64_t> values;
  for (uint64_t bits : kFloats)
    // NaNs of f64 have no bits that NVIDIA states.
    if (asFloat(bits) == asFloat(bits))
      values.push_back(llvm::bit_cast<uint64_t>(double(asFloat(bits))));
  values.push_back(1);
  values.push_back(0x0010000000000000);
  values.push_back(0x7fefffffffffffff);
  return triples(values, 0);
}
inline const std::vector<Operands> kDoubleCases = doubleCases();

inline llvm::APFloat narrowFloat(const llvm::fltSemantics &semantics, uint64_t bits) {
  return llvm::APFloat(semantics, llvm::APInt(64, bits).trunc(16));
}
inline uint64_t bitsOf(const llvm::APFloat &value) {
  return value.isNaN() ? 0x7fff : value.bitcastToAPInt().getZExtValue();
}

} // namespace resid::ptx
