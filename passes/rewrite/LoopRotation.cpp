// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/rewrite/LoopRotation.h"
#include "passes/stream/NormParts.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::resid;

using Refusals = SmallVectorImpl<RotationRefusal>;

//===----------------------------------------------------------------------===//
// Loops that run
//===----------------------------------------------------------------------===//

/// Whether every value that the lower bound can have is below every value of the upper bound.
static bool hasOrderedBounds(scf::ForOp loop, DataFlowSolver &solver) {
  auto lookup = [&](Value value) -> std::optional<ConstantIntRanges> {
    const auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!lattice || lattice->getValue().isUninitialized())
      return std::nullopt;
    return lattice->getValue().getValue();
  };
  std::optional<ConstantIntRanges> lower = lookup(loop.getLowerBound()), upper = lookup(loop.getUpperBound());
  if (!lower || !upper)
    return false;
  return loop.getUnsignedCmp() ? lower->umax().ult(upper->umin()) : lower->smax().slt(upper->smin());
}

llvm::DenseSet<Operation *> resid::findLoopsThatRun(Operation *root) {
  llvm::DenseSet<Operation *> found;
  SmallVector<scf::ForOp> open;
  root->walk([&](scf::ForOp loop) {
    std::optional<APInt> tripCount = loop.getStaticTripCount();
    if (!tripCount)
      open.push_back(loop);
    else if (!tripCount->isZero())
      found.insert(loop);
  });
  if (open.empty())
    return found;
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(root)))
    return found;
  for (scf::ForOp loop : open)
    if (hasOrderedBounds(loop, solver))
      found.insert(loop);
  return found;
}

//===----------------------------------------------------------------------===//
// The tail: bias, dropout, add, and their parameters
//===----------------------------------------------------------------------===//

namespace {
/// Collects the tail of one iteration that ends in `add`.
class TailFinder {
public:
  TailFinder(scf::ForOp loop, AddOp add) : body(loop.getBody()), counter(loop.getInductionVar()) {
    ops.insert(add);
    if (!takeBranch(add.getF()) && add.getX() != add.getF())
      takeBranch(add.getX());
    SmallVector<Operation *> chain(ops.getArrayRef());
    for (Operation *op : chain)
      for (Value value : op->getOperands().take_front(countStreams(op)))
        carry(value);
    for (Operation *op : chain)
      for (Value value : op->getOperands().drop_front(countStreams(op)))
        remakeOrCarry(value);
  }

  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> carried;

private:
  template <typename OpTy> bool take(Value &value) {
    auto op = value.getDefiningOp<OpTy>();
    if (!op || op->getBlock() != body || !op->hasOneUse())
      return false;
    ops.insert(op);
    value = op->getOperand(0);
    return true;
  }

  /// What resid.add_norm does with its branch, and the widening of a narrow branch, which is then carried narrow.
  bool takeBranch(Value value) {
    bool hasDropout = take<DropoutOp>(value);
    bool hasBias = take<AddBiasOp>(value);
    bool isWidened = take<arith::ExtFOp>(value);
    return hasDropout || hasBias || isWidened;
  }

  /// How many operands come first that are streams or branches and no parameters.
  static unsigned countStreams(Operation *op) { return isa<AddOp>(op) ? 2 : 1; }

  void carry(Value value) {
    Operation *op = value.getDefiningOp();
    if (isFromBody(value) && !(op && ops.contains(op)))
      carried.insert(value);
  }

  void remakeOrCarry(Value value) {
    llvm::SetVector<Operation *> remade;
    if (canRemake(value, remade))
      ops.insert_range(remade);
    else
      carry(value);
  }

  bool isFromBody(Value value) const { return value.getParentBlock() == body; }

  /// Whether `value` follows from the counter and from above alone, by `remade`.
  bool canRemake(Value value, llvm::SetVector<Operation *> &remade) const {
    if (!isFromBody(value) || value == counter)
      return true;
    Operation *op = value.getDefiningOp();
    if (op && remade.contains(op))
      return true;
    if (!op || !isMemoryEffectFree(op))
      return false;
    llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), inputs);
    for (Value input : inputs)
      if (!canRemake(input, remade))
        return false;
    remade.insert(op);
    return true;
  }

  Block *body;
  Value counter;
};
} // namespace

/// The ops of the body that only the tail needs, `add` among them.
static llvm::DenseSet<Operation *> findTailOnly(ArrayRef<Operation *> tail, AddOp add) {
  llvm::DenseSet<Operation *> only = {add};
  for (Operation *op : llvm::reverse(tail))
    if (llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return only.contains(op->getBlock()->findAncestorOpInBlock(*user)); }))
      only.insert(op);
  return only;
}

