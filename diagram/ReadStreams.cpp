// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/Describe.h"
#include "diagram/Repeats.h"
#include "diagram/SubLayers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/stream/Ancestry.h"
#include "passes/stream/Stacks.h"
#include "passes/stream/Sums.h"
#include "llvm/ADT/DenseSet.h"
#include <numeric>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::diagram;

namespace {

class StreamReader {
public:
  std::vector<Stream> read(func::FuncOp function);

private:
  void measure(Region &region);
  int64_t getLength(Value value) const { return lengths.lookup(value); }
  Value getStream(Operation *op) const;
  Value getAbove(Value value) const;

  Stream follow(Value end);
  Value followSegment(Value value, Value stop, Stream &stream);
  Value followLoop(OpResult result, Stream &stream);
  Value followStep(Value value, Stream &stream);
  void addTap(Value value, Operation *next, const llvm::SetVector<Operation *> &branchOps, Stream &stream);

  /// How much lies above a value on its stream, residual adds and norms; no entry for nothing.
  llvm::DenseMap<Value, int64_t> lengths;
  /// The values with a length, in the order of the program.
  std::vector<Value> ends;
  /// Values that are on a stream that was read already.
  llvm::DenseSet<Value> taken;
};

} // namespace

/// What an op adds to the length of a stream: a residual add outweighs any number of norms.
static int64_t getOwnLength(Operation *op) {
  return isa<BlockOp, AddOp>(op) ? int64_t(1) << 32 : getNormParts(op).has_value();
}

static bool isCast(Operation *op) { return isa<arith::ExtFOp, arith::TruncFOp, tensor::CastOp>(op); }

/// The operand of a residual op or a norm that is the stream. Operands of a plain add commute: the one with more above
/// it is the stream.
Value StreamReader::getStream(Operation *op) const {
  if (auto block = dyn_cast<BlockOp>(op))
    return block.getX();
  if (std::optional<NormParts> parts = getNormParts(op))
    return parts->x;
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getX();
  auto add = dyn_cast<AddOp>(op);
  if (!add)
    return Value();
  return commutes(add) && getLength(add.getF()) > getLength(add.getX()) ? add.getF() : add.getX();
}

/// The value before `value` on its stream, within the region; null if `value` is where a stream enters.
Value StreamReader::getAbove(Value value) const {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return Value();
  Operation *op = result.getOwner();
  if (getNormParts(op) && result.getResultNumber() != 0)
    return Value();
  return isCast(op) ? op->getOperand(0) : getStream(op);
}

/// Finds the lengths of what a region makes, except in the branches of blocks.
void StreamReader::measure(Region &region) {
  for (Operation &op : region.getOps()) {
    if (!isa<BlockOp>(op))
      for (Region &inner : op.getRegions())
        measure(inner);
    for (OpResult result : op.getResults()) {
      int64_t length = 0;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        int64_t inside = getLength(loop.getTiedLoopYieldedValue(loop.getTiedLoopRegionIterArg(result))->get());
        length = inside ? inside + getLength(loop.getTiedLoopInit(result)->get()) : 0;
      } else if (Value above = getAbove(result)) {
        length = getLength(above) + getOwnLength(&op);
      }
      if (length == 0)
        continue;
      lengths[result] = length;
      ends.push_back(result);
    }
  }
}

/// Who reads a value, in words.
static std::string describeReaders(ArrayRef<OpOperand *> readers) {
  std::vector<std::string> words;
  auto add = [&](const std::string &word) {
    if (!llvm::is_contained(words, word))
      words.push_back(word);
  };
  for (OpOperand *reader : readers) {
    Operation *op = reader->getOwner();
    Operation *block = op->getParentOfType<BlockOp>();
    if (block && !block->isAncestor(reader->get().getParentRegion()->getParentOp()))
      add("memory");
    else if (isa<func::ReturnOp>(op))
      add("result " + std::to_string(reader->getOperandNumber()));
    else if (op->hasTrait<OpTrait::IsTerminator>())
      add("carried");
    else if (isa<BlockOp, AddOp, scf::ForOp>(op))
      add("fork");
    else
      add(describeOp(op));
  }
  return llvm::join(words, ", ");
}

/// Whether `op` serves to compute weights with which `next` reads, mixes or writes the streams.
static bool isForWeights(Operation *op, Operation *next) {
  SmallVector<Value> weights;
  if (auto block = dyn_cast<BlockOp>(next))
    weights = {block.getReadWeights(), block.getWriteWeights(), block.getMix()};
  else if (auto read = dyn_cast<ReadOp>(next))
    weights = {read.getWeights()};
  return llvm::any_of(weights, [&](Value value) { return value && findAncestry(value).ops.contains(op); });
}

