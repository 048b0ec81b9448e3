// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/MatrixUnits.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;

static Type makeWords(Code &code, Type word, int64_t count) {
  return LLVM::LLVMStructType::getLiteral(code.getContext(), SmallVector<Type>(count, word));
}

bool cuda::takesMatrices(Type a, Type b, Type arithmetic) {
  return a == b && (arithmetic.isF32() ? a.isBF16() || a.isF16() : a.isInteger(8) && arithmetic.isInteger(32));
}

SmallVector<Value> cuda::loadMatrices(Code &code, Type element, Value address, int64_t count, bool isTransposed) {
  auto layout = isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto shape = NVVM::LdStMatrixShapeAttr::get(code.getContext(), 8, 8);
  Value loaded = code.create<NVVM::LdMatrixOp>(makeWords(code, code.getI32Type(), count), address, count, layout, shape,
                                               NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> matrices;
  for (int64_t i = 0; i < count; ++i) {
    Value word = code.create<LLVM::ExtractValueOp>(loaded, i);
    matrices.push_back(element.isF16() ? code.create<LLVM::BitcastOp>(VectorType::get(2, element), word) : word);
  }
  return matrices;
}

void cuda::multiplyMatrices(Code &code, Type element, ArrayRef<Value> a, ArrayRef<Value> b,
                            MutableArrayRef<Value> sums) {
  bool areBytes = element.isInteger(8);
  auto kind = areBytes ? NVVM::MMATypes::s8 : element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  int64_t shape[] = {kMatrixRows, kMatrixColumns, areBytes ? 2 * kMatrixTerms : kMatrixTerms};
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (areBytes)
    overflow = NVVM::MMAIntOverflow::wrapped;
  Value next = code.create<NVVM::MmaOp>(makeWords(code, sums.front().getType(), 4), a, b, ValueRange(sums), shape,
                                        std::nullopt, overflow, std::array<NVVM::MMATypes, 2>{kind, kind},
                                        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = code.create<LLVM::ExtractValueOp>(next, i);
}

Value cuda::packMatrixPair(Code &code, Value low, Value high) {
  return code.either(code.shiftRight(code.bits(low), 16), code.bits(high));
}
