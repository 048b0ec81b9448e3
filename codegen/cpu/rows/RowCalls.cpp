// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs row kernels by their functions, in tasks; see RowCalls.h.

#include "codegen/cpu/rows/RowCalls.h"

#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/choice/StoreChoice.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/rows/RowPartition.h"
#include "codegen/rows/SumOrder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

static void emitChoice(OpBuilder &at, Location loc, Value condition, function_ref<void(OpBuilder &)> then,
                       function_ref<void(OpBuilder &)> otherwise) {
  auto asBranch = [](function_ref<void(OpBuilder &)> body) {
    return [=](OpBuilder &inner, Location place) {
      body(inner);
      scf::YieldOp::create(inner, place);
    };
  };
  scf::IfOp::create(at, loc, condition, asBranch(then), asBranch(otherwise));
}

/// Calls a function that writes rows through the cache. A range that begins at row 0 may be that row alone.
static void callPlain(OpBuilder &at, const RowFunctions &functions, Location loc, ValueRange values, Value low,
                      Value high) {
  auto callRange = [&](OpBuilder &inner) {
    SmallVector<Value> operands(values);
    operands.append({low, high});
    func::CallOp::create(inner, loc, functions.getRows(), operands);
  };
  if (!functions.getPlan().hasLoneRow || !matchPattern(low, m_Zero()))
    return callRange(at);
  Value isLone = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, high, constantI64(at, loc, 1));
  emitChoice(
      at, loc, isLone, [&](OpBuilder &inner) { func::CallOp::create(inner, loc, functions.getLoneRow(), values); },
      callRange);
}

/// Behind what the functions take, where the plan streams: whether (i1) this call writes past the cache.
SmallVector<Value> RowKernels::makeValues(OpBuilder &builder, RowCall &call) {
  SmallVector<Value> values = call.code->functions.getShared().getArguments(builder, call.use);
  if (const std::optional<StreamedRows> &rows = call.code->functions.getPlan().streamed) {
    auto module = call.use.enclosing->getParentOfType<ModuleOp>();
    Value context = findContext(call.use.enclosing);
    values.push_back(emitStoreChoice(builder, module, call.use.kernel, call.use.addresses, *rows, target.schedule,
                                     call.plan, context));
  }
  return values;
}

void RowKernels::callRows(OpBuilder &at, const RowCall &call, ValueRange values, Value low, Value high) {
  Location loc = call.use.kernel->getLoc();
  const RowFunctions &functions = call.code->functions;
  if (!functions.getPlan().streamed)
    return callPlain(at, functions, loc, values, low, high);
  ValueRange arguments = values.drop_back();
  SmallVector<Value> operands(arguments);
  operands.append({low, high});
  emitChoice(
      at, loc, values.back(),
      [&](OpBuilder &inner) { func::CallOp::create(inner, loc, functions.getStream(), operands); },
      [&](OpBuilder &inner) { callPlain(inner, functions, loc, arguments, low, high); });
}

/// Runs a kernel with sums down the rows. Lanes are whole in a task, so that tasks need no sums of their own. Then the
/// results are made of the lanes; without rows, they stay as they are.
void RowKernels::emitSumCalls(RowCall &call, ValueRange values) {
  KernelUse &use = call.use;
  RowCode &code = *call.code;
  OpBuilder builder(use.kernel);
  Location loc = use.kernel.getLoc();
  int64_t taskElements = target.schedule.table.taskElements;
  auto partition = rows::RowPartition::create(builder, loc, use.addresses.rows);
  Value lanes = builder.createOrFold<arith::MaxSIOp>(loc, partition.lanes, constantI64(builder, loc, 1));
  Value laneRows = builder.createOrFold<arith::CeilDivSIOp>(loc, use.addresses.rows, lanes);
  Value elements = builder.createOrFold<arith::MulIOp>(loc, laneRows, use.addresses.width);
  code.task.emitCalls(
      use, values, TaskUnits::cut(builder, loc, partition.lanes, elements, taskElements),
      [&](OpBuilder &at, ValueRange visible, Value low, Value high) { callRows(at, call, visible, low, high); });
  Value none = constantI64(builder, loc, 0);
  Value hasRows = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, use.addresses.rows, none);
  Value columns = builder.createOrFold<arith::SelectOp>(loc, hasRows, use.addresses.width, none);
  // Each element is made of 64 lanes, which are read quickly. Tasks begin at whole chunks.
  int64_t taskColumns = llvm::alignTo(llvm::divideCeil(taskElements, rows::kSumLanes / 4), rows::kLanes);
  ValueRange arguments = code.functions.getPlan().streamed ? values.drop_back() : values;
  code.resultTask.emitCalls(use, arguments, TaskUnits{columns, constantI64(builder, loc, taskColumns)},
                            [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                              SmallVector<Value> operands(visible);
                              operands.append({low, high});
                              func::CallOp::create(at, loc, code.functions.getResults(), operands);
                            });
}

void RowKernels::emitCalls(RowCall &call) {
  OpBuilder builder(call.use.kernel);
  SmallVector<Value> values = makeValues(builder, call);
  if (call.code->functions.getResults())
    return emitSumCalls(call, values);
  call.code->task.emitCalls(
      call.use, values, target.schedule.table.taskElements,
      [&](OpBuilder &at, ValueRange visible, Value low, Value high) { callRows(at, call, visible, low, high); });
}

FailureOr<RowCall> RowKernels::add(rows::KernelOp kernel) {
  if (std::optional<std::string> obstacle = findLocalRowObstacle(kernel, target.schedule.table))
    return kernel.emitOpError(*obstacle);
  KernelPlan plan = planKernel(kernel, target);
  if (!plan.obstacle.empty())
    kernel.emitRemark() << "takes the scalar path (bit-exact): " << plan.obstacle;
  FailureOr<KernelUse> use = KernelUse::prepare(kernel);
  if (failed(use))
    return failure();
  auto shared = llvm::find_if(codes, [&](RowCode &code) { return code.functions.takeIn(*use, plan); });
  RowCode *code = shared != codes.end() ? &*shared : &codes.emplace_back(*use, plan, symbols, target);
  return RowCall{std::move(*use), std::move(plan), code};
}

void RowKernels::outline() {
  for (RowCode &code : codes)
    code.functions.outline();
}
