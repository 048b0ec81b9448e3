// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each rows.kernel into a function over a range of rows, and calls it: at once, or in tasks through the
// caller's parallel_for hook.

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/choice/StoreChoice.h"
#include "codegen/cpu/rows/RowFunctions.h"
#include "codegen/kernels/ContextOffsets.h"
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

/// Calls the functions of a kernel in its place.
class KernelCaller {
public:
  KernelCaller(KernelUse &use, RowFunctions &functions, const Schedule &schedule)
      : use(use), functions(functions), schedule(schedule), builder(use.kernel), loc(use.kernel.getLoc()) {}

  void emitCalls();

private:
  Value getContext();
  void callPlain(OpBuilder &at, ValueRange values, Value low, Value high);
  void callRows(OpBuilder &at, ValueRange values, Value stream, Value low, Value high);
  func::FuncOp emitTaskFunction(LLVM::LLVMStructType record);
  void callParallelFor(Value context, Value hook, Value tasks, Value taskRows);
  Value loadHook(Value context, Value tasks);
  Value loadAt(Type type, Value pointer, int64_t offset);

  KernelUse &use;
  RowFunctions &functions;
  const Schedule &schedule;
  OpBuilder builder;
  Location loc;
  SmallVector<Value> arguments;
  /// Whether (i1) this call writes rows past the cache, where that may be.
  Value useStream;
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
void KernelCaller::callPlain(OpBuilder &at, ValueRange values, Value low, Value high) {
  auto callRange = [&](OpBuilder &inner) {
    SmallVector<Value> operands(values);
    operands.append({low, high});
    func::CallOp::create(inner, loc, functions.getRows(), operands);
  };
  if (!functions.getLoneRow() || !matchPattern(low, m_Zero()))
    return callRange(at);
  Value isLone = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, high, constantI64(at, loc, 1));
  emitChoice(
      at, loc, isLone,
      [&](OpBuilder &inner) { func::CallOp::create(inner, loc, functions.getLoneRow(), values); }, callRange);
}

/// Calls the function for rows as `stream` (null: never) says.
void KernelCaller::callRows(OpBuilder &at, ValueRange values, Value stream, Value low, Value high) {
  if (!stream)
    return callPlain(at, values, low, high);
  SmallVector<Value> operands(values);
  operands.append({low, high});
  emitChoice(
      at, loc, stream, [&](OpBuilder &inner) { func::CallOp::create(inner, loc, functions.getStream(), operands); },
      [&](OpBuilder &inner) { callPlain(inner, values, low, high); });
}

Value KernelCaller::getContext() {
  if (use.enclosing.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(use.enclosing.getArgument(0).getType()))
    return {};
  return use.enclosing.getArgument(0);
}

Value KernelCaller::loadAt(Type type, Value pointer, int64_t offset) {
  Value address = LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

/// The context's parallel_for where there is a context and more than one task, else null.
Value KernelCaller::loadHook(Value context, Value tasks) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value null = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value hasContext = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, context, null);
  Value isMany = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, tasks, constantI64(builder, loc, 1));
  Value useHook = arith::AndIOp::create(builder, loc, hasContext, isMany);
  auto choice = scf::IfOp::create(builder, loc, pointerType, useHook, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, loadAt(pointerType, context, kernels::ParallelFor));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, null);
  return choice.getResult(0);
}

void KernelCaller::emitCalls() {
  Value zero = constantI64(builder, loc, 0), one = constantI64(builder, loc, 1);
  Value context = getContext();
  arguments = functions.getArguments(builder, use);
  if (const std::optional<StreamedRows> &rows = functions.getStreamedRows()) {
    auto module = use.enclosing->getParentOfType<ModuleOp>();
    useStream = emitStoreChoice(builder, module, use.kernel, use.addresses, *rows, schedule, use.plan);
  }
  if (!context)
    return callRows(builder, arguments, useStream, zero, use.addresses.rows);
  Value width = builder.createOrFold<arith::MaxSIOp>(loc, use.addresses.width, one);
  Value fitting =
      builder.createOrFold<arith::CeilDivSIOp>(loc, constantI64(builder, loc, schedule.table.taskElements), width);
  Value taskRows = builder.createOrFold<arith::MaxSIOp>(loc, fitting, one);
  Value tasks = builder.createOrFold<arith::CeilDivSIOp>(loc, use.addresses.rows, taskRows);
  Value hook = loadHook(context, tasks);
  Value null = LLVM::ZeroOp::create(builder, loc, hook.getType());
  Value hasHook = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, hook, null);
  auto branch = scf::IfOp::create(builder, loc, hasHook, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  callParallelFor(context, hook, tasks, taskRows);
  builder.setInsertionPointToStart(branch.elseBlock());
  callRows(builder, arguments, useStream, zero, use.addresses.rows);
}