static LoopRotation cutBody(scf::ForOp loop, unsigned stream, AddOp add) {
  TailFinder finder(loop, add);
  LoopRotation rotation{loop, stream, {}, {}, std::move(finder.carried)};
  for (Operation &op : loop.getBody()->without_terminator())
    if (finder.ops.contains(&op))
      rotation.tail.push_back(&op);
  llvm::DenseSet<Operation *> tailOnly = findTailOnly(rotation.tail, add);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!tailOnly.contains(&op))
      rotation.head.push_back(&op);
  return rotation;
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

/// The op of the body that reads the carried value first; one that asks for a size reads nothing.
static Operation *getFirstReader(BlockArgument carried) {
  Operation *first = nullptr;
  for (Operation *user : carried.getUsers()) {
    Operation *reader = carried.getOwner()->findAncestorOpInBlock(*user);
    if (!isa<tensor::DimOp>(user) && (!first || reader->isBeforeInBlock(first)))
      first = reader;
  }
  return first;
}

static bool isNormOf(Operation *op, Value x) {
  std::optional<NormParts> parts = getNormParts(op);
  return parts && parts->x == x;
}

/// Whether the value handed on for `carried` looks like a stream: a norm reads it, or sub-layers make it.
static bool looksLikeStream(BlockArgument carried, Value handedOn) {
  if (handedOn.getParentBlock() != carried.getOwner() || handedOn == carried)
    return false;
  return isa_and_nonnull<AddOp, BlockOp>(handedOn.getDefiningOp()) ||
         llvm::any_of(carried.getUsers(), [&](Operation *user) { return isNormOf(user, carried); });
}

static Operation *getOtherReader(AddOp add, OpOperand &handedOn) {
  for (OpOperand &use : add.getResult().getUses())
    if (&use != &handedOn)
      return use.getOwner();
  return nullptr;
}

static std::optional<LoopRotation> findRotationOf(scf::ForOp loop, unsigned stream, Refusals &refusals) {
  auto refuse = [&](const Twine &reason, Operation *place) {
    refusals.push_back({loop, ("not rotated: " + reason).str(), place});
    return std::nullopt;
  };
  BlockArgument carried = loop.getRegionIterArg(stream);
  OpOperand &handedOn = loop.getBody()->getTerminator()->getOpOperand(stream);
  if (!isa<RankedTensorType>(carried.getType()) || !looksLikeStream(carried, handedOn.get()))
    return std::nullopt;
  Operation *reader = getFirstReader(carried);
  if (isa_and_nonnull<AddOp, AddNormOp>(reader))
    return std::nullopt;
  Operation *last = handedOn.get().getDefiningOp();
  if (isa_and_nonnull<BlockOp>(last))
    return refuse("expected flat ops, but got resid.block; resid-expand-blocks makes flat ops of it", last);
  auto add = dyn_cast_or_null<AddOp>(last);
  if (!add)
    return refuse("expected resid.add to make what the loop hands on, but got " +
                      (last ? last->getName().getStringRef() : StringRef("another carried value")),
                  last);
  if (!reader || !isNormOf(reader, carried))
    return refuse("expected a norm to be the first to read the carried stream, but got " +
                      (reader ? reader->getName().getStringRef() : StringRef("no reader")),
                  reader);
  if (Operation *other = getOtherReader(add, handedOn))
    return refuse("expected the last sum to be read by the next iteration alone, but got another reader", other);
  LoopRotation rotation = cutBody(loop, stream, add);
  bool hasDropout = llvm::any_of(rotation.tail, [](Operation *op) { return isa<DropoutOp>(op); });
  if (int64_t rank = getNormParts(reader)->rank; hasDropout && rank != 1)
    return refuse("expected a norm over 1 dimension beside dropout, but got one over " + Twine(rank) +
                      ", which is not fused with the add before it",
                  reader);
  return rotation;
}

std::optional<LoopRotation> resid::findLoopRotation(scf::ForOp loop, bool runsAtLeastOnce, Refusals &refusals) {
  SmallVector<LoopRotation> found;
  for (unsigned stream : llvm::seq(loop.getNumRegionIterArgs()))
    if (std::optional<LoopRotation> rotation = findRotationOf(loop, stream, refusals))
      found.push_back(std::move(*rotation));
  if (found.empty())
    return std::nullopt;
  if (found.size() > 1) {
    refusals.push_back({loop, "not rotated: expected a loop that carries one stream, but got " +
                                  std::to_string(found.size()) + " streams"});
    return std::nullopt;
  }
  if (!runsAtLeastOnce) {
    refusals.push_back(
        {loop, "not rotated: expected a loop that runs at least once, but got bounds that do not show it"});
    return std::nullopt;
  }
  return std::move(found.front());
}
