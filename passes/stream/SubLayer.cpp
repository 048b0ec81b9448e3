// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/SubLayer.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/stream/BranchSlice.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/Stacks.h"
#include "passes/stream/Sums.h"

using namespace mlir;
using namespace mlir::resid;

Value SubLayer::getSkip() const {
  AddOp op = add;
  if (write)
    return ReadOp(read).getResult();
  return isSwapped ? op.getF() : op.getX();
}

Value SubLayer::getBranch() const {
  AddOp op = add;
  if (write)
    return WriteOp(write).getY();
  return isSwapped ? op.getX() : op.getF();
}

Value SubLayer::getBranchInput() const {
  Operation *norm = getNorm(NormPosition::BeforeBranch);
  return norm ? norm->getResult(0) : getSkip();
}

Value SubLayer::getBranchOutput() const {
  DropoutOp op = dropout;
  if (Operation *norm = getNorm(NormPosition::AfterBranch))
    return getNormParts(norm)->x;
  return op ? op.getX() : getBranch();
}

Operation *SubLayer::getLast() const {
  Operation *norm = getNorm(NormPosition::AfterAdd);
  return norm ? norm : getSumOp();
}

SmallVector<Operation *> SubLayer::getBranchOps() const {
  auto inOrder = [](Operation *first, Operation *second) { return first->isBeforeInBlock(second); };
  BranchSlice slice = findBranchSlice(getSumOp()->getBlock(), getBranchInput(), getBranchOutput());
  SmallVector<Operation *> ops = slice.ops.takeVector(), sizeOps = std::move(slice.sizeOps);
  // The sizes of the stream are those of its norm.
  if (getBranchInput() != getSkip())
    llvm::append_range(sizeOps, findBranchSlice(getSumOp()->getBlock(), getSkip(), getBranchOutput()).sizeOps);
  llvm::sort(sizeOps, inOrder);
  sizeOps.erase(llvm::unique(sizeOps), sizeOps.end());
  llvm::append_range(ops, findOwnOps(sizeOps, ops));
  llvm::sort(ops, inOrder);
  return ops;
}

const SubLayer *SubLayers::getBySum(Value value) const {
  auto found = byAdd.find(value.getDefiningOp());
  return found == byAdd.end() ? nullptr : &layers[found->second];
}

Operation *resid::getSkipNorm(const SubLayer &layer) {
  Operation *norm = layer.getSkip().getDefiningOp();
  if (!norm || norm->getBlock() != layer.getSumOp()->getBlock() || !getNormParts(norm))
    return nullptr;
  return norm->getResult(0) == layer.getSkip() ? norm : nullptr;
}

const SubLayer *SubLayers::getPrevious(const SubLayer &layer) const {
  Operation *norm = getSkipNorm(layer);
  return getBySum(norm ? getNormParts(norm)->x : layer.getSkip());
}

bool SubLayers::followsRawSums(const SubLayer &layer) const {
  if (isa<LoopLikeOpInterface>(layer.getSumOp()->getParentOp()) || !getBySum(layer.getSkip()))
    return false;
  const SubLayer *previous = getPrevious(layer);
  while (previous && previous->isBare() && !getSkipNorm(*previous))
    previous = getPrevious(*previous);
  return !previous || !previous->isBare() || !getPrevious(*previous);
}

std::string resid::describeTypes(StringRef what, Type expected, Type found) {
  std::string text;
  llvm::raw_string_ostream(text) << "expected " << what << " '" << expected << "' but got '" << found << "'";
  return text;
}

bool resid::keepsType(Operation *norm) { return norm->getResult(0).getType() == getNormParts(norm)->x.getType(); }

bool resid::hasReadStatistics(Operation *norm) {
  return llvm::any_of(norm->getResults().drop_front(), [](Value value) { return !value.use_empty(); });
}

/// Whether the sum of an earlier sub-layer goes into `norm`, so that it is the norm of that one: post, inside a branch.
/// After sub-layers without norms between them it is the norm after all of them.
static bool belongsToSum(Operation *norm, const SubLayers &earlier) {
  Value sum = getNormParts(norm)->x;
  const SubLayer *inner = earlier.getBySum(sum);
  return inner && sum.hasOneUse() && keepsType(norm) && inner->isBare() && !earlier.followsRawSums(*inner);
}

namespace {
/// Finds the parts of one sub-layer, one after the other; each step returns whether to go on.
class Matcher {
public:
  Matcher(Operation *sum, const SubLayers &earlier, SmallVectorImpl<SubLayerRefusal> &refusals)
      : earlier(earlier), refusals(refusals), sum(sum), add(dyn_cast<AddOp>(sum)) {
    layer.add = add;
    layer.write = dyn_cast<WriteOp>(sum);
  }

