// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each rows.kernel into a function over a range of rows, and calls it: at once, or in tasks through the
// caller's parallel_for hook.

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/ScalarRows.h"
#include "codegen/cpu/ScheduleTable.h"
#include "codegen/cpu/StoreChoice.h"
#include "codegen/cpu/VectorRows.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {

/// Elements per task: below that, handing work to another thread costs more than it saves.
constexpr int64_t kTaskElements = 32768;
/// Place of parallel_for in resid_ctx: after two 32-bit numbers and the user's pointer, which lies at byte 8.
constexpr int64_t kUserOffset = 8, kParallelForOffset = 16;

class KernelOutliner {
public:
  KernelOutliner(rows::KernelOp kernel, SymbolTable &symbols, const CPUTarget &target)
      : kernel(kernel), enclosing(kernel->getParentOfType<func::FuncOp>()), symbols(symbols), target(target),
        path(target.schedule.path), builder(kernel), loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult collectCaptures();
  func::FuncOp outline(const Twine &suffix, const StreamedRows *stream);
  Value bindCapture(Value capture, Value argument);
  Value getContext();
  void emitCalls();
  void callRows(OpBuilder &at, ValueRange arguments, Value stream, Value low, Value high);
  func::FuncOp createFunction(const Twine &suffix, TypeRange argumentTypes);
  func::FuncOp emitTaskFunction(LLVM::LLVMStructType record);
  void callParallelFor(Value context, Value hook, Value tasks, Value taskRows);
  Value loadHook(Value context, Value tasks);
  Value loadAt(Type type, Value pointer, int64_t offset);

  rows::KernelOp kernel;
  func::FuncOp enclosing;
  SymbolTable &symbols;
  const CPUTarget &target;
  RowPath path;
  OpBuilder builder;
  Location loc;
  KernelAddresses addresses;
  /// Values of the caller that the row function needs; constants are made again there. Passed: as arguments.
  SetVector<Value> captures;
  SmallVector<Value> arguments;
  func::FuncOp rowFunction;
  /// Where rows may be written past the cache: what writes them so, and whether (i1) this call does.
  std::optional<StreamedRows> streamedRows;
  func::FuncOp streamFunction;
  Value useStream;
};

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

LogicalResult KernelOutliner::run() {
  if (!enclosing)
    return kernel.emitOpError("expected a function around the kernel");
  FailureOr<KernelAddresses> computed = computeKernelAddresses(builder, kernel);
  if (failed(computed))
    return failure();
  addresses = *computed;
  if (path == RowPath::Vector)
    if (std::optional<std::string> obstacle = findVectorObstacle(kernel)) {
      kernel.emitRemark() << "takes the scalar path (bit-exact): " << *obstacle;
      path = RowPath::Scalar;
    }
  if (failed(collectCaptures()))
    return failure();
  rowFunction = outline("__rows", /*stream=*/nullptr);
  if (target.isX86 && path == RowPath::Vector && target.schedule.stores != StoreKind::Plain)
    streamedRows = StreamedRows::plan(kernel);
  if (streamedRows)
    streamFunction = outline("__stream", &*streamedRows);
  emitCalls();
  kernel.erase();
  return success();
}

LogicalResult KernelOutliner::collectCaptures() {
  addresses.forEachValue([&](Value &value) { captures.insert(value); });
  getUsedValuesDefinedAbove(kernel.getBody(), captures);
  for (Value capture : captures) {
    Type type = capture.getType();
    if (!type.isIntOrIndexOrFloat() && !isa<LLVM::LLVMPointerType>(type))
      return kernel.emitOpError("expected only scalars from above, but got ") << type;
    if (!isConstant(capture))
      arguments.push_back(type.isIndex() ? castToI64(builder, loc, capture) : capture);
  }
  return success();
}

func::FuncOp KernelOutliner::createFunction(const Twine &suffix, TypeRange argumentTypes) {
  StringRef base = enclosing.getName();
  base.consume_back("__impl");
  auto type = FunctionType::get(builder.getContext(), argumentTypes, {});
  auto function = func::FuncOp::create(loc, (base + suffix).str(), type);
  function.setPrivate();
  symbols.insert(function, enclosing->getIterator());
  function.addEntryBlock();
  return function;
}

/// What stands for `capture` in the row function.
Value KernelOutliner::bindCapture(Value capture, Value argument) {
  if (!argument)
    return builder.clone(*capture.getDefiningOp())->getResult(0);
  if (capture.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), argument);
  return argument;
}

