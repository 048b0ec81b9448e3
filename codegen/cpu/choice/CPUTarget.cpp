// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/choice/CPUTarget.h"

using namespace mlir::resid::cpu;

llvm::Error CPUTarget::use(const Schedule &chosen) {
  unsigned bits = chosen.getVectorBits();
  if (bits > vectorBits)
    return llvm::createStringError("expected vector-bits of at most " + llvm::Twine(vectorBits) +
                                   ", which the processor has, but got '" + llvm::Twine(bits) + "'");
  schedule = chosen;
  if (bits && bits != vectorBits)
    vectorBitsReason = "the schedule says so";
  if (bits)
    vectorBits = bits;
  return llvm::Error::success();
}
