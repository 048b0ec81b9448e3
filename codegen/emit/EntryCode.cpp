// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a C function under construction; see EntryCode.h.

#include "codegen/emit/EntryCode.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::resid::emit;

void EntryCode::begin(StringRef name, FunctionType type) {
  entry = func::FuncOp::create(builder, loc, name, type);
  Block *first = entry.addEntryBlock();
  leave = addBlock();
  Value status = leave->addArgument(builder.getI32Type(), loc);
  builder.setInsertionPointToStart(leave);
  func::ReturnOp::create(builder, loc, status);
  builder.setInsertionPointToStart(first);
}

void EntryCode::leaveIf(Value condition, Value status) {
  Block *next = addBlock();
  cf::CondBranchOp::create(builder, loc, condition, leave, ValueRange{status}, next, ValueRange{});
  builder.setInsertionPointToStart(next);
}
