// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a C function under construction; see EntryCode.h.

#include "codegen/boundary/EntryCode.h"

#include "codegen/boundary/Refusals.h"
#include "codegen/boundary/SizeCode.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::resid::boundary;

void EntryCode::begin(StringRef name, FunctionType type) {
  entry = func::FuncOp::create(builder, loc, name, type);
  Block *first = entry.addEntryBlock();
  refuse = addBlock();
  refuse->addArgument(builder.getI32Type(), loc);
  refuseOverlap = addBlock();
  builder.setInsertionPointToStart(first);
}

void EntryCode::refuseIf(Value condition, Status status) {
  Block *next = addBlock();
  cf::CondBranchOp::create(builder, loc, condition, refuse, ValueRange{constant32(status)}, next, ValueRange{});
  builder.setInsertionPointToStart(next);
}

void EntryCode::branchIf(Value condition, Block *block) {
  Block *next = addBlock();
  cf::CondBranchOp::create(builder, loc, condition, block, ValueRange{}, next, ValueRange{});
  builder.setInsertionPointToStart(next);
}

/// A function whose body comes when the module is LLVM's (Refusals.cpp).
LLVM::LLVMFuncOp EntryCode::getRefusalFunction(StringRef suffix, TypeRange types) {
  auto module = entry->getParentOfType<ModuleOp>();
  std::string name = signature.symbol + suffix.str();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), llvm::to_vector(types));
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  return function;
}

Value EntryCode::emitValueRefusal(Value refusal, Value value) {
  if (!value)
    value = arith::ConstantIntOp::create(builder, loc, 0, 64);
  SmallVector<Value> operands = {context, refusal, value};
  return LLVM::CallOp::create(builder, loc, getRefusalFunction(kRefuseValueSuffix, TypeRange(ValueRange(operands))),
                              operands)
      .getResult();
}

void EntryCode::refuseValueIf(Value condition, int32_t refusal, Value value) {
  Block *refused = addBlock();
  branchIf(condition, refused);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(refused);
  func::ReturnOp::create(builder, loc, emitValueRefusal(constant32(refusal), value));
}

void EntryCode::emitArrayRefusal(ValueRange sizes, Value status) {
  SmallVector<Value> operands = {context};
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results)) {
    if (parameter.type->isArray())
      operands.push_back(parameter.value);
    bool isArgument = &parameter >= arguments.begin() && &parameter < arguments.end();
    for (int64_t code : parameter.type->shape)
      if (isArgument && code < 0)
        operands.push_back(sizes[-1 - code]);
    if (parameter.stride)
      operands.push_back(parameter.stride);
  }
  auto pushSize = [&](SizeExpr expression) {
    Value none = arith::ConstantIntOp::create(builder, loc, INT64_MIN, 64);
    Value fault = arith::ConstantIntOp::create(builder, loc, 0, 1);
    Value size = emitSize(
        builder, loc, expression, [&](unsigned index) { return sizes[index]; }, fault);
    operands.push_back(arith::SelectOp::create(builder, loc, fault, none, size));
  };
  llvm::for_each(getRefusedSizes(signature), pushSize);
  operands.push_back(status);
  LLVM::LLVMFuncOp function = getRefusalFunction(kRefuseArraysSuffix, TypeRange(ValueRange(operands)));
  func::ReturnOp::create(builder, loc, LLVM::CallOp::create(builder, loc, function, operands).getResult());
}
