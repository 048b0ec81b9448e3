// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the functions of a kernel as its plan says. Rare branches become calls; which ones those are, and how they are
// called, is RareBranches.h.

#include "codegen/cpu/rows/RowFunctions.h"

#include "codegen/cpu/choice/StoreChoice.h"
#include "codegen/cpu/rows/RowOrders.h"
#include "codegen/cpu/rows/ScalarRows.h"
#include "codegen/cpu/rows/SumRows.h"
#include "codegen/cpu/rows/VectorRows.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/rows/RareBranches.h"
#include "codegen/rows/RowPartition.h"
#include "codegen/rows/SumOrder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

namespace {

class RareBranchCaller : public VectorRowEmitter {
public:
  /// Functions that are not in `rare` yet are made where they are first called.
  RareBranchCaller(VectorFunction &function, const IRMapping &mapping, RowMemory &memory, VectorPrefetches &prefetches,
                   rows::RareFunctions &rare)
      : VectorRowEmitter(function, mapping, memory, prefetches), rare(rare) {}

private:
  void emitBranch(Block &block) override;

  rows::RareFunctions &rare;
};

} // namespace

void RareBranchCaller::emitBranch(Block &block) {
  auto getPointer = [&](rows::LoadOp load) { return memory.getSource(load, state.pointers).pointer; };
  auto emitBody = [&](const RareBranchBody &body) {
    KernelAddresses shape;
    shape.width = body.width;
    VectorFunction shell(builder, body.entry, shape, function.target);
    Value one = constantI64(builder, block.getParentOp()->getLoc(), 1);
    CachedMemory operands(ScratchRows(shell, one));
    VectorPrefetches none(shell, PrefetchScope::Nothing, one);
    VectorRowEmitter emitter(shell, body.mapping, operands, none);
    emitter.getState().pointers = body.rowPointers;
    emitter.emitBlock(block);
  };
  if (!rare.emitCall(builder, block, {state.mapping, getPointer, addresses.width}, emitBody))
    emitBlock(block);
}

RowFunctions::RowFunctions(KernelUse first, KernelPlan plan, SymbolTable &symbols, const CPUTarget &target)
    : KernelCode(std::move(first), symbols), plan(std::move(plan)), target(target),
      rareFunctions([this](TypeRange arguments, TypeRange results) {
        func::FuncOp function = functions.createFunction("__rare", arguments, results);
        setAttributes(function, StringRef("cold"));
        return function;
      }),
      task(functions), resultTask(functions, "__sums_task") {
  warnOfScalarPath(getKernel());
}

void RowFunctions::warnOfScalarPath(Operation *kernel) const {
  if (!plan.obstacle.empty())
    kernel->emitRemark() << "takes the scalar path (bit-exact): " << plan.obstacle;
}

bool RowFunctions::takeIn(KernelUse &other) {
  if (!functions.takeIn(other))
    return false;
  warnOfScalarPath(other.op);
  return true;
}

void RowFunctions::emit() {
  rows = outline("__rows", Form::Rows);
  if (plan.hasLoneRow)
    loneRow = outline("__row", Form::LoneRow);
  if (plan.streamed)
    stream = outline("__stream", Form::Stream);
  if (getFirst().as<rows::KernelAddresses>().scratch)
    results = outline("__sums", Form::Results);
}

/// One copy serves all calls: the plain ones and those of tasks. Short copies of the last columns are not to become
/// calls.
void RowFunctions::setAttributes(func::FuncOp function, ArrayRef<StringRef> more) const {
  SmallVector<StringRef> attributes = {"noinline", "no-builtins"};
  if (plan.path == RowPath::Vector)
    attributes.push_back(kVectorLoopsAttribute);
  llvm::append_range(attributes, more);
  function->setAttr("passthrough", OpBuilder(function).getStrArrayAttr(attributes));
}

func::FuncOp RowFunctions::outline(const Twine &suffix, Form form) {
  SmallVector<Type> range;
  if (form != Form::LoneRow)
    range.append(form != Form::Results && getKernel().hasAccumulated() ? 3 : 2,
                 IntegerType::get(getKernel().getContext(), 64));
  func::FuncOp function = functions.outline(suffix, range, [&](OpBuilder &at, KernelBody &body) {
    Code code(at, getKernel().getLoc());
    emitRows(code, body, form);
  });
  setAttributes(function);
  return function;
}

