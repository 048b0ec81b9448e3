// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each rows.kernel into functions over a range of rows, and calls what this call of the kernel needs.

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/choice/StoreChoice.h"
#include "codegen/cpu/rows/RowFunctions.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/Tasks.h"
#include "codegen/rows/RowPartition.h"
#include "codegen/rows/SumOrder.h"
#include <deque>

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

namespace {

/// Runs ranges of a kernel's rows by its functions.
class RangeCaller {
public:
  RangeCaller(RowFunctions &functions, Location loc) : functions(functions), loc(loc) {}

  /// Calls what writes the rows [low, high) as this call of the kernel does. `values` are what the functions take, and
  /// behind them, where the plan streams, whether (i1) this call writes past the cache.
  void callRows(OpBuilder &at, ValueRange values, Value low, Value high);

private:
  void callPlain(OpBuilder &at, ValueRange values, Value low, Value high);

  RowFunctions &functions;
  Location loc;
};

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
void RangeCaller::callPlain(OpBuilder &at, ValueRange values, Value low, Value high) {
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

void RangeCaller::callRows(OpBuilder &at, ValueRange values, Value low, Value high) {
  if (!functions.getPlan().streamed)
    return callPlain(at, values, low, high);
  ValueRange arguments = values.drop_back();
  SmallVector<Value> operands(arguments);
  operands.append({low, high});
  emitChoice(
      at, loc, values.back(),
      [&](OpBuilder &inner) { func::CallOp::create(inner, loc, functions.getStream(), operands); },
      [&](OpBuilder &inner) { callPlain(inner, arguments, low, high); });
}

/// A kernel's functions on a CPU, and those that run its tasks.
struct KernelCode {
  KernelCode(KernelUse first, KernelPlan plan, SymbolTable &symbols, const CPUTarget &target)
      : functions(std::move(first), std::move(plan), symbols, target), task(functions.getShared()),
        resultTask(functions.getShared(), "__sums_task") {}

  RowFunctions functions;
  TaskFunction task, resultTask;
};

/// Runs a kernel with sums down the rows. Lanes are whole in a task, so that tasks need no sums of their own. Then the
/// results are made of the lanes; without rows, they stay as they are.
void emitSumCalls(KernelUse &use, ValueRange values, KernelCode &code, const Schedule &schedule) {
  OpBuilder builder(use.kernel);
  Location loc = use.kernel.getLoc();
  int64_t taskElements = schedule.table.taskElements;
  auto calling = [loc](func::FuncOp function) {
    return [=](OpBuilder &at, ValueRange visible, Value low, Value high) {
      SmallVector<Value> operands(visible);
      operands.append({low, high});
      func::CallOp::create(at, loc, function, operands);
    };
  };
  auto partition = rows::RowPartition::create(builder, loc, use.addresses.rows);
  Value lanes = builder.createOrFold<arith::MaxSIOp>(loc, partition.lanes, constantI64(builder, loc, 1));
  Value laneRows = builder.createOrFold<arith::CeilDivSIOp>(loc, use.addresses.rows, lanes);
  Value elements = builder.createOrFold<arith::MulIOp>(loc, laneRows, use.addresses.width);
  code.task.emitCalls(use, values, TaskUnits::cut(builder, loc, partition.lanes, elements, taskElements),
                      calling(code.functions.getRows()));
  Value none = constantI64(builder, loc, 0);
  Value hasRows = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, use.addresses.rows, none);
  Value columns = builder.createOrFold<arith::SelectOp>(loc, hasRows, use.addresses.width, none);
  // Each element is made of 64 lanes, which are read quickly. Tasks begin at whole chunks.
  int64_t taskColumns = llvm::alignTo(llvm::divideCeil(taskElements, rows::kSumLanes / 4), rows::kLanes);
  code.resultTask.emitCalls(use, values, TaskUnits{columns, constantI64(builder, loc, taskColumns)},
                            calling(code.functions.getResults()));
}

/// Runs a kernel in its place.
void emitCalls(KernelUse &use, const KernelPlan &plan, KernelCode &code, const Schedule &schedule) {
  OpBuilder builder(use.kernel);
  SmallVector<Value> values = code.functions.getShared().getArguments(builder, use);
  if (code.functions.getResults())
    return emitSumCalls(use, values, code, schedule);
  if (const std::optional<StreamedRows> &rows = code.functions.getPlan().streamed) {
    auto module = use.enclosing->getParentOfType<ModuleOp>();
    Value context = findContext(use.enclosing);
    values.push_back(emitStoreChoice(builder, module, use.kernel, use.addresses, *rows, schedule, plan, context));
  }
  RangeCaller caller(code.functions, use.kernel.getLoc());
  code.task.emitCalls(
      use, values, schedule.table.taskElements,
      [&](OpBuilder &at, ValueRange visible, Value low, Value high) { caller.callRows(at, visible, low, high); });
}

struct LowerKernels : public cpu::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  /// A schedule that is none is a wrong flag, which is said before any program is read.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(Pass::initializeOptions(options, errorHandler)))
      return failure();
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    return parsed ? success() : errorHandler(llvm::toString(parsed.takeError()));
  }

  void runOnOperation() override {
    SmallVector<rows::KernelOp> kernels;
    getOperation().walk([&](rows::KernelOp kernel) { kernels.push_back(kernel); });
    CPUTarget target;
#define RESID_KERNEL_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) target.MEMBER = MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    if (llvm::Error error = parsed ? target.use(*parsed) : parsed.takeError()) {
      getOperation().emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    if (failed(lower(kernels, target)))
      return signalPassFailure();
  }

  LogicalResult lower(ArrayRef<rows::KernelOp> kernels, const CPUTarget &target) {
    SymbolTable symbols(getOperation());
    std::deque<KernelCode> codes;
    std::vector<std::tuple<KernelUse, KernelPlan, KernelCode *>> uses;
    for (rows::KernelOp kernel : kernels) {
      if (std::optional<std::string> obstacle = findLocalRowObstacle(kernel, target.schedule.table))
        return kernel.emitOpError(*obstacle);
      KernelPlan plan = planKernel(kernel, target);
      if (!plan.obstacle.empty())
        kernel.emitRemark() << "takes the scalar path (bit-exact): " << plan.obstacle;
      FailureOr<KernelUse> use = KernelUse::prepare(kernel);
      if (failed(use))
        return failure();
      auto shared = llvm::find_if(codes, [&](KernelCode &code) { return code.functions.takeIn(*use, plan); });
      KernelCode *code = shared != codes.end() ? &*shared : &codes.emplace_back(*use, plan, symbols, target);
      uses.emplace_back(std::move(*use), std::move(plan), code);
    }
    for (KernelCode &code : codes)
      code.functions.outline();
    for (auto &[use, plan, code] : uses)
      emitCalls(use, plan, *code, target.schedule);
    for (rows::KernelOp kernel : kernels)
      kernel.erase();
    return success();
  }
};

} // namespace
