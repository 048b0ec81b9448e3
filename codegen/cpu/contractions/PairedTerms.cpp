// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shift, or a mask: the first of a pair is in the low half, and f32 has the bits of bf16 in its high one.

#include "codegen/cpu/contractions/PairedTerms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

static Value splat(LoopCode &code, Value pairs, uint32_t bits) {
  auto type = cast<VectorType>(pairs.getType());
  return arith::ConstantOp::create(code.builder, code.loc,
                                   DenseElementsAttr::get(type, APInt(32, static_cast<uint64_t>(bits))));
}

static Value asFloats(LoopCode &code, Value bits) {
  auto type = cast<VectorType>(bits.getType()).clone(code.builder.getF32Type());
  return arith::BitcastOp::create(code.builder, code.loc, type, bits);
}

Value cpu::widenFirst(LoopCode &code, Value pairs) {
  return asFloats(code, arith::ShLIOp::create(code.builder, code.loc, pairs, splat(code, pairs, 16)));
}

Value cpu::widenSecond(LoopCode &code, Value pairs) {
  return asFloats(code, arith::AndIOp::create(code.builder, code.loc, pairs, splat(code, pairs, 0xffff0000)));
}
