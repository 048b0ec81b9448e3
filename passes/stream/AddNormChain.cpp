// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/AddNormChain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/stream/Sums.h"

using namespace mlir;
using namespace mlir::resid;

using FusionRefusals = SmallVectorImpl<FusionRefusal>;

//===----------------------------------------------------------------------===//
// The branch: bias and dropout
//===----------------------------------------------------------------------===//

namespace {
/// The part of a chain before the add; `value` is what enters it.
struct Branch {
  Value value;
  DropoutOp dropout;
  AddBiasOp bias;
  bool isEmpty() const { return !dropout && !bias; }
};
} // namespace

static bool isBiasOrDropout(Operation *op) { return isa_and_nonnull<AddBiasOp, DropoutOp>(op); }

/// The operand of a conversion between float types, else null.
static Value getConvertedValue(Value value) {
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    return extend.getIn();
  if (auto truncate = value.getDefiningOp<arith::TruncFOp>())
    return truncate.getIn();
  return nullptr;
}

/// The op of kind ProducerOp that makes `value`, if `reader` is all that needs it and runs exactly as often.
template <typename ProducerOp>
static ProducerOp takeProducer(Value value, Operation *reader, FusionRefusals &refusals) {
  auto producer = value.getDefiningOp<ProducerOp>();
  if (!producer)
    return nullptr;
  StringRef name = ProducerOp::getOperationName();
  if (!value.hasOneUse()) {
    auto uses = std::distance(value.use_begin(), value.use_end());
    refusals.push_back({producer, ("not fused: expected one reader of " + name + ", but got " + Twine(uses) +
                                   "; fusing would compute it twice")
                                      .str()});
    return nullptr;
  }
  if (producer->getBlock() != reader->getBlock()) {
    refusals.push_back({producer, ("not fused: expected " + name +
                                   " in the block of the residual add, but got another block; fusing would "
                                   "compute it as often as the add")
                                      .str()});
    return nullptr;
  }
  return producer;
}

/// A bias or dropout after a conversion cannot be taken: its result would lose the rounding to its own type.
static void refuseConvertedProducer(Value value, FusionRefusals &refusals) {
  Value converted = getConvertedValue(value);
  Operation *producer = converted ? converted.getDefiningOp() : nullptr;
  if (!isBiasOrDropout(producer))
    return;
  refusals.push_back(
      {producer, ("not fused: expected no " + value.getDefiningOp()->getName().getStringRef() + " after " +
                  producer->getName().getStringRef() + "; fusing would not round its result to " + "its own type")
                     .str()});
}

/// Goes from `value`, read by `reader`, towards the start of the branch: bias, with no dropout after it.
static AddBiasOp takeBias(Value &value, Operation *reader, FusionRefusals &refusals) {
  AddBiasOp bias = takeProducer<AddBiasOp>(value, reader, refusals);
  if (bias)
    value = bias.getF();
  else
    refuseConvertedProducer(value, refusals);
  return bias;
}

/// Goes from `value`, read by `reader`, towards the start of the branch: dropout, then bias.
static Branch takeBranch(Value value, Operation *reader, FusionRefusals &refusals) {
  Branch branch{value, nullptr, nullptr};
  branch.dropout = takeProducer<DropoutOp>(value, reader, refusals);
  if (branch.dropout) {
    reader = branch.dropout;
    branch.value = branch.dropout.getX();
  }
  branch.bias = takeBias(branch.value, reader, refusals);
  return branch;
}

/// Takes the branch from f, else from x where the sum commutes; `skip` becomes the other operand.
template <typename SumOp> static Branch takeEitherBranch(SumOp op, Value &skip, FusionRefusals &refusals) {
  skip = op.getX();
  Branch branch = takeBranch(op.getF(), op, refusals);
  if (!branch.isEmpty() || op.getX() == op.getF())
    return branch;
  if (commutes(op)) {
    Branch other = takeBranch(op.getX(), op, refusals);
    if (other.isEmpty())
      return branch;
    skip = op.getF();
    return other;
  }
  Operation *producer = op.getX().getDefiningOp();
  if (isBiasOrDropout(producer))
    refusals.push_back(
        {producer, ("not fused: expected " + producer->getName().getStringRef() +
                    " on the branch operand, but got it on the skip operand; with a gate or scales the " +
                    "operands do not commute")
                       .str()});
  return branch;
}

//===----------------------------------------------------------------------===//
// The sum: one residual add, read by the norm
//===----------------------------------------------------------------------===//

