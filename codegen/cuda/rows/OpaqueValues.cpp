// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/OpaqueValues.h"

using namespace mlir;
using namespace mlir::resid;

static Value emitAssembly(OpBuilder &builder, Location loc, Type type, ValueRange operands, const Twine &text,
                          StringRef constraints) {
  return LLVM::InlineAsmOp::create(builder, loc, type, operands, text.str(), constraints, /*has_side_effects=*/true,
                                   /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                   /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

Value cuda::makeOpaque(OpBuilder &builder, Value value) {
  Type type = value.getType();
  StringRef constraints = type.isF32() ? "=f,0" : type.isInteger(32) ? "=r,0" : "=l,0";
  return emitAssembly(builder, value.getLoc(), type, value, "", constraints);
}

Value cuda::readAnew(OpBuilder &builder, Location loc, StringRef name) {
  return emitAssembly(builder, loc, builder.getI32Type(), {}, "mov.u32 $0, " + name + ";", "=r");
}
