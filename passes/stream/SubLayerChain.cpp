// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sub-layers of a block one after the other: a norm between two of them ends the first (post) or begins the second
// (post_shifted). The bits are the same; which reading it is, the whole chain decides. See SubLayer.h.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/Stacks.h"
#include "passes/stream/SubLayer.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// The norm that reads a sum, and why it cannot be the last part of the sub-layer; `isNeeded` where leaving it outside
/// would tell a wrong placement.
struct Tail {
  Operation *norm = nullptr;
  std::string obstacle;
  Operation *other = nullptr;
  bool isNeeded = false;
  bool fits() const { return norm && obstacle.empty(); }
};

/// Gives the norms between sub-layers to one of them.
class ChainReader {
public:
  ChainReader(SubLayers &found, SmallVectorImpl<SubLayerRefusal> &refusals)
      : found(found), refusals(refusals), next(found.layers.size()), refused(found.layers.size()) {
    for (size_t i = 0; i < found.layers.size(); ++i)
      if (const SubLayer *previous = found.getPrevious(found.layers[i]))
        next[previous - found.layers.begin()] = i; // the outermost, which comes last
  }

  /// Returns the sub-layers that are left.
  SmallVector<SubLayer> read();

private:
  Tail getTail(size_t i) const;
  Operation *getHead(size_t i) const;
  void readRun(ArrayRef<size_t> run);
  bool isShifted(ArrayRef<size_t> run) const;
  void readTail(size_t i);

  SubLayers &found;
  SmallVectorImpl<SubLayerRefusal> &refusals;
  SmallVector<std::optional<size_t>> next; ///< the sub-layer that goes on with the sum of this one, or its norm
  SmallVector<bool> refused;
};
} // namespace

Tail ChainReader::getTail(size_t i) const {
  Value sum = found.layers[i].getSum();
  SmallVector<OpOperand *> readers = getReaders(sum);
  Tail tail;
  if (next[i])
    tail.norm = getSkipNorm(found.layers[*next[i]]);
  else if (readers.size() == 1 && readers.front()->getOwner()->getBlock() == sum.getParentBlock())
    tail.norm = readers.front()->getOwner();
  std::optional<NormParts> parts = tail.norm ? getNormParts(tail.norm) : std::nullopt;
  if (!parts || parts->hasWiderGamma() || parts->x != sum || found.norms.contains(tail.norm) ||
      (!next[i] && found.followsRawSums(found.layers[i])))
    return {};
  auto other = llvm::find_if(readers, [&](OpOperand *reader) { return reader->getOwner() != tail.norm; });
  tail.isNeeded = next[i].has_value();
  if (other != readers.end()) {
    tail.obstacle = "expected a sum that only the norm after it reads, but got another reader";
    tail.other = (*other)->getOwner();
  } else if (hasReadStatistics(tail.norm)) {
    tail.obstacle = "expected no reader of the statistics of the norm after the sum, but got one";
    tail.isNeeded = true;
  } else if (!keepsType(tail.norm)) {
    tail.obstacle = describeTypes("a norm after the sum that makes", sum.getType(), tail.norm->getResult(0).getType());
  } else if (readers.size() != 1) {
    tail.obstacle = "expected parameters of the norm after the sum that do not depend on it, but got the sum itself";
  }
  if (!tail.other)
    tail.other = tail.norm;
  return tail;
}

/// The norm whose value skips the branch, if it can be the first part of the sub-layer: nothing else reads it.
Operation *ChainReader::getHead(size_t i) const {
  const SubLayer &layer = found.layers[i];
  Operation *norm = getSkipNorm(layer);
  if (!norm || found.norms.contains(norm) || getNormParts(norm)->hasWiderGamma() || !keepsType(norm) ||
      hasReadStatistics(norm) || llvm::is_contained(AddOp(layer.add)->getOperands().drop_front(2), layer.getSkip()))
    return nullptr;
  SmallVector<Operation *> branch = layer.getBranchOps();
  llvm::DenseSet<Operation *> inside(branch.begin(), branch.end());
  inside.insert(layer.add);
  if (layer.dropout)
    inside.insert(layer.dropout);
  bool isAlone = llvm::all_of(getReaders(layer.getSkip()), [&](OpOperand *reader) {
    return inside.contains(norm->getBlock()->findAncestorOpInBlock(*reader->getOwner()));
  });
  return isAlone ? norm : nullptr;
}