/// The rows of a form; their range stands in the last two arguments.
void RowFunctions::emitRows(Code &builder, KernelBody &body, Form form) {
  if (body.as<rows::KernelAddresses>().scratch)
    return emitSums(builder, body, form);
  if (plan.path == RowPath::Vector)
    return emitVectorRows(builder, body, form);
  rows::KernelOp kernel = getKernel();
  ScalarRowEmitter emitter(builder, body.entry, kernel, body.as<rows::KernelAddresses>(), body.mapping,
                           target.vectorBits);
  emitSingleRows(emitter, kernel, body.getArgumentFromEnd(2), body.getArgumentFromEnd(1));
}

/// A range of rows, or of columns of results.
void RowFunctions::emitSums(Code &builder, KernelBody &body, Form form) {
  rows::KernelOp kernel = getKernel();
  Value first = body.getArgumentFromEnd(3), low = body.getArgumentFromEnd(2), high = body.getArgumentFromEnd(1);
  SumRows sums(builder, body.entry, kernel, body.as<rows::KernelAddresses>(), target.vectorBits);
  if (form == Form::Results)
    return sums.emitResults(low, high);
  if (plan.path == RowPath::Scalar) {
    ScalarRowEmitter emitter(builder, body.entry, kernel, body.as<rows::KernelAddresses>(), body.mapping,
                             target.vectorBits);
    return sums.emitLanes(emitter, first, low, high, [&](Value begin, Value end) {
      emitChain(emitter, kernel, body.as<rows::KernelAddresses>().width, begin, end);
    });
  }
  VectorFunction function(builder, body.entry, body.as<rows::KernelAddresses>(), target);
  Value one = builder.constant(1);
  std::unique_ptr<RowMemory> memory = createMemory(function, form, one);
  VectorPrefetches prefetches(function, choosePrefetches(form), one);
  RareBranchCaller emitter(function, body.mapping, *memory, prefetches, rareFunctions);
  sums.emitLanes(emitter, first, low, high,
                 [&](Value begin, Value end) { emitVectorChain(emitter, kernel, begin, end); });
  memory->finish(kernel.getLoc());
}

std::unique_ptr<RowMemory> RowFunctions::createMemory(VectorFunction &function, Form form, Value batchRows) {
  ScratchRows local = allocateLocalRows(function, getKernel(), batchRows);
  if (form != Form::Stream)
    return std::make_unique<CachedMemory>(std::move(local));
  return std::make_unique<StreamedMemory>(std::move(local), function, *plan.streamed, batchRows);
}

PrefetchScope RowFunctions::choosePrefetches(Form form) const {
  if (form != Form::Stream)
    return PrefetchScope::MaskedColumns;
  if (!plan.prefetch)
    return PrefetchScope::Nothing;
  return plan.isPipelined() && plan.fetchesBetween ? PrefetchScope::RowsBetween : PrefetchScope::RowsAhead;
}

void RowFunctions::emitVectorRows(Code &builder, KernelBody &body, Form form) {
  rows::KernelOp kernel = getKernel();
  Location loc = kernel.getLoc();
  bool isStream = form == Form::Stream;
  RowOrder order = form == Form::LoneRow ? RowOrder::Single : plan.getOrder(isStream);
  VectorFunction function(builder, body.entry, body.as<rows::KernelAddresses>(), target);
  Value batchRows =
      order == RowOrder::Batched ? emitBatchRows(function, loc, plan.getBatchColumns(isStream)) : builder.constant(1);
  std::unique_ptr<RowMemory> memory = createMemory(function, form, batchRows);
  VectorPrefetches prefetches(function, choosePrefetches(form), batchRows);
  RareBranchCaller emitter(function, body.mapping, *memory, prefetches, rareFunctions);
  if (form == Form::LoneRow)
    return emitLoneRow(emitter, kernel);
  Value low = body.getArgumentFromEnd(2), high = body.getArgumentFromEnd(1);
  if (order == RowOrder::Pipelined)
    emitPipelinedRows(emitter, kernel, low, high);
  else if (order == RowOrder::Batched)
    emitBatchedRows(emitter, kernel, plan.getBatchColumns(isStream), batchRows, low, high);
  else
    emitSingleRows(emitter, kernel, low, high);
  memory->finish(loc); // Other threads may read what was written once this function has returned.
}

