// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CPU does with the kernels of a module: which code each kind gets, and which kernels run together. The function
// of attention is here too; what is emitted into it is not (AttentionEmitter.h).

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/attention/AttentionEmitter.h"
#include "codegen/cpu/attention/BackwardEmitter.h"
#include "codegen/cpu/blocks/RowBlockCalls.h"
#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/kernels/KernelLowering.h"
#include "codegen/kernels/Tasks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

namespace {

class AttentionFunction : public kernels::KernelCode {
public:
  AttentionFunction(kernels::KernelUse first, SymbolTable &symbols, const CPUTarget &target, MicroKernels &microKernels)
      : KernelCode(std::move(first), symbols), shape(chooseMicroKernelShape(target, getShape().arithmetic)),
        vectorBits(target.vectorBits), taskTerms(target.schedule.table.productTaskTerms), microKernels(microKernels),
        task(functions, "__attention_task") {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  const attention::AttentionShape &getShape() { return getFirst().as<attention::AttentionShape>(); }
  Value countSlotBytes(AttentionView &view);

  MicroKernelShape shape;
  int64_t vectorBits, taskTerms;
  MicroKernels &microKernels;
  kernels::TaskFunction task;
  func::FuncOp function;
};

} // namespace

/// The function over a range of units. Its last arguments are the range and how many units a task has, which tells the
/// task's slot.
void AttentionFunction::emit() {
  OpBuilder builder(getFirst().op->getContext());
  SmallVector<Type> range(3, builder.getI64Type());
  StringRef suffix = getShape().isBackward ? "__attention_backward" : "__attention";
  function = functions.outline(suffix, range, [&](OpBuilder &at, kernels::KernelBody &body) {
    Code code(at, getFirst().op->getLoc());
    AttentionView view(code, body.entry, body.as<AttentionShape>());
    Value low = body.getArgumentFromEnd(3), high = body.getArgumentFromEnd(2), perTask = body.getArgumentFromEnd(1);
    Value offset = view.code.multiply(view.code.divide(low, perTask), countSlotBytes(view));
    view.slot = view.code.at(view.shape.scratch, at.getI8Type(), offset);
    if (view.shape.isBackward)
      BackwardEmitter(view, shape, microKernels).emit(low, high);
    else
      AttentionEmitter(view, shape, vectorBits, microKernels).emit(low, high);
  });
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
}

Value AttentionFunction::countSlotBytes(AttentionView &view) {
  if (!view.shape.isBackward)
    return view.code.constant(view.memory.bytes);
  return BackwardMemory(view.shape).countBytes(view.code, view.code.getLoc(), view.shape).value;
}

/// Units are cut into tasks by the terms of their products, of which each has about as many.
LogicalResult AttentionFunction::launch(kernels::KernelUse &use) {
  OpBuilder builder(use.op);
  Location loc = use.op->getLoc();
  Code code(builder, loc);
  const auto &shape = use.as<AttentionShape>();
  bool isBackward = shape.isBackward;
  Value units =
      (isBackward ? BackwardMemory::countUnits(builder, loc, shape) : AttentionMemory::countUnits(builder, loc, shape))
          .value;
  Value rows = code.multiply(shape.group.value, shape.queries.value);
  if (!isBackward)
    rows = code.min(rows, kUnitRows);
  Value keys = isBackward ? shape.keys.value : shape.countSeenKeys(builder, loc, kUnitRows).value;
  Value pairs = code.multiply(code.max(rows, 1), keys);
  Value terms = code.multiply(pairs, shape.countTerms());
  Value perTask = countTaskUnits(code, units, terms, taskTerms);
  SmallVector<Value> arguments = functions.getArguments(builder, use);
  arguments.push_back(perTask);
  task.emitCalls(use, arguments, {units, perTask}, [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
    SmallVector<Value> operands(visible.drop_back());
    operands.append({low, high, visible.back()});
    func::CallOp::create(at, loc, function, operands);
  });
  return success();
}

namespace {

class Lowering : public kernels::KernelLowering {
public:
  Lowering(ModuleOp module, const CPUTarget &target) : KernelLowering(module), target(target), microKernels(symbols) {
    SmallVector<contraction::RowBlocksOp> groups;
    module.walk([&](contraction::RowBlocksOp blocks) { groups.push_back(blocks); });
    for (contraction::RowBlocksOp group : groups) {
      auto blocks = std::make_unique<RowBlockCalls>(group);
      for (Operation *op : blocks->getOps())
        rowBlocks[op] = blocks.get();
      allRowBlocks.push_back(std::move(blocks));
    }
  }

  FailureOr<std::unique_ptr<kernels::KernelCode>> createCode(kernels::KernelUse use) override {
    if (auto kernel = dyn_cast<rows::KernelOp>(use.op)) {
      if (std::optional<std::string> obstacle = findLocalRowObstacle(kernel, target.schedule.table))
        return kernel.emitOpError(*obstacle);
      return create<RowFunctions>(use, planKernel(kernel, target), symbols, target);
    }
    if (isa<contraction::KernelOp>(use.op))
      return create<ContractionFunctions>(use, symbols, target, microKernels);
    if (isa<attention::KernelOp, attention::BackwardOp>(use.op))
      return createAttention(use);
    return use.op->emitOpError("is not available on CPU targets");
  }

  FailureOr<std::unique_ptr<kernels::KernelCode>> createAttention(kernels::KernelUse &use) {
    if (!use.as<attention::AttentionShape>().scratch)
      return use.op->emitOpError("expected scratch memory");
    return create<AttentionFunction>(use, symbols, target, microKernels);
  }

  LogicalResult launch(MutableArrayRef<kernels::LoweredKernel> kernels) override {
    for (kernels::LoweredKernel &kernel : kernels)
      if (RowBlockCalls *blocks = rowBlocks.lookup(kernel.use.op))
        blocks->add(kernel);
      else if (failed(kernel.code->launch(kernel.use)))
        return failure();
    return success(llvm::all_of(allRowBlocks, [&](const auto &blocks) {
      return succeeded(blocks->launch(target.schedule.table.productRowBlocks));
    }));
  }

private:
  const CPUTarget &target;
  MicroKernels microKernels;
  std::vector<std::unique_ptr<RowBlockCalls>> allRowBlocks;
  /// By the kernels that they run.
  llvm::DenseMap<Operation *, RowBlockCalls *> rowBlocks;
};

struct LowerKernels : cpu::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  /// A schedule that is none is a wrong flag, which is said before any program is read.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(LowerKernelsBase::initializeOptions(options, errorHandler)))
      return failure();
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    return parsed ? success() : errorHandler(llvm::toString(parsed.takeError()));
  }

  void runOnOperation() override {
    CPUTarget target;
#define RESID_KERNEL_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) target.MEMBER = this->MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    if (llvm::Error error = parsed ? target.use(*parsed) : parsed.takeError()) {
      getOperation().emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    Lowering lowering(getOperation(), target);
    if (failed(kernels::lowerKernels(getOperation(), lowering)))
      signalPassFailure();
  }
};

} // namespace