  std::optional<SubLayer> match() {
    bool hasStream = layer.write ? matchWrite() && matchRead() : matchType() && matchStream();
    if (hasStream && matchAfterBranch() && matchBeforeBranch() && matchOperands() && matchReaders())
      return layer;
    return std::nullopt;
  }

private:
  bool refuse(const Twine &reason, Operation *other = nullptr, StringRef otherIs = "") {
    refusals.push_back({sum, reason.str(), other, otherIs.str()});
    return false;
  }

  bool matchType();
  bool matchStream();
  bool matchWrite();
  bool matchRead();
  bool refuseStream();
  bool refuseIndependent();
  bool matchAfterBranch();
  bool matchBeforeBranch();
  bool matchNorm(Operation *norm, NormPosition position);
  bool matchOperands();
  bool matchReaders();

  const SubLayers &earlier;
  SmallVectorImpl<SubLayerRefusal> &refusals;
  Operation *sum;
  AddOp add; ///< null where the sum is a write
  SubLayer layer;
  BranchSlice slice;
};
} // namespace

bool Matcher::matchType() {
  Type stream = add.getX().getType(), sum = add.getType();
  return sum == stream || refuse(describeTypes("a sum of the stream's type", stream, sum));
}

/// The write is one that a block can state.
bool Matcher::matchWrite() {
  WriteOp write = layer.write;
  if (!write.getY()) {
    refuse("expected a branch that is written, but got a mix alone");
    refusals.back().isSubLayer = false;
    return false;
  }
  if (write.getTransposed())
    return refuse("expected a mix that is not transposed, but got one that is");
  return write.getType() == write.getX().getType() ||
         refuse(describeTypes("a write of the streams' type", write.getX().getType(), write.getType()));
}

/// The row is the one read of the streams that the branch is computed from.
bool Matcher::matchRead() {
  WriteOp write = layer.write;
  for (OpOperand *reader : getReaders(write.getX())) {
    auto read = dyn_cast<ReadOp>(reader->getOwner());
    if (!read || reader != &read.getXMutable() || read->getBlock() != write->getBlock() ||
        read.getType() != write.getY().getType())
      continue;
    BranchSlice found = findBranchSlice(write->getBlock(), read.getResult(), write.getY());
    if (!found.isDependent)
      continue;
    if (layer.read)
      return refuse("expected one read of the streams that the branch is computed from, but got two", read,
                    "the other");
    layer.read = read;
    slice = std::move(found);
  }
  return layer.read || refuse("expected a branch computed from a read of the same streams, of their element type, but "
                              "got none in the block of the write");
}

/// The stream is the operand that the other one is computed from.
bool Matcher::matchStream() {
  slice = findBranchSlice(add->getBlock(), add.getX(), add.getF());
  if (slice.isDependent)
    return true;
  // A sum as the first operand is the stream, whatever it was computed from: in (x + a) + a nothing branches off a.
  if (add.getX().getDefiningOp<AddOp>())
    return isComputedFrom(add.getF(), add.getX()) ? refuseStream() : refuseIndependent();
  BranchSlice swapped = findBranchSlice(add->getBlock(), add.getF(), add.getX());
  if (!swapped.isDependent)
    return refuseStream();
  if (!commutes(add))
    return refuse(
        "expected the branch as the second operand, but got it as the first; with a gate or scales the operands "
        "do not commute");
  slice = std::move(swapped);
  layer.isSwapped = true;
  return true;
}

bool Matcher::refuseStream() {
  bool isFirst = isComputedFrom(add.getF(), add.getX());
  if (isFirst || (commutes(add) && isComputedFrom(add.getX(), add.getF())))
    return refuse("expected the branch in the block of the residual add, but got a part of it in another block",
                  (isFirst ? add.getF() : add.getX()).getDefiningOp(), "the branch");
  return refuseIndependent();
}

bool Matcher::refuseIndependent() {
  refuse("expected a branch that depends on the stream, but got one that does not");
  refusals.back().isSubLayer = false;
  return false;
}

/// Takes `norm` as a part of the sub-layer, if a block can state it there.
bool Matcher::matchNorm(Operation *norm, NormPosition position) {
  StringRef where = position == NormPosition::BeforeBranch ? "before" : "after";
  if (hasReadStatistics(norm))
    return refuse("expected no reader of the statistics of the norm " + where + " the branch, but got one", norm,
                  "the norm");
  if (getNormParts(norm)->hasWiderGamma())
    return refuse("expected a gamma of the normalised dimensions alone " + where + " the branch, but got one with more",
                  norm, "the norm");
  layer.getNorm(position) = norm;
  return true;
}

