// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/CallerContext.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;

Value kernels::findContext(func::FuncOp function) {
  if (function.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(function.getArgument(0).getType()))
    return {};
  return function.getArgument(0);
}

Value kernels::loadMember(OpBuilder &builder, Location loc, Type type, Value context, ContextOffset offset) {
  Value address = LLVM::GEPOp::create(builder, loc, context.getType(), builder.getI8Type(), context,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value kernels::loadMemberIf(OpBuilder &builder, Location loc, Value condition, Type type, Value context,
                            ContextOffset offset) {
  Value null = LLVM::ZeroOp::create(builder, loc, context.getType());
  Value isThere = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, context, null);
  Value isRead = builder.createOrFold<arith::AndIOp>(loc, isThere, condition);
  auto choice = scf::IfOp::create(builder, loc, type, isRead, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, loadMember(builder, loc, type, context, offset));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, LLVM::ZeroOp::create(builder, loc, type).getResult());
  return choice.getResult(0);
}