/// The kernel as a function over a range of rows, plain or, with `stream`, past the cache.
func::FuncOp KernelOutliner::outline(const Twine &suffix, const StreamedRows *stream) {
  SmallVector<Type> types(ValueRange(arguments).getTypes());
  types.append(2, builder.getI64Type());
  func::FuncOp function = createFunction(suffix, types);
  // One copy serves the plain call and the tasks. Short copies of the last columns are not to become calls.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins"}));
  Block *entry = &function.getBody().front();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);

  IRMapping mapping;
  unsigned next = 0;
  for (Value capture : captures)
    mapping.map(capture, bindCapture(capture, isConstant(capture) ? Value() : entry->getArgument(next++)));
  KernelAddresses inner = addresses;
  inner.forEachValue([&](Value &value) { value = mapping.lookup(value); });
  Value low = entry->getArgument(next), high = entry->getArgument(next + 1);
  if (path == RowPath::Scalar)
    ScalarRowEmitter(builder, entry, inner, mapping, target.vectorBits).emitRows(kernel, low, high);
  else
    VectorRowEmitter(builder, entry, inner, mapping, target, stream, stream && usesPrefetch(kernel, target.schedule))
        .emitRows(kernel, low, high);
  if (stream) // Other threads may read what was written once this function has returned.
    LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
  func::ReturnOp::create(builder, loc);
  return function;
}

/// Calls the function for rows as `stream` (null: never) says.
void KernelOutliner::callRows(OpBuilder &at, ValueRange values, Value stream, Value low, Value high) {
  SmallVector<Value> operands(values);
  operands.append({low, high});
  if (!stream) {
    func::CallOp::create(at, loc, rowFunction, operands);
    return;
  }
  auto emitCall = [&](func::FuncOp function) {
    return [=](OpBuilder &inner, Location) {
      func::CallOp::create(inner, loc, function, operands);
      scf::YieldOp::create(inner, loc);
    };
  };
  scf::IfOp::create(at, loc, stream, emitCall(streamFunction), emitCall(rowFunction));
}

Value KernelOutliner::getContext() {
  if (enclosing.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(enclosing.getArgument(0).getType()))
    return {};
  return enclosing.getArgument(0);
}

Value KernelOutliner::loadAt(Type type, Value pointer, int64_t offset) {
  Value address = LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

/// The context's parallel_for where there is a context and more than one task, else null.
Value KernelOutliner::loadHook(Value context, Value tasks) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value null = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value hasContext = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, context, null);
  Value isMany = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, tasks, constantI64(builder, loc, 1));
  Value useHook = arith::AndIOp::create(builder, loc, hasContext, isMany);
  auto choice = scf::IfOp::create(builder, loc, pointerType, useHook, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, loadAt(pointerType, context, kParallelForOffset));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, null);
  return choice.getResult(0);
}

void KernelOutliner::emitCalls() {
  Value zero = constantI64(builder, loc, 0), one = constantI64(builder, loc, 1);
  Value context = getContext();
  if (streamedRows) {
    auto module = enclosing->getParentOfType<ModuleOp>();
    useStream = emitStoreChoice(builder, module, kernel, addresses, *streamedRows, target.schedule);
  }
  if (!context)
    return callRows(builder, arguments, useStream, zero, addresses.rows);
  Value width = builder.createOrFold<arith::MaxSIOp>(loc, addresses.width, one);
  Value fitting = builder.createOrFold<arith::CeilDivSIOp>(loc, constantI64(builder, loc, kTaskElements), width);
  Value taskRows = builder.createOrFold<arith::MaxSIOp>(loc, fitting, one);
  Value tasks = builder.createOrFold<arith::CeilDivSIOp>(loc, addresses.rows, taskRows);
  Value hook = loadHook(context, tasks);
  Value null = LLVM::ZeroOp::create(builder, loc, hook.getType());
  Value hasHook = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, hook, null);
  auto branch = scf::IfOp::create(builder, loc, hasHook, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  callParallelFor(context, hook, tasks, taskRows);
  builder.setInsertionPointToStart(branch.elseBlock());
  callRows(builder, arguments, useStream, zero, addresses.rows);
}

/// The tasks' record: the row function's arguments, whether rows are written past the cache where that may be, then the
/// number of rows of a task and of all.
void KernelOutliner::callParallelFor(Value context, Value hook, Value tasks, Value taskRows) {
  SmallVector<Value> fields(arguments);
  if (useStream)
    fields.push_back(useStream);
  fields.append({taskRows, addresses.rows});
  SmallVector<Type> types(ValueRange(fields).getTypes());
  auto record = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  func::FuncOp task = emitTaskFunction(record);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());

  OpBuilder atEntry = OpBuilder::atBlockBegin(&enclosing.getBody().front());
  Value memory = LLVM::AllocaOp::create(atEntry, loc, pointerType, record, constantI64(atEntry, loc, 1));
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, record, memory,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, field, address);
  }
  Value reference = func::ConstantOp::create(builder, loc, task.getFunctionType(), SymbolRefAttr::get(task));
  Value taskPointer = UnrealizedConversionCastOp::create(builder, loc, pointerType, reference).getResult(0);
  Value user = loadAt(pointerType, context, kUserOffset);
  auto hookType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                              {pointerType, builder.getI64Type(), pointerType, pointerType});
  LLVM::CallOp::create(builder, loc, hookType, ValueRange{hook, user, tasks, taskPointer, memory});
}

func::FuncOp KernelOutliner::emitTaskFunction(LLVM::LLVMStructType record) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  func::FuncOp task = createFunction("__task", {pointerType, builder.getI64Type()});
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

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
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
    for (rows::KernelOp kernel : kernels)
      if (failed(KernelOutliner(kernel, symbols, target).run()))
        return signalPassFailure();
  }
};

} // namespace
