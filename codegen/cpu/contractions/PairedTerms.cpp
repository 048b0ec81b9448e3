// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shift, or a mask: the first of a pair is in the low half, and f32 has the bits of bf16 in its high one.

#include "codegen/cpu/contractions/PairedTerms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

static Value splat(Code &code, Value pairs, uint32_t bits) {
  auto type = cast<VectorType>(pairs.getType());
  return code.create<arith::ConstantOp>(DenseElementsAttr::get(type, APInt(32, static_cast<uint64_t>(bits))));
}

static Value asFloats(Code &code, Value bits) {
  auto type = cast<VectorType>(bits.getType()).clone(code.getF32Type());
  return code.create<arith::BitcastOp>(type, bits);
}

Value cpu::widenFirst(Code &code, Value pairs) {
  return asFloats(code, code.create<arith::ShLIOp>(pairs, splat(code, pairs, 16)));
}

Value cpu::widenSecond(Code &code, Value pairs) {
  return asFloats(code, code.create<arith::AndIOp>(pairs, splat(code, pairs, 0xffff0000)));
}