//===------------------------------------------- calls ------------------------------------------------------------===//

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
void RowFunctions::callPlain(OpBuilder &at, Location loc, ValueRange values, ValueRange range) {
  auto callRange = [&](OpBuilder &inner) {
    SmallVector<Value> operands(values);
    llvm::append_range(operands, range);
    func::CallOp::create(inner, loc, rows, operands);
  };
  if (!loneRow || !matchPattern(range.front(), m_Zero()))
    return callRange(at);
  Value isLone = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, range.back(), constantI64(at, loc, 1));
  emitChoice(
      at, loc, isLone, [&](OpBuilder &inner) { func::CallOp::create(inner, loc, loneRow, values); }, callRange);
}

/// After what the functions take, where the plan streams: whether (i1) this call writes past the cache.
SmallVector<Value> RowFunctions::makeValues(OpBuilder &builder, KernelUse &use, bool isReadSoon) {
  SmallVector<Value> values = functions.getArguments(builder, use);
  if (plan.streamed) {
    auto kernel = use.get<rows::KernelOp>();
    values.push_back(emitStoreChoice(builder, use.enclosing->getParentOfType<ModuleOp>(), kernel,
                                     use.as<rows::KernelAddresses>(), *plan.streamed, target.schedule,
                                     planKernel(kernel, target), isReadSoon, findContext(use.enclosing)));
  }
  return values;
}

void RowFunctions::callRows(OpBuilder &at, Location loc, ValueRange values, Value first, Value low, Value high) {
  SmallVector<Value> range = {low, high};
  if (hasSums())
    range.insert(range.begin(), first);
  if (!stream)
    return callPlain(at, loc, values, range);
  ValueRange arguments = values.drop_back();
  SmallVector<Value> operands(arguments);
  llvm::append_range(operands, range);
  emitChoice(
      at, loc, values.back(), [&](OpBuilder &inner) { func::CallOp::create(inner, loc, stream, operands); },
      [&](OpBuilder &inner) { callPlain(inner, loc, arguments, range); });
}

/// Runs a kernel with sums down the rows. Lanes are whole in a task, so that tasks need no sums of their own.
void RowFunctions::launchSums(KernelUse &use, ValueRange values) {
  Location loc = use.op->getLoc();
  Code builder(OpBuilder(use.op), loc);
  auto [allRows, width] = use.indexing->countWork(builder, loc);
  auto partition = rows::RowPartition::create(builder, allRows);
  Value lanes = builder.max(partition.lanes, 1);
  Value laneRows = builder.createOrFold<arith::CeilDivSIOp>(allRows, lanes);
  Value elements = builder.multiply(laneRows, width);
  SmallVector<Value> record(values);
  record.push_back(allRows);
  task.emitCalls(use, record,
                 TaskUnits::cut(builder, loc, {partition.lanes, elements}, target.schedule.table.taskElements),
                 [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                   Code code(at, loc);
                   auto [first, end] = rows::RowPartition::create(code, visible.back()).getRows(code, low, high);
                   callRows(code, loc, visible.drop_back(), first, first, end);
                 });
  emitResultCalls(use, use.op, values);
}

/// The results are made of the lanes; without rows, they stay as they are.
void RowFunctions::emitResultCalls(KernelUse &use, Operation *before, ValueRange values) {
  Location loc = use.op->getLoc();
  Code builder(OpBuilder(before), loc);
  auto [allRows, width] = use.indexing->countWork(builder, loc);
  Value hasRows = builder.compare(arith::CmpIPredicate::sgt, allRows, 0);
  Value columns = builder.select(hasRows, width, 0);
  // Each element is made of 64 lanes, which are read quickly. Tasks begin at whole chunks.
  int64_t taskElements = target.schedule.table.taskElements;
  int64_t taskColumns = llvm::alignTo(llvm::divideCeil(taskElements, rows::kSumLanes / 4), rows::kLanes);
  ValueRange arguments = stream ? values.drop_back() : values;
  resultTask.emitCalls({before, use.enclosing}, arguments, TaskUnits{columns, builder.constant(taskColumns)},
                       [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                         SmallVector<Value> operands(visible);
                         operands.append({low, high});
                         func::CallOp::create(at, loc, results, operands);
                       });
}

LogicalResult RowFunctions::launch(KernelUse &use) {
  OpBuilder builder(use.op);
  Location loc = use.op->getLoc();
  SmallVector<Value> values = makeValues(builder, use);
  if (results) {
    launchSums(use, values);
    return success();
  }
  TaskUnits units =
      TaskUnits::cut(builder, loc, use.indexing->countWork(builder, loc), target.schedule.table.taskElements);
  task.emitCalls(use, values, units, [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
    callRows(at, loc, visible, low, low, high);
  });
  return success();
}
