// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/Tasks.h"

#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/Extent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

/// The context's parallel_for where there is a context and more than one task, else null.
static Value loadHook(OpBuilder &builder, Location loc, Value context, Value tasks) {
  Value isMany = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, tasks, constantI64(builder, loc, 1));
  return loadMemberIf(builder, loc, isMany, LLVM::LLVMPointerType::get(builder.getContext()), context, ParallelFor);
}

TaskUnits TaskUnits::cut(OpBuilder &builder, Location loc, KernelWork work, int64_t taskElements) {
  Value one = constantI64(builder, loc, 1), least = constantI64(builder, loc, taskElements);
  Value size = builder.createOrFold<arith::MaxSIOp>(loc, work.elements, one);
  Value fitting = builder.createOrFold<arith::CeilDivSIOp>(loc, least, size);
  return {work.pieces, builder.createOrFold<arith::MaxSIOp>(loc, fitting, one)};
}

void TaskFunction::emitCalls(CallPlace place, ValueRange values, TaskUnits units, CallRows callUnits) {
  OpBuilder builder(place.before);
  Location loc = place.before->getLoc();
  Value zero = constantI64(builder, loc, 0), context = findContext(place.enclosing);
  if (!context)
    return callUnits(builder, values, zero, units.all);
  Value tasks = builder.createOrFold<arith::CeilDivSIOp>(loc, units.all, units.perTask);
  Value hook = loadHook(builder, loc, context, tasks);
  Value null = LLVM::ZeroOp::create(builder, loc, hook.getType());
  Value hasHook = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, hook, null);
  auto branch = scf::IfOp::create(builder, loc, hasHook, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  // The tasks' record: the values, then the number of units of a task and of all.
  SmallVector<Value> record(values);
  record.append({units.perTask, units.all});
  callParallelFor(builder, place, hook, record, tasks, callUnits);
  builder.setInsertionPointToStart(branch.elseBlock());
  callUnits(builder, values, zero, units.all);
}

void TaskFunction::callParallelFor(OpBuilder &builder, CallPlace place, Value hook, ValueRange fields, Value tasks,
                                   CallRows callRows) {
  Location loc = place.before->getLoc();
  SmallVector<Type> types(ValueRange(fields).getTypes());
  auto record = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  if (!function)
    function = emitFunction(builder, loc, record, callRows);
  func::FuncOp task = *function;
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());

  OpBuilder atEntry = OpBuilder::atBlockBegin(&place.enclosing.getBody().front());
  Value memory = LLVM::AllocaOp::create(atEntry, loc, pointerType, record, constantI64(atEntry, loc, 1));
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, record, memory,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, field, address);
  }
  Value reference = func::ConstantOp::create(builder, loc, task.getFunctionType(), SymbolRefAttr::get(task));
  Value taskPointer = UnrealizedConversionCastOp::create(builder, loc, pointerType, reference).getResult(0);
  Value user = loadMember(builder, loc, pointerType, findContext(place.enclosing), User);
  auto hookType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                              {pointerType, builder.getI64Type(), pointerType, pointerType});
  LLVM::CallOp::create(builder, loc, hookType, ValueRange{hook, user, tasks, taskPointer, memory});
}

func::FuncOp TaskFunction::emitFunction(OpBuilder &builder, Location loc, LLVM::LLVMStructType record,
                                        CallRows callRows) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  func::FuncOp task = createFunction({pointerType, builder.getI64Type()});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&task.getBody().front());
  SmallVector<Value> fields;
  for (auto [i, type] : llvm::enumerate(record.getBody())) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, record, task.getArgument(0),
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    fields.push_back(LLVM::LoadOp::create(builder, loc, type, address));
  }
  Value all = fields.pop_back_val(), perTask = fields.pop_back_val();
  Value low = arith::MulIOp::create(builder, loc, task.getArgument(1), perTask);
  Value high = arith::AddIOp::create(builder, loc, low, perTask);
  callRows(builder, fields, low, arith::MinSIOp::create(builder, loc, high, all));
  func::ReturnOp::create(builder, loc);
  return task;
}