/// The residual add that `norm` reads, in its own block.
static AddOp takeSum(Operation *norm, Value sum, FusionRefusals &refusals) {
  if (Value converted = getConvertedValue(sum); converted && converted.getDefiningOp<AddOp>()) {
    refusals.push_back(
        {norm, ("not fused: expected the norm to read the sum itself, but got " +
                sum.getDefiningOp()->getName().getStringRef() + " between them; fusing would round the sum elsewhere")
                   .str()});
    return nullptr;
  }
  if (auto fused = sum.getDefiningOp<AddNormOp>(); fused && sum == fused.getSum()) {
    refusals.push_back({norm, "not fused: expected a sum that no other norm is fused with, but got the sum of a "
                              "resid.add_norm; the norm reads it from there"});
    return nullptr;
  }
  auto add = sum.getDefiningOp<AddOp>();
  if (add && add->getBlock() != norm->getBlock()) {
    refusals.push_back({norm, "not fused: expected the residual add in the block of the norm, but got another block; "
                              "fusing would compute the sum as often as the norm"});
    return nullptr;
  }
  return add;
}

/// Dropout counts rows by the last axis, a norm of rank k by the last k: refuses to state both in one op. A fused op
/// has no gamma of more dimensions either.
static bool refusesRank(AddOp add, Operation *norm, const NormParts &parts, FusionRefusals &refusals) {
  if (parts.hasWiderGamma()) {
    refusals.push_back({norm, "not fused: expected a gamma of the normalised dimensions alone, but got one with more"});
    return true;
  }
  bool hasDropout = add.getF().getDefiningOp<DropoutOp>() || (commutes(add) && add.getX().getDefiningOp<DropoutOp>());
  if (parts.rank == 1 || !hasDropout)
    return false;
  refusals.push_back(
      {norm,
       ("not fused: expected a norm over 1 dimension beside dropout, but got one over " + Twine(parts.rank)).str()});
  return true;
}

/// The last op of the add's block that must stand before the fused op: the add or what defines a parameter of the norm.
static Operation *getLastDefinition(AddOp add, const NormParts &parts) {
  Operation *last = add;
  for (Value parameter : parts.getParameters()) {
    Operation *definition = parameter.getDefiningOp();
    if (definition && definition->getBlock() == add->getBlock() && last->isBeforeInBlock(definition))
      last = definition;
  }
  return last;
}

/// The op before which the fused op can stand: the norm, or an earlier reader of the sum if the norm's parameters are
/// defined before that.
static Operation *findPlace(AddOp add, Operation *norm, const NormParts &parts, FusionRefusals &refusals) {
  Operation *place = norm;
  for (OpOperand &use : add.getResult().getUses()) {
    if (use.getOwner() == norm && use.getOperandNumber() != 0) {
      refusals.push_back(
          {norm, "not fused: expected parameters that do not depend on the sum, but got the sum itself"});
      return nullptr;
    }
    // A reader in a later block comes after the norm in any case.
    Operation *reader = add->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (reader && reader->isBeforeInBlock(place))
      place = reader;
  }
  if (place == norm || getLastDefinition(add, parts)->isBeforeInBlock(place))
    return place;
  refusals.push_back({norm,
                      "not fused: expected the parameters of the norm before every other reader of the sum, but got "
                      "an earlier reader",
                      place});
  return nullptr;
}

std::optional<AddNormChain> resid::findAddNormChain(Operation *norm, FusionRefusals &refusals) {
  std::optional<NormParts> parts = getNormParts(norm);
  if (!parts)
    return std::nullopt;
  AddOp add = takeSum(norm, parts->x, refusals);
  if (!add || refusesRank(add, norm, *parts, refusals))
    return std::nullopt;
  Operation *place = findPlace(add, norm, *parts, refusals);
  if (!place)
    return std::nullopt;
  Value skip;
  Branch branch = takeEitherBranch(add, skip, refusals);
  return AddNormChain{branch.bias, branch.dropout, add, norm, *parts, skip, branch.value, place};
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

SmallVector<FusionRefusal> resid::collectFusionRefusals(Operation *root) {
  SmallVector<FusionRefusal> refusals;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    findAddNormChain(op, refusals);
    // A fused op tells why its chain starts where it does: what makes its branch was not taken.
    auto fused = dyn_cast<AddNormOp>(op);
    if (!fused || fused.getBias())
      return;
    Value operand = fused.getF();
    if (fused.hasDropout())
      takeBias(operand, fused, refusals);
    else
      takeEitherBranch(fused, operand, refusals);
  });
  return refusals;
}

void resid::emitFusionRefusals(ArrayRef<FusionRefusal> refusals) {
  for (const FusionRefusal &refusal : refusals) {
    InFlightDiagnostic remark = refusal.op->emitRemark() << refusal.reason;
    if (refusal.reader)
      remark.attachNote(refusal.reader->getLoc()) << "the earlier reader is here";
  }
}
