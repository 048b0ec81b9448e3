// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the functions of a kernel as its plan says.

#include "codegen/cpu/rows/RowFunctions.h"

#include "codegen/cpu/rows/RareBranchCaller.h"
#include "codegen/cpu/rows/RowOrders.h"
#include "codegen/cpu/rows/ScalarRows.h"
#include "codegen/cpu/rows/SumRows.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

RowFunctions::RowFunctions(KernelUse first, KernelPlan plan, SymbolTable &symbols, const CPUTarget &target)
    : shared(std::move(first), symbols), plan(std::move(plan)), target(target),
      rareFunctions([this](TypeRange arguments, TypeRange results) {
        func::FuncOp function = shared.createFunction("__rare", arguments, results);
        setAttributes(function, StringRef("cold"));
        return function;
      }) {}

bool RowFunctions::takeIn(KernelUse &other, const KernelPlan &otherPlan) {
  return plan.path == otherPlan.path && shared.takeIn(other);
}

void RowFunctions::outline() {
  rowFunction = outline("__rows", Form::Rows);
  if (plan.hasLoneRow)
    loneRowFunction = outline("__row", Form::LoneRow);
  if (plan.streamed)
    streamFunction = outline("__stream", Form::Stream);
  if (shared.getFirst().addresses.scratch)
    resultFunction = outline("__sums", Form::Results);
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
    range.append(2, IntegerType::get(shared.getFirst().kernel.getContext(), 64));
  func::FuncOp function =
      shared.outline(suffix, range, [&](OpBuilder &builder, KernelBody &body) { emitRows(builder, body, form); });
  setAttributes(function);
  return function;
}

/// The rows of a form; their range stands in the last two arguments.
void RowFunctions::emitRows(OpBuilder &builder, KernelBody &body, Form form) {
  if (body.addresses.scratch)
    return emitSums(builder, body, form);
  if (plan.path == RowPath::Vector)
    return emitVectorRows(builder, body, form);
  rows::KernelOp kernel = shared.getFirst().kernel;
  ScalarRowEmitter emitter(builder, body.entry, kernel, body.addresses, body.mapping, target.vectorBits);
  emitSingleRows(emitter, kernel, body.getArgumentFromEnd(2), body.getArgumentFromEnd(1));
}

/// A range of lanes, or of columns of results.
void RowFunctions::emitSums(OpBuilder &builder, KernelBody &body, Form form) {
  rows::KernelOp kernel = shared.getFirst().kernel;
  Value low = body.getArgumentFromEnd(2), high = body.getArgumentFromEnd(1);
  SumRows sums(builder, body.entry, kernel, body.addresses, target.vectorBits);
  if (form == Form::Results)
    return sums.emitResults(low, high);
  if (plan.path == RowPath::Scalar) {
    ScalarRowEmitter emitter(builder, body.entry, kernel, body.addresses, body.mapping, target.vectorBits);
    return sums.emitLanes(emitter, low, high, [&](Value first, Value end) {
      emitChain(emitter, kernel, body.addresses.width, first, end);
    });
  }
  VectorFunction function(builder, body.entry, body.addresses, target);
  Value one = constantI64(builder, kernel.getLoc(), 1);
  std::unique_ptr<RowMemory> memory = createMemory(function, form, one);
  VectorPrefetches prefetches(function, choosePrefetches(form), one);
  RareBranchCaller emitter(function, body.mapping, *memory, prefetches, rareFunctions);
  sums.emitLanes(emitter, low, high, [&](Value first, Value end) { emitVectorChain(emitter, kernel, first, end); });
  memory->finish(kernel.getLoc());
}

std::unique_ptr<RowMemory> RowFunctions::createMemory(VectorFunction &function, Form form, Value batchRows) {
  ScratchRows local = allocateLocalRows(function, shared.getFirst().kernel, batchRows);
  if (form != Form::Stream)
    return std::make_unique<CachedMemory>(std::move(local));
  return std::make_unique<StreamedMemory>(std::move(local), function, *plan.streamed, batchRows);
}

PrefetchScope RowFunctions::choosePrefetches(Form form) const {
  if (form != Form::Stream)
    return PrefetchScope::MaskedColumns;
  return plan.prefetch ? PrefetchScope::RowsAhead : PrefetchScope::Nothing;
}

void RowFunctions::emitVectorRows(OpBuilder &builder, KernelBody &body, Form form) {
  rows::KernelOp kernel = shared.getFirst().kernel;
  Location loc = kernel.getLoc();
  bool isStream = form == Form::Stream;
  RowOrder order = form == Form::LoneRow ? RowOrder::Single : plan.getOrder(isStream);
  VectorFunction function(builder, body.entry, body.addresses, target);
  Value batchRows = order == RowOrder::Batched ? emitBatchRows(function, loc, plan.getBatchColumns(isStream))
                                               : constantI64(builder, loc, 1);
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