/// The tasks' record: the row function's arguments, whether rows are written past the cache where that may be, then the
/// number of rows of a task and of all.
void KernelCaller::callParallelFor(Value context, Value hook, Value tasks, Value taskRows) {
  SmallVector<Value> fields(arguments);
  if (useStream)
    fields.push_back(useStream);
  fields.append({taskRows, use.addresses.rows});
  SmallVector<Type> types(ValueRange(fields).getTypes());
  auto record = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  if (!functions.taskFunction)
    functions.taskFunction = emitTaskFunction(record);
  func::FuncOp task = functions.taskFunction;
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());

  OpBuilder atEntry = OpBuilder::atBlockBegin(&use.enclosing.getBody().front());
  Value memory = LLVM::AllocaOp::create(atEntry, loc, pointerType, record, constantI64(atEntry, loc, 1));
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, record, memory,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, field, address);
  }
  Value reference = func::ConstantOp::create(builder, loc, task.getFunctionType(), SymbolRefAttr::get(task));
  Value taskPointer = UnrealizedConversionCastOp::create(builder, loc, pointerType, reference).getResult(0);
  Value user = loadAt(pointerType, context, kernels::User);
  auto hookType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                              {pointerType, builder.getI64Type(), pointerType, pointerType});
  LLVM::CallOp::create(builder, loc, hookType, ValueRange{hook, user, tasks, taskPointer, memory});
}

func::FuncOp KernelCaller::emitTaskFunction(LLVM::LLVMStructType record) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  func::FuncOp task = functions.createFunction("__task", {pointerType, builder.getI64Type()});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&task.getBody().front());
  SmallVector<Value> fields;
  for (auto [i, type] : llvm::enumerate(record.getBody())) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, record, task.getArgument(0),
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    fields.push_back(LLVM::LoadOp::create(builder, loc, type, address));
  }
  Value allRows = fields.pop_back_val(), taskRows = fields.pop_back_val();
  Value low = arith::MulIOp::create(builder, loc, task.getArgument(1), taskRows);
  Value high = arith::AddIOp::create(builder, loc, low, taskRows);
  Value stream = useStream ? fields.pop_back_val() : Value();
  callRows(builder, fields, stream, low, arith::MinSIOp::create(builder, loc, high, allRows));
  func::ReturnOp::create(builder, loc);
  return task;
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
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    if (!parsed) {
      getOperation().emitError(llvm::toString(parsed.takeError()));
      return signalPassFailure();
    }
    CPUTarget target;
    target.schedule = *parsed;
    target.vectorBits = vectorBits;
    target.maskedBits = maskedBits;
    target.hasPackedBF16 = hasPackedBF16;
    target.isX86 = isX86;
    if (failed(lower(kernels, target)))
      return signalPassFailure();
  }

  LogicalResult lower(ArrayRef<rows::KernelOp> kernels, const CPUTarget &target) {
    SymbolTable symbols(getOperation());
    std::deque<RowFunctions> code;
    std::vector<std::pair<KernelUse, RowFunctions *>> uses;
    for (rows::KernelOp kernel : kernels) {
      FailureOr<KernelUse> use = KernelUse::prepare(kernel, target);
      if (failed(use))
        return failure();
      auto shared = llvm::find_if(code, [&](RowFunctions &functions) { return functions.takeIn(*use); });
      RowFunctions *functions = shared != code.end() ? &*shared : &code.emplace_back(*use, symbols, target);
      uses.emplace_back(std::move(*use), functions);
    }
    for (RowFunctions &functions : code)
      functions.outline();
    for (auto &[use, functions] : uses)
      KernelCaller(use, *functions, target.schedule).emitCalls();
    for (rows::KernelOp kernel : kernels)
      kernel.erase();
    return success();
  }
};

} // namespace