/// Marks that others than `next` and the branch read `value`.
void StreamReader::addTap(Value value, Operation *next, const llvm::SetVector<Operation *> &branchOps, Stream &stream) {
  SmallVector<OpOperand *> readers = getReaders(value);
  llvm::erase_if(readers, [&](OpOperand *reader) {
    return next->isAncestor(reader->getOwner()) || branchOps.contains(reader->getOwner()) ||
           isForWeights(reader->getOwner(), next);
  });
  if (!readers.empty())
    stream.elements.push_back(Tap{describeReaders(readers)});
}

/// Appends the loop of `result`, and returns the value it starts with; null if the stream enters inside of it.
Value StreamReader::followLoop(OpResult result, Stream &stream) {
  auto loop = cast<scf::ForOp>(result.getOwner());
  stream.elements.push_back(LoopEnd{});
  OpOperand *init = loop.getTiedLoopInit(result);
  Value begin = followSegment(loop.getTiedLoopYieldedValue(loop.getTiedLoopRegionIterArg(result))->get(),
                              loop.getTiedLoopRegionIterArg(init), stream);
  std::optional<APInt> trips = loop.getStaticTripCount();
  stream.elements.push_back(LoopBegin{trips ? "× " + llvm::toString(*trips, 10, /*Signed=*/false) : "× n"});
  if (!begin)
    return Value();
  addTap(init->get(), loop, {}, stream);
  return init->get();
}

/// Appends what makes `value` from the value above it, which is returned.
Value StreamReader::followStep(Value value, Stream &stream) {
  Operation *op = value.getDefiningOp();
  Value above = getAbove(value);
  llvm::SetVector<Operation *> branchOps;
  if (auto block = dyn_cast<BlockOp>(op))
    stream.elements.push_back(readSubLayer(block));
  else if (auto add = dyn_cast<AddOp>(op))
    stream.elements.push_back(readSubLayer(add, above, branchOps));
  else if (auto read = dyn_cast<ReadOp>(op))
    stream.elements.push_back(Head{describeConnection("read", {read.getWeights()}),
                                   static_cast<int>(read.getX().getType().getShape().end()[-2])});
  else if (std::optional<Part> norm = readNorm(op))
    stream.elements.push_back(*norm);
  addTap(above, op, branchOps, stream);
  return above;
}

/// Appends the elements from `value` up, the last first, until `stop` or until the stream enters. Returns `stop`, or
/// null.
Value StreamReader::followSegment(Value value, Value stop, Stream &stream) {
  while (value != stop) {
    stream.entry = nameOf(value);
    stream.type = describeType(value.getType());
    if (!getLength(value))
      return Value();
    if (!taken.insert(value).second) {
      stream.entry = "from the stream";
      return Value();
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    value = loop ? followLoop(cast<OpResult>(value), stream) : followStep(value, stream);
    if (!value)
      return Value();
  }
  return stop;
}

/// Calls a norm after the last block of a stream what it is: the final norm.
static void nameFinalNorm(Stream &stream) {
  auto *norm = stream.elements.empty() ? nullptr : std::get_if<Part>(&stream.elements.back());
  if (!norm || norm->kind != PartKind::Norm)
    return;
  for (const Element &element : llvm::drop_begin(llvm::reverse(stream.elements))) {
    auto *layer = std::get_if<SubLayer>(&element);
    if (layer && !layer->placement.empty())
      norm->title = "final " + norm->title;
    if (layer || std::holds_alternative<Part>(element))
      return;
  }
}

Stream StreamReader::follow(Value end) {
  Stream stream;
  stream.exit = describeReaders(getReaders(end));
  followSegment(end, Value(), stream);
  std::reverse(stream.elements.begin(), stream.elements.end());
  nameFinalNorm(stream);
  stream.elements = foldRepeats(std::move(stream.elements));
  return stream;
}

static bool hasSubLayer(const Stream &stream) {
  return llvm::any_of(stream.elements,
                      [](const Element &element) { return std::holds_alternative<SubLayer>(element); });
}

std::vector<Stream> StreamReader::read(func::FuncOp function) {
  measure(function.getBody());
  // The longest streams first, so that a head beside a stream does not take the stream for its own.
  std::vector<size_t> order(ends.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t left, size_t right) {
    return std::pair(getLength(ends[left]), left) > std::pair(getLength(ends[right]), right);
  });
  std::vector<std::pair<size_t, Stream>> found;
  for (size_t place : order)
    if (!taken.contains(ends[place]))
      if (Stream stream = follow(ends[place]); hasSubLayer(stream))
        found.emplace_back(place, std::move(stream));
  llvm::sort(found, [](const auto &left, const auto &right) { return left.first < right.first; });
  std::vector<Stream> streams;
  for (auto &[place, stream] : found)
    streams.push_back(std::move(stream));
  return streams;
}

FunctionDrawing diagram::readStreams(func::FuncOp function) {
  return {function.getName().str(), StreamReader().read(function)};
}
