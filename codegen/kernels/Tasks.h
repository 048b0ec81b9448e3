// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the rows of a kernel, or other units of its work, in its place: at once, or cut into tasks for the caller's
// parallel_for. They are cut by shape alone, so results do not depend on threads. Not: what runs a range of them, which
// a target says.

#ifndef RESID_CODEGEN_KERNELS_TASKS_H
#define RESID_CODEGEN_KERNELS_TASKS_H

#include "codegen/kernels/SharedFunctions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <functional>

namespace mlir::resid::kernels {

/// So many units of work, and how many of them make a task; both i64.
struct TaskUnits {
  Value all, perTask;

  /// A task has `taskElements` elements or more. Each unit is a piece of the work.
  static TaskUnits cut(OpBuilder &builder, Location loc, KernelWork work, int64_t taskElements);
};

/// Where units of work are called: before an op, in a function.
struct CallPlace {
  Operation *before;
  func::FuncOp enclosing;
};

/// The function that runs one task of a kernel, for parallel_for; made where it is first needed.
class TaskFunction {
public:
  explicit TaskFunction(SharedFunctions &functions, StringRef suffix = "__task")
      : createFunction([&functions, suffix](TypeRange types) { return functions.createFunction(suffix, types); }) {}
  /// `createFunction` makes an empty private function with arguments of these types.
  explicit TaskFunction(std::function<func::FuncOp(TypeRange)> createFunction)
      : createFunction(std::move(createFunction)) {}

  /// Emits what runs the rows [low, high), both i64. `values` are those given to emitCalls, where they are visible.
  using CallRows = function_ref<void(OpBuilder &at, ValueRange values, Value low, Value high)>;

  /// Emits the calls for all units. All uses of the kernel's functions give values of the same types.
  void emitCalls(KernelUse &use, ValueRange values, TaskUnits units, CallRows callUnits) {
    emitCalls({use.op, use.enclosing}, values, units, callUnits);
  }
  void emitCalls(CallPlace place, ValueRange values, TaskUnits units, CallRows callUnits);

private:
  void callParallelFor(OpBuilder &builder, CallPlace place, Value hook, ValueRange fields, Value tasks,
                       CallRows callRows);
  func::FuncOp emitFunction(OpBuilder &builder, Location loc, LLVM::LLVMStructType record, CallRows callRows);

  std::function<func::FuncOp(TypeRange)> createFunction;
  std::optional<func::FuncOp> function;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_TASKS_H
