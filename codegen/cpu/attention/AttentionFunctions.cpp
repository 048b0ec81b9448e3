// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines attention and calls it; see AttentionFunctions.h.

#include "codegen/cpu/attention/AttentionFunctions.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/KernelFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;
using contraction::makeNumber;

template <typename OpTy> static FailureOr<AttentionUse> prepareUse(OpTy kernel) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  FailureOr<AttentionShape> shape = AttentionShape::create(builder, kernel);
  if (failed(shape))
    return failure();
  AttentionUse use{kernel, kernel->template getParentOfType<func::FuncOp>(), *shape, {}, {}, {}, kernel.getDropout()};
  if (!use.enclosing)
    return kernel.emitOpError("expected a function around the kernel");
  if (!kernel.getScratch())
    return kernel.emitOpError("expected scratch memory");
  for (const MappedBuffer &operand : use.shape.operands)
    use.pointers.push_back(kernels::computePointer(builder, loc, operand.buffer));
  use.scratch = kernels::computePointer(builder, loc, kernel.getScratch());
  return use;
}

FailureOr<AttentionUse> AttentionUse::prepare(attention::KernelOp kernel) {
  FailureOr<AttentionUse> use = prepareUse(kernel);
  if (succeeded(use))
    use->past = kernel.getPast();
  return use;
}

FailureOr<AttentionUse> AttentionUse::prepare(attention::BackwardOp kernel) { return prepareUse(kernel); }

SmallVector<Value> AttentionUse::getArguments() {
  SmallVector<Value> arguments = pointers;
  arguments.push_back(scratch);
  if (past)
    arguments.push_back(past);
  llvm::append_range(arguments, dropout);
  shape.forEachNumber([&](Number &number) {
    if (!number.isKnown())
      arguments.push_back(number.value);
  });
  return arguments;
}

func::FuncOp AttentionFunction::createFunction(StringRef suffix, TypeRange types) {
  return kernels::createFunctionBefore(first.enclosing, symbols, first.kernel->getLoc(), suffix, types);
}

/// The function over a range of units. Its last arguments are the range and how many units a task has, which tells the
/// task's slot.
void AttentionFunction::outline() {
  SmallVector<Value> values = first.getArguments();
  SmallVector<Type> types(ValueRange(values).getTypes());
  OpBuilder builder(first.kernel->getContext());
  Location loc = first.kernel->getLoc();
  types.append(3, builder.getI64Type());
  function = createFunction(first.shape.isBackward ? "__attention_backward" : "__attention", types);
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  Block *entry = &function.getBody().front();
  builder.setInsertionPointToStart(entry);
  AttentionView view(builder, loc, entry, first.shape);
  unsigned next = 0;
  for (size_t i = 0; i < first.pointers.size(); ++i)
    view.pointers.push_back(entry->getArgument(next++));
  Value slots = entry->getArgument(next++);
  if (first.past)
    view.past = entry->getArgument(next++);
  Value *words[] = {&view.seed,      &view.step,        &view.firstRandomRow, &view.site,
                    &view.firstCall, &view.extentLocal, &view.extentGlobal};
  if (view.shape.threshold != 0)
    for (Value *word : llvm::ArrayRef(words).take_front(first.dropout.size()))
      *word = entry->getArgument(next++);
  view.shape.forEachNumber([&](Number &number) {
    number = number.isKnown() ? makeNumber(builder, loc, number.known) : Number{entry->getArgument(next++)};
  });
  Value low = entry->getArgument(next), high = entry->getArgument(next + 1), perTask = entry->getArgument(next + 2);
  Value offset = view.code.multiply(view.code.divide(low, perTask), countSlotBytes(view));
  view.slot = view.code.at(slots, builder.getI8Type(), offset);
  if (view.shape.isBackward)
    BackwardEmitter(view, shape, microKernels).emit(low, high);
  else
    AttentionEmitter(view, shape, vectorBits, microKernels).emit(low, high);
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
}

Value AttentionFunction::countSlotBytes(AttentionView &view) {
  if (!view.shape.isBackward)
    return view.code.constant(view.memory.bytes);
  return BackwardMemory(view.shape).countBytes(view.code.builder, view.code.loc, view.shape).value;
}

/// Products that each pair of a row and a key takes part in.
static int64_t countProducts(const AttentionShape &shape) { return shape.isBackward ? 5 : 2; }

/// Units are cut into tasks by the terms of their products, of which each has about as many.
void AttentionFunction::emitCalls(AttentionUse &use) {
  OpBuilder builder(use.kernel);
  Location loc = use.kernel->getLoc();
  LoopCode code(builder, loc);
  bool isBackward = use.shape.isBackward;
  Value units = (isBackward ? BackwardMemory::countUnits(builder, loc, use.shape)
                            : AttentionMemory::countUnits(builder, loc, use.shape))
                    .value;
  Value rows = code.multiply(use.shape.group.value, use.shape.queries.value);
  if (!isBackward)
    rows = code.min(rows, code.constant(kUnitRows));
  Value pairs = code.multiply(code.max(rows, code.constant(1)), use.shape.keys.value);
  Value terms =
      code.max(code.multiply(pairs, code.constant(countProducts(use.shape) * use.shape.headSize)), code.constant(1));
  Value fitting = code.ceilDivide(code.constant(taskTerms), terms);
  Value perTask = code.max(fitting, code.ceilDivide(units, code.constant(kMostTasks)));
  SmallVector<Value> arguments = use.getArguments();
  arguments.push_back(perTask);
  task.emitCalls({use.kernel, use.enclosing}, arguments, {units, perTask},
                 [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                   SmallVector<Value> operands(visible.drop_back());
                   operands.append({low, high, visible.back()});
                   func::CallOp::create(at, loc, function, operands);
                 });
}