/// Whether a run of sub-layers reads as post_shifted: each begins with a norm, and a raw sum leaves the last one, or
/// one in between is read elsewhere too. Where a raw sum leaves, the first of several may do without a norm.
bool ChainReader::isShifted(ArrayRef<size_t> run) const {
  auto hasHead = [&](size_t i) { return getHead(i) != nullptr; };
  if (!llvm::all_of(run.drop_front(), hasHead))
    return false;
  auto isNoPost = [&](size_t i) { return getTail(i).isNeeded && !getTail(i).fits(); };
  if (hasHead(run.front()))
    return !getTail(run.back()).fits() || llvm::any_of(run, isNoPost);
  return run.size() > 1 && !getTail(run.back()).fits() && !isNoPost(run.back());
}

/// Takes the norm after the add, or refuses where it would be wrong to leave it.
void ChainReader::readTail(size_t i) {
  Tail tail = getTail(i);
  SubLayer &layer = found.layers[i];
  if (tail.fits()) {
    layer.getNorm(NormPosition::AfterAdd) = tail.norm;
    found.norms.insert(tail.norm);
  } else if (tail.isNeeded) {
    refusals.push_back(
        {layer.getSumOp(), tail.obstacle, tail.other, tail.other == tail.norm ? "the norm" : "the other reader"});
    refused[i] = true;
  }
}

void ChainReader::readRun(ArrayRef<size_t> run) {
  bool shifted = isShifted(run);
  for (size_t i : run) {
    if (!shifted) {
      readTail(i);
      continue;
    }
    Operation *head = getHead(i);
    found.layers[i].getNorm(NormPosition::BeforeSubLayer) = head;
    if (head)
      found.norms.insert(head);
  }
}

SmallVector<SubLayer> ChainReader::read() {
  llvm::DenseSet<size_t> done;
  for (size_t first = 0; first < found.layers.size(); ++first) {
    SmallVector<size_t> run;
    for (std::optional<size_t> i = first; i && found.layers[*i].isBare() && done.insert(*i).second; i = next[*i])
      run.push_back(*i);
    if (!run.empty())
      readRun(run);
  }
  SmallVector<SubLayer> left;
  for (auto [layer, isRefused] : llvm::zip_equal(found.layers, refused))
    if (!isRefused)
      left.push_back(layer);
  return left;
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// Forming moves the branch down to the end of the sub-layer: refuses where that changes the order of effects.
static bool keepsOrderOfEffects(const SubLayer &layer, SmallVectorImpl<SubLayerRefusal> &refusals) {
  SmallVector<Operation *> branch = layer.getBranchOps();
  llvm::DenseSet<Operation *> inside(branch.begin(), branch.end());
  Operation **first = llvm::find_if_not(branch, isMemoryEffectFree);
  if (first == branch.end())
    return true;
  for (Operation *op = *first; op != layer.getLast(); op = op->getNextNode()) {
    if (inside.contains(op) || isMemoryEffectFree(op))
      continue;
    refusals.push_back({layer.getSumOp(),
                        ("expected no effects of other ops between those of the branch and the end of the "
                         "sub-layer, but got " +
                         op->getName().getStringRef())
                            .str(),
                        op, "the other op"});
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// All of a block
//===----------------------------------------------------------------------===//

SmallVector<SubLayer> resid::findSubLayers(Block &block, SmallVectorImpl<SubLayerRefusal> &refusals) {
  size_t begin = refusals.size();
  SubLayers found;
  for (AddOp add : block.getOps<AddOp>()) {
    std::optional<SubLayer> layer = findSubLayer(add, found, refusals);
    if (!layer)
      continue;
    for (Operation *norm : layer->norms)
      if (norm)
        found.norms.insert(norm);
    found.byAdd[add] = found.layers.size();
    found.layers.push_back(*layer);
  }
  SmallVector<SubLayer> layers = ChainReader(found, refusals).read();
  // Norms of several streams belong to no sub-layer.
  for (WriteOp write : block.getOps<WriteOp>())
    if (std::optional<SubLayer> layer = findSubLayer(write, found, refusals))
      layers.push_back(*layer);
  llvm::stable_sort(layers, [](const SubLayer &first, const SubLayer &second) {
    return first.getSumOp()->isBeforeInBlock(second.getSumOp());
  });
  llvm::erase_if(layers, [&](const SubLayer &layer) { return !keepsOrderOfEffects(layer, refusals); });
  llvm::sort(refusals.begin() + begin, refusals.end(), [](const SubLayerRefusal &first, const SubLayerRefusal &second) {
    return first.op->isBeforeInBlock(second.op);
  });
  return layers;
}

void resid::reportRefusal(const SubLayerRefusal &refusal, DiagnosticSeverity severity) {
  InFlightDiagnostic report =
      severity == DiagnosticSeverity::Error ? refusal.op->emitOpError() : refusal.op->emitRemark();
  report << "not formed: " << refusal.reason;
  if (refusal.other)
    report.attachNote(refusal.other->getLoc()) << refusal.otherIs << " is here";
}
