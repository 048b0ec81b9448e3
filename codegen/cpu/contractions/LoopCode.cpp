// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/contractions/LoopCode.h"

#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

Type cpu::getMovedType(Type element) {
  Type memory = kernels::getMemoryType(element);
  return memory.getIntOrFloatBitWidth() == 16 ? IntegerType::get(element.getContext(), 16) : memory;
}

Value LoopCode::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}
Value LoopCode::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value LoopCode::subtract(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value LoopCode::multiply(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }
Value LoopCode::divide(Value a, Value b) { return builder.createOrFold<arith::DivUIOp>(loc, a, b); }
Value LoopCode::remainder(Value a, Value b) { return builder.createOrFold<arith::RemUIOp>(loc, a, b); }
Value LoopCode::ceilDivide(Value a, Value b) { return divide(add(a, subtract(b, constant(1))), b); }
Value LoopCode::min(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }
Value LoopCode::max(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
Value LoopCode::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}
Value LoopCode::isAtMost(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, a, b);
}
Value LoopCode::isEqual(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, b);
}

SmallVector<Value> LoopCode::loop(Value low, Value high, int64_t step, ValueRange first,
                                  function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, loc, low, high, constant(step), first);
  OpBuilder::InsertionGuard guard(builder);
  if (!first.empty())
    builder.setInsertionPointToEnd(loop.getBody());
  else
    builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!first.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void LoopCode::loop(Value low, Value high, Value step, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, low, high, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void LoopCode::loop(Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  loop(low, high, constant(step), body);
}

void LoopCode::choose(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

SmallVector<Value> LoopCode::choose(Value condition, TypeRange types, function_ref<SmallVector<Value>()> then,
                                    function_ref<SmallVector<Value>()> otherwise) {
  if (types.empty()) {
    choose(
        condition, [&] { then(); }, [&] { otherwise(); });
    return {};
  }
  auto branch = scf::IfOp::create(builder, loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, then());
  builder.setInsertionPointToEnd(&branch.getElseRegion().front());
  scf::YieldOp::create(builder, loc, otherwise());
  return SmallVector<Value>(branch.getResults());
}

Value LoopCode::at(Value pointer, Type element, Value index) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ValueRange(index));
}

Value LoopCode::at(Value pointer, Type element, int64_t index) {
  if (index == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value LoopCode::load(Type type, Value pointer) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, /*alignment=*/1);
}

void LoopCode::store(Value value, Value pointer) {
  LLVM::StoreOp::create(builder, loc, value, pointer, /*alignment=*/1);
}

void LoopCode::prefetch(Value pointer) {
  LLVM::Prefetch::create(builder, loc, pointer, /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

Value LoopCode::allocate(Block *entry, Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), element,
                                constant(count), /*alignment=*/64);
}

Value LoopCode::spread(Value value, int64_t lanes) {
  return vector::BroadcastOp::create(builder, loc, VectorType::get(lanes, value.getType()), value);
}
