// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/ElementMemory.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::resid;

Type kernels::getMemoryType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return element;
  // As LLVM lays out arrays of integers.
  uint64_t bits = std::max<uint64_t>(8, llvm::PowerOf2Ceil(integer.getWidth()));
  return bits == integer.getWidth() ? element : IntegerType::get(element.getContext(), bits);
}

int64_t kernels::getElementBytes(Type element) { return getMemoryType(element).getIntOrFloatBitWidth() / 8; }
