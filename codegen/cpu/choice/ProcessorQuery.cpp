// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions with several results as inline assembly.

#include "codegen/cpu/choice/ProcessorQuery.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;

/// The registers after an instruction with several results, each an i32, as one value.
static Value emitInstruction(OpBuilder &builder, Location loc, StringRef name, StringRef constraints,
                             ValueRange operands, unsigned results) {
  SmallVector<Type> types(results, builder.getI32Type());
  Type type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  return LLVM::InlineAsmOp::create(builder, loc, type, operands, name, constraints, /*has_side_effects=*/true,
                                   /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                   /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      ->getResult(0);
}

Value cpu::emitCPUID(OpBuilder &builder, Location loc, Value leaf, Value subleaf) {
  return emitInstruction(builder, loc, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}", {leaf, subleaf}, 4);
}

Value cpu::emitXGETBV(OpBuilder &builder, Location loc, Value number) {
  Value halves = emitInstruction(builder, loc, "xgetbv", "={ax},={dx},{cx}", number, 2);
  return emitRegister(builder, loc, halves, EAX);
}

Value cpu::emitRegister(OpBuilder &builder, Location loc, Value registers, CPUIDRegister which) {
  return LLVM::ExtractValueOp::create(builder, loc, registers, ArrayRef<int64_t>{which});
}