/// From the add towards the branch: dropout, then a norm.
bool Matcher::matchAfterBranch() {
  Value output = layer.getBranch();
  if (auto dropout = output.getDefiningOp<DropoutOp>(); dropout && slice.ops.contains(dropout)) {
    layer.dropout = dropout;
    output = dropout.getX();
  }
  Operation *norm = output.getDefiningOp();
  std::optional<NormParts> parts = norm && slice.ops.contains(norm) ? getNormParts(norm) : std::nullopt;
  // The norm of the stream itself stands before a branch that is the identity.
  if (!parts || parts->x == layer.getSkip() || belongsToSum(norm, earlier))
    return true;
  if (!keepsType(norm))
    return refuse(describeTypes("a norm after the branch that reads", layer.getBranch().getType(), parts->x.getType()),
                  norm, "the norm");
  return matchNorm(norm, NormPosition::AfterBranch);
}

/// A norm that stands between the stream and everything else in the branch.
bool Matcher::matchBeforeBranch() {
  auto isNormOfStream = [&](Operation *reader) {
    std::optional<NormParts> parts = getNormParts(reader);
    // Norms of sub-layers inside of the branch do not belong to this sub-layer.
    return parts && parts->x == layer.getSkip() && !earlier.norms.contains(reader);
  };
  Operation **norm = llvm::find_if(slice.readers, isNormOfStream);
  if (norm == slice.readers.end())
    return true;
  for (Operation *reader : slice.readers)
    if (reader != *norm)
      return refuse("expected the norm to be all of the branch that reads the stream, but got another reader", reader,
                    "the other reader");
  if (!matchNorm(*norm, NormPosition::BeforeBranch))
    return false;
  // From here on the branch begins after the norm.
  slice = findBranchSlice(sum->getBlock(), layer.getBranchInput(), layer.getBranch());
  return true;
}

/// What the clauses of a block read is computed outside of its branch, and its norms agree where one attribute speaks
/// for all.
bool Matcher::matchOperands() {
  std::optional<bool> narrowAffine;
  auto matchOperand = [&](Value value, StringRef name) {
    return !value || !slice.ops.contains(value.getDefiningOp()) ||
           refuse("expected " + name + " from outside of the branch, but got a value of it", value.getDefiningOp(),
                  "the value");
  };
  for (Operation *norm : layer.norms) {
    std::optional<NormParts> parts = norm ? getNormParts(norm) : std::nullopt;
    if (!parts)
      continue;
    for (const NormParameter &parameter : normParameters)
      if (!matchOperand((*parts).*parameter.value, parameter.name))
        return false;
    if (!parts->gamma)
      continue;
    if (narrowAffine.value_or(parts->narrowAffine) != parts->narrowAffine)
      return refuse("expected narrow_affine on both norms or on none, but got it on one", norm,
                    "the norm after the branch");
    narrowAffine = parts->narrowAffine;
  }
  DropoutOp dropout = layer.dropout;
  AddParts parts = add ? getAddParts(add) : AddParts();
  return matchOperand(parts.gate, "the gate") && matchOperand(parts.skip, "the factor of the stream") &&
         matchOperand(parts.also, "the second operand") &&
         matchOperand(parts.alsoScale, "the scale of the second operand") &&
         (!dropout || (matchOperand(dropout.getSeed(), "the seed") && matchOperand(dropout.getStep(), "the step") &&
                       matchOperand(dropout.getOriginRow(), "the origin's row") &&
                       matchOperand(dropout.getOriginSite(), "the origin's site") &&
                       matchOperand(dropout.getOriginCol(), "the origin's column") &&
                       matchOperand(dropout.getExtentLocal(), "the local extent") &&
                       matchOperand(dropout.getExtentGlobal(), "the global extent")));
}

/// Values of the branch stay inside. The norm before it may be asked for its sizes, which are the stream's.
bool Matcher::matchReaders() {
  auto matchResults = [&](Operation *op, bool isInput) {
    for (OpOperand &use : op->getUses()) {
      Operation *reader = sum->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (reader == sum || slice.ops.contains(reader) || (isInput && isa<tensor::DimOp>(use.getOwner())))
        continue;
      return refuse("expected no reader of the branch outside of it, but got " +
                        use.getOwner()->getName().getStringRef() + " that reads " + op->getName().getStringRef(),
                    use.getOwner(), "the reader");
    }
    return true;
  };
  Operation *before = layer.getNorm(NormPosition::BeforeBranch);
  return (!before || matchResults(before, /*isInput=*/true)) &&
         llvm::all_of(slice.ops, [&](Operation *op) { return matchResults(op, /*isInput=*/false); });
}

std::optional<SubLayer> resid::findSubLayer(AddOp add, const SubLayers &earlier,
                                            SmallVectorImpl<SubLayerRefusal> &refusals) {
  return Matcher(add, earlier, refusals).match();
}

std::optional<SubLayer> resid::findSubLayer(WriteOp write, const SubLayers &earlier,
                                            SmallVectorImpl<SubLayerRefusal> &refusals) {
  return Matcher(write, earlier, refusals).match();
}
