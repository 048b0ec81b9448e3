// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of sub-layers, whose residual stream is followed upwards, through blocks and flat ops alike.

#include "dialect/Placement.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/checks/StreamChecks.h"
#include "passes/stream/Ancestry.h"
#include "passes/stream/BranchSlice.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/Sums.h"

using namespace mlir;
using namespace mlir::resid;

/// The value before conversions of its element type and casts of its type.
static Value skipCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, tensor::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether `value` is made by something of a stream.
static bool isOnStream(Value value) {
  Operation *op = skipCasts(value).getDefiningOp();
  return op && (isa<AddOp, BlockOp, ReadOp, WriteOp, scf::ForOp>(op) || getNormParts(op));
}

/// What a loop carries: the value it starts with, if its iterations change it.
static Value getInit(BlockArgument argument, unsigned &subLayers) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
  if (!init)
    return Value();
  subLayers += loop.getTiedLoopYieldedValue(argument)->get() != argument;
  return init->get();
}

/// The value before `value` on its stream; null where the stream begins.
static Value getAbove(Value value, unsigned &subLayers) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return getInit(cast<BlockArgument>(value), subLayers);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return getInit(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)), subLayers);
  if (std::optional<NormParts> norm = getNormParts(op))
    return op->getResult(0) == value ? norm->x : Value();
  if (auto dropout = dyn_cast<DropoutOp>(op))
    return dropout.getX();
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getX();
  subLayers += isa<BlockOp, AddOp, WriteOp>(op);
  if (auto block = dyn_cast<BlockOp>(op))
    return block.getX();
  if (auto write = dyn_cast<WriteOp>(op))
    return write.getX();
  auto add = dyn_cast<AddOp>(op);
  if (!add)
    return Value();
  bool isOther = commutes(add) && !isOnStream(add.getX()) && isOnStream(add.getF());
  return isOther ? add.getF() : add.getX();
}

/// The values of the stream that `value` is on, up to where it begins, `value` first: sums, what norms and dropout make
/// of them, what loops carry.
static SmallVector<Value> findStreamAbove(Value value) {
  SmallVector<Value> values;
  unsigned subLayers = 0;
  while (value) {
    value = skipCasts(value);
    values.push_back(value);
    value = getAbove(value, subLayers);
  }
  return values;
}

/// Whether a residual add made the stream that `value` is on, in an earlier iteration of a loop perhaps.
static bool comesOutOfSubLayer(Value value) {
  unsigned subLayers = 0;
  while (value && subLayers == 0)
    value = getAbove(skipCasts(value), subLayers);
  return subLayers > 0;
}

namespace {
/// A residual add, flat or in a block, as its checks see it.
struct SubLayer {
  Operation *op;
  /// What the skip path adds to, and what the branch's output is.
  Value skip, output;
  /// The stream as the branch's argument; null for flat ops.
  Value argument;
};
} // namespace

/// The ways to read an op as skip + branch; a plain add may have its stream on either side.
static SmallVector<SubLayer> getSubLayers(Operation *op) {
  if (auto block = dyn_cast<BlockOp>(op)) {
    Block &branch = block.getBranch().front();
    return {{op, block.getX(), branch.getTerminator()->getOperand(0), branch.getArgument(0)}};
  }
  if (auto write = dyn_cast<WriteOp>(op); write && write.getY())
    return {{op, write.getX(), write.getY(), Value()}};
  auto add = dyn_cast<AddOp>(op);
  if (!add)
    return {};
  SmallVector<SubLayer> layers = {{op, add.getX(), add.getF(), Value()}};
  if (commutes(add))
    layers.push_back({op, add.getF(), add.getX(), Value()});
  return layers;
}

/// Whether the branch reads the stream, as its argument or as the value itself.
static bool readsSkip(const SubLayer &layer) {
  return isComputedFrom(layer.output, layer.skip) || (layer.argument && isComputedFrom(layer.output, layer.argument));
}

//===----------------------------------------------------------------------===//
// A norm on the skip path
//===----------------------------------------------------------------------===//

/// x' = N(x) + f(x): the stream is normalised, the branch reads it as it was before. N(x) + x is pre-norm without a
/// branch, written the other way round.
static bool hasNormOnSkipPath(const SubLayer &layer) {
  Value normalized = skipCasts(layer.skip);
  Operation *norm = normalized.getDefiningOp();
  std::optional<NormParts> parts = norm ? getNormParts(norm) : std::nullopt;
  return parts && norm->getResult(0) == normalized && skipCasts(layer.output) != skipCasts(parts->x) &&
         !readsSkip(layer) && !isComputedFrom(layer.output, normalized) && isComputedFrom(layer.output, parts->x);
}

static void warnNormOnSkipPath(const SubLayer &layer) {
  Operation *norm = skipCasts(layer.skip).getDefiningOp();
  InFlightDiagnostic warning = emitWarning(norm->getLoc())
                               << "a norm stands on the skip path: the residual add takes the normalised stream, but "
                                  "its branch reads the stream before the norm";
  warning.attachNote(layer.op->getLoc()) << "the residual add is here";
  warning.attachNote() << "mend: add the branch to what the norm reads, or let the branch read what the norm makes";
}

//===----------------------------------------------------------------------===//
// A branch that does not depend on the stream
//===----------------------------------------------------------------------===//

/// Whether a loop carries one of the arguments from iteration to iteration: what is in it, nobody has followed.
static bool isCarried(const Ancestry &ancestry) {
  return llvm::any_of(ancestry.arguments, [](Value argument) {
    auto loop = dyn_cast<LoopLikeOpInterface>(cast<BlockArgument>(argument).getOwner()->getParentOp());
    return loop && isa<TensorType>(argument.getType());
  });
}

