// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Transitions.h"

#include "codegen/attention/AttentionDialect.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/rows/RowsDialect.h"
#include "codegen/rows/SourceOps.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

/// Views of a tensor, and tensors that views are put together to: what stands in them is not moved.
static bool isView(Operation *op) {
  return isa_and_present<rows::JoinStreamsOp, tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                         tensor::ExtractSliceOp>(op);
}

/// The tensor that a tensor is a part of, or another shape of.
static Value findWhole(Value tensor) {
  while (isView(tensor.getDefiningOp()) && !tensor.getDefiningOp<rows::JoinStreamsOp>())
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

bool resid::isWrittenBy(KernelFilter kernels, Value tensor) {
  Value whole = findWhole(tensor);
  if (auto joined = whole.getDefiningOp<rows::JoinStreamsOp>())
    return llvm::all_of(joined.getStreams(), [&](Value stream) { return isWrittenBy(kernels, stream); });
  return whole.getDefiningOp() && kernels(whole.getDefiningOp());
}

/// Whether something else than the kernels of a filter reads a tensor.
static bool isReadByOthers(KernelFilter kernels, Value tensor) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    return isView(user) ? isReadByOthers(kernels, user->getResult(0)) : !kernels(user) && !isa<tensor::DimOp>(user);
  });
}

rows::ByteCount CompulsoryBytes::countInput(const rows::OperandTraffic &operand) {
  Value whole = findWhole(operand.tensor);
  if (isWrittenBy(kernels, whole) || known.contains(whole) || !known.insert(operand.tensor).second)
    return {};
  if (operand.tensor != whole) {
    parts[whole] += operand.bytes;
    return operand.bytes;
  }
  return parts.contains(whole) && parts[whole] == operand.bytes ? rows::ByteCount() : operand.bytes;
}

rows::ByteCount CompulsoryBytes::count(const rows::OperandTraffic &operand) {
  if (!operand.isOutput)
    return countInput(operand);
  return isReadByOthers(kernels, operand.tensor) ? operand.bytes : rows::ByteCount();
}

/// Whether an op of the program, or what a pass has made of one, is in a kernel.
static bool holds(Operation *kernel, StringRef name) {
  return llvm::any_of(rows::getSourceOps(kernel->getLoc()), [&](const rows::SourceOp &source) {
    return source.name == name || StringRef(source.name).starts_with((name + " of ").str());
  });
}

/// The kernels that a kernel's inputs come from, through views.
static void findWriters(Value tensor, SmallVectorImpl<Operation *> &writers) {
  Value whole = findWhole(tensor);
  if (auto joined = whole.getDefiningOp<rows::JoinStreamsOp>())
    for (Value stream : joined.getStreams())
      findWriters(stream, writers);
  else if (isa_and_present<kernels::KernelOpInterface>(whole.getDefiningOp()))
    writers.push_back(whole.getDefiningOp());
}

/// Adds the kernels between the members: those that read what a member wrote and write what a member reads.
static void addKernelsBetween(ArrayRef<Operation *> kernels, SetVector<Operation *> &members) {
  DenseMap<Operation *, SmallVector<Operation *>> writers;
  DenseSet<Operation *> after, before;
  for (Operation *kernel : kernels) {
    for (Value input : kernel->getOperands())
      findWriters(input, writers[kernel]);
    if (llvm::any_of(writers[kernel], [&](Operation *op) { return members.contains(op) || after.contains(op); }))
      after.insert(kernel);
  }
  for (Operation *kernel : llvm::reverse(kernels))
    if (members.contains(kernel) || before.contains(kernel))
      before.insert(writers[kernel].begin(), writers[kernel].end());
  for (Operation *kernel : kernels)
    if (after.contains(kernel) && before.contains(kernel))
      members.insert(kernel);
}

SmallVector<SetVector<Operation *>> resid::findTransitions(ArrayRef<Operation *> kernels) {
  SmallVector<SetVector<Operation *>> transitions;
  for (Operation *kernel : kernels) {
    if (holds(kernel, StreamDotsOp::getOperationName()))
      break;
    bool begins = holds(kernel, WriteOp::getOperationName());
    if (!begins && !holds(kernel, ReadOp::getOperationName()) && !holds(kernel, ProjectOp::getOperationName()))
      continue;
    if (begins || transitions.empty())
      transitions.emplace_back();
    transitions.back().insert(kernel);
  }
  for (SetVector<Operation *> &members : transitions)
    addKernelsBetween(kernels, members);
  return transitions;
}
