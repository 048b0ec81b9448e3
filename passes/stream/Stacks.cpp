// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/Stacks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/stream/NormParts.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::resid;

bool Stack::isOnStreams() const {
  return llvm::any_of(blocks, [](BlockOp block) { return block.getStreams(); });
}

SmallVector<OpOperand *> resid::getReaders(Value value) {
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : value.getUses())
    if (!isa<tensor::DimOp>(use.getOwner()))
      readers.push_back(&use);
  // A value lists its uses from the last made to the first.
  std::reverse(readers.begin(), readers.end());
  return readers;
}

/// Whether `use` could hand the stream on: a block reads it as its stream, or a loop starts with it, beside the value's
/// definition. A block inside of another's branch is on a stream of its own.
static bool handsOn(OpOperand &use) {
  Operation *owner = use.getOwner();
  if (owner->getBlock() != use.get().getParentBlock())
    return false;
  if (auto block = dyn_cast<BlockOp>(owner))
    return use.getOperandNumber() == block.getXMutable().getOperandNumber();
  auto loop = dyn_cast<scf::ForOp>(owner);
  return loop && use.getOperandNumber() >= loop.getNumControlOperands();
}

/// Everyone who reads `value` beside `next`, which hands the stream on.
static void collectTaps(Value value, const OpOperand *next, SmallVectorImpl<OpOperand *> &taps) {
  for (OpOperand *reader : getReaders(value))
    if (reader != next)
      taps.push_back(reader);
}

static OpOperand *findNext(Value stream) {
  OpOperand *next = nullptr;
  for (OpOperand *reader : getReaders(stream)) {
    if (!handsOn(*reader))
      continue;
    if (next)
      return nullptr; // a fork
    next = reader;
  }
  return next;
}

static Value followStream(Value stream, Stack &stack);

/// Follows the stream through `loop`, which starts with it. Null, and no change to `stack`, if the body does not hand
/// on to its next iteration what blocks have made of it.
static Value followLoop(scf::ForOp loop, OpOperand &init, Stack &stack) {
  Stack inside;
  BlockArgument carried = loop.getTiedLoopRegionIterArg(&init);
  Value end = followStream(carried, inside);
  OpOperand *yielded = loop.getTiedLoopYieldedValue(carried);
  if (inside.blocks.empty() || yielded->get() != end)
    return Value();
  collectTaps(end, yielded, inside.taps);
  stack.loops.push_back(loop);
  stack.blocks.append(inside.blocks);
  stack.loops.append(inside.loops);
  stack.taps.append(inside.taps);
  return loop.getTiedLoopResult(&init);
}

/// The stream after the block or loop that `next` hands it to, which joins `stack`; null if a loop does not carry it.
static Value followStep(OpOperand &next, Stack &stack) {
  if (auto loop = dyn_cast<scf::ForOp>(next.getOwner()))
    return followLoop(loop, next, stack);
  auto block = cast<BlockOp>(next.getOwner());
  stack.blocks.push_back(block);
  return block.getResult();
}

/// Follows the stream from `stream` as far as it goes within its region, and returns where it ends. All other readers
/// on the way are taps, those of the end are not.
static Value followStream(Value stream, Stack &stack) {
  while (OpOperand *next = findNext(stream)) {
    Value after = followStep(*next, stack);
    if (!after)
      return stream;
    collectTaps(stream, next, stack.taps);
    stream = after;
  }
  return stream;
}

/// Whether blocks made `value`: then its norm is the end of another stack.
static bool isStackExit(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<BlockOp, scf::ForOp>(op);
}

static Operation *findEntryNorm(const Stack &stack) {
  Operation *op = stack.entry.getDefiningOp();
  std::optional<NormParts> parts = op ? getNormParts(op) : std::nullopt;
  if (!parts || op->getResult(0) != stack.entry || parts->x.getType() != stack.entry.getType())
    return nullptr;
  bool readElsewhere = getReaders(stack.entry).size() != 1 ||
                       !llvm::all_of(op->getResults().drop_front(), [](Value result) { return result.use_empty(); });
  return findNext(stack.entry) && !readElsewhere && !isStackExit(parts->x) ? op : nullptr;
}

/// Others may read the streams too, to compute the weights of their read.
static ReadOp findHead(const Stack &stack) {
  ReadOp head;
  for (OpOperand *reader : stack.isOnStreams() ? getReaders(stack.exit) : SmallVector<OpOperand *>()) {
    auto read = dyn_cast<ReadOp>(reader->getOwner());
    if (!read || reader != &read.getXMutable())
      continue;
    if (head || read->getBlock() != Value(stack.exit).getParentBlock())
      return {};
    head = read;
  }
  return head;
}

static Operation *findFinalNorm(const Stack &stack) {
  Value end = stack.getEnd();
  SmallVector<OpOperand *> readers = getReaders(end);
  if (readers.size() != 1 || readers.front()->getOwner()->getBlock() != end.getParentBlock())
    return nullptr;
  std::optional<NormParts> parts = getNormParts(readers.front()->getOwner());
  return parts && parts->x == end ? readers.front()->getOwner() : nullptr;
}

/// The stack that begins where `first` hands the stream to a block or to a loop that carries it; no blocks if none
/// does.
static Stack findStack(OpOperand &first) {
  Stack stack;
  stack.entry = first.get();
  Value stream = followStep(first, stack);
  if (!stream)
    return stack;
  stack.exit = followStream(stream, stack);
  stack.entryNorm = findEntryNorm(stack);
  stack.head = findHead(stack);
  stack.finalNorm = findFinalNorm(stack);
  return stack;
}

SmallVector<Stack> resid::findStacks(func::FuncOp function) {
  SmallVector<Stack> stacks;
  llvm::DenseSet<Operation *> found;
  auto add = [&](OpOperand &first) {
    Stack stack = findStack(first);
    if (stack.blocks.empty() || found.contains(stack.blocks.front()))
      return;
    found.insert(stack.blocks.begin(), stack.blocks.end());
    stacks.push_back(std::move(stack));
  };
  // Whoever hands a stream on stands before its readers, so the first block or loop met of a stack is where it begins.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (OpOperand &init : loop.getInitsMutable())
        add(init);
    else if (auto block = dyn_cast<BlockOp>(op))
      if (!found.contains(block))
        add(block.getXMutable());
  });
  return stacks;
}