/// The value after what only changes a branch at its end or its form.
static Value skipWayBack(Value value) {
  while (Operation *op = skipCasts(value).getDefiningOp()) {
    if (!isa<AddBiasOp, DropoutOp>(op) && !getNormParts(op))
      break;
    value = op->getOperand(0);
  }
  return skipCasts(value);
}

/// Whether something is computed on the way: a call, a layer of resid, or an op of linalg that is more than a fill or a
/// copy.
static bool computes(const Ancestry &ancestry) {
  return llvm::any_of(ancestry.ops, [](Operation *op) {
    return isa<CallOpInterface, LinearOp, AttentionOp>(op) ||
           (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp, linalg::CopyOp>(op));
  });
}

/// Whether a branch is made without the stream, not even what it was earlier (parallel branches read that). A block
/// that yields an argument of the function as it is takes its branch from the caller. Flat ops are judged only where
/// the stream comes out of a sub-layer of the same function and the branch is computed here: a kernel may take a
/// branch, or what it is made of, from its caller. Where two streams meet, neither is the branch of the other.
static bool isIndependent(const SubLayer &layer) {
  Value output = skipWayBack(layer.output);
  Operation *op = output.getDefiningOp();
  if (!layer.argument &&
      (isa_and_nonnull<AddOp, BlockOp, WriteOp, LoopLikeOpInterface>(op) || !comesOutOfSubLayer(layer.skip)))
    return false;
  if (!op || readsSkip(layer))
    return false;
  Ancestry ancestry = findAncestry(output);
  auto isMet = [&](Value value) { return ancestry.contains(value); };
  return (layer.argument || computes(ancestry)) && !isCarried(ancestry) &&
         llvm::none_of(findStreamAbove(layer.skip), isMet);
}

static void checkSubLayer(Operation *op) {
  SmallVector<SubLayer> layers = getSubLayers(op);
  for (const SubLayer &layer : layers)
    if (hasNormOnSkipPath(layer))
      return warnNormOnSkipPath(layer);
  // A sum is a mistake if no way to read it is none.
  if (!layers.empty() && llvm::any_of(layers, isIndependent) && llvm::none_of(layers, readsSkip))
    warn(op->getLoc(), "the branch of this residual add does not depend on the stream",
         "compute the branch from the stream that it is added to, or from its norm");
}

//===----------------------------------------------------------------------===//
// Dropout after the residual add
//===----------------------------------------------------------------------===//

/// Whether `use` hands its value on as a stream.
static bool carriesStream(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto block = dyn_cast<BlockOp>(op))
    return use.getOperandNumber() == block.getXMutable().getOperandNumber();
  if (auto write = dyn_cast<WriteOp>(op))
    return &use == &write.getXMutable();
  if (auto add = dyn_cast<AddOp>(op))
    return use.getOperandNumber() == 0 || (commutes(add) && use.getOperandNumber() == 1);
  return isa<LoopLikeOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>();
}

static bool entersSubLayer(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return carriesStream(use) && !use.getOwner()->hasTrait<OpTrait::IsTerminator>();
  });
}

/// The residual add whose sum `dropout` reads as the stream: nobody else hands the sum on.
static Operation *findAddBefore(DropoutOp dropout) {
  Value sum = skipCasts(dropout.getX());
  Operation *op = sum.getDefiningOp();
  if (!isa_and_nonnull<AddOp, BlockOp, WriteOp>(op) || llvm::any_of(sum.getUses(), carriesStream))
    return nullptr;
  auto block = dyn_cast<BlockOp>(op);
  if (block && getNormAt(block, NormPosition::AfterAdd))
    return entersSubLayer(dropout) ? op : nullptr; // a head after a normalised stream may have dropout
  return op;
}

/// Whether the add is no sub-layer but the sum of embeddings that a stack begins with: dropout belongs there.
static bool isEmbedding(Operation *op, DropoutOp dropout) {
  auto add = dyn_cast<AddOp>(op);
  return add && entersSubLayer(dropout) && !comesOutOfSubLayer(add.getX()) && !comesOutOfSubLayer(add.getF()) &&
         !isComputedFrom(add.getF(), add.getX()) && !isComputedFrom(add.getX(), add.getF());
}

static void checkDropoutPlace(DropoutOp dropout) {
  Operation *add = findAddBefore(dropout);
  if (!add || isEmbedding(add, dropout))
    return;
  InFlightDiagnostic warning = dropout.emitWarning()
                               << "dropout is applied after the residual add: it drops elements of the stream itself";
  warning.attachNote(add->getLoc()) << "the residual add is here";
  warning.attachNote() << "mend: apply dropout to the branch, before the add";
}

//===----------------------------------------------------------------------===//
// A stream that is not handed on
//===----------------------------------------------------------------------===//

/// A factor of 0 on the stream drops it, and with it the gradient of all sub-layers before.
template <typename SumOp> static void checkSkip(SumOp op) {
  AddParts parts = getAddParts(op);
  if (parts.skipScale.getValue().isZero() || (parts.skip && matchPattern(parts.skip, m_AnyZeroFloat())))
    warn(op.getLoc(), "this residual add drops its stream: the factor of the stream is 0",
         "scale the stream by a factor that is not 0, or write what the branch makes without an add");
}

void resid::checkSubLayers(ModuleOp module) {
  forEachSum(module, [](auto sum) { checkSkip(sum); });
  module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (auto dropout = dyn_cast<DropoutOp>(op))
      checkDropoutPlace(dropout);
    else
      checkSubLayer(op);
  });
}
