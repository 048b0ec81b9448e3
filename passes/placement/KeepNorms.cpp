// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/placement/NormConversion.h"
#include "passes/placement/NormParameters.h"

using namespace mlir;
using namespace mlir::resid;

/// For each position of the target, which norm of the source takes it; none where a new one is needed. A norm that
/// stands at a position of the target stays there, the others take what is left, in order.
static SmallVector<std::optional<size_t>> mapNorms(ArrayRef<NormPosition> from, ArrayRef<NormPosition> to) {
  SmallVector<std::optional<size_t>> sources(to.size());
  SmallVector<size_t> moving;
  for (auto [index, position] : llvm::enumerate(from)) {
    const NormPosition *same = llvm::find(to, position);
    if (same == to.end())
      moving.push_back(index);
    else
      sources[same - to.begin()] = index;
  }
  for (auto [source, index] : llvm::zip(llvm::make_filter_range(sources, [](auto &source) { return !source; }), moving))
    source = index;
  return sources;
}

/// Whether the stream between sub-layers is what a norm made.
static bool handsOutNormalized(Placement placement) {
  return llvm::is_contained(getPlacementRule(placement).positions, NormPosition::AfterAdd);
}

namespace {
/// One conversion of one stack.
class KeepNorms final : public StackConversion {
public:
  KeepNorms(func::FuncOp function, const Stack &stack, const PlacementChange &change)
      : function(function), stack(stack), change(change), from(getPlacementRule(change.from)),
        to(getPlacementRule(change.to)), sources(mapNorms(from.positions, to.positions)) {
    converted.conversion = {function.getSymName().str(),
                            stringifyPlacement(change.from).str(),
                            stringifyPlacement(change.to).str(),
                            RewriteClass::ChangesFunction,
                            {}};
  }

  LogicalResult prepare() override {
    if (handsOutNormalized(change.from) != handsOutNormalized(change.to) && failed(refuseReaders(stack, change)))
      return failure();
    if (failed(refuseSharedEnd(stack)))
      return failure();
    return stack.finalNorm && !to.wantsFinalNorm ? checkDroppedNorm() : success();
  }

  FailureOr<ConvertedStack> apply() override {
    // A new final norm is like the last sub-layer's norm, which may have gone when its turn comes.
    NormParts last = getBlockNorms(stack.blocks.back()).front();
    for (size_t index = 0; index < stack.blocks.size(); ++index)
      if (failed(convertBlock(index)))
        return failure();
    if (!to.wantsFinalNorm)
      dropFinalNorm();
    else if (failed(provideFinalNorm(last)))
      return failure();
    return std::move(converted);
  }

private:
  LogicalResult convertBlock(size_t index);
  LogicalResult provideFinalNorm(const NormParts &like);
  LogicalResult checkDroppedNorm();
  void dropFinalNorm();

  void record(const NormParts &norm, ParameterAction action, StringRef before, StringRef after) {
    recordNorm(converted.conversion, norm, action, before, after);
  }

  func::FuncOp function;
  const Stack &stack;
  PlacementChange change;
  const PlacementRule &from, &to;
  SmallVector<std::optional<size_t>> sources;
  ConvertedStack converted;
};
} // namespace

LogicalResult KeepNorms::convertBlock(size_t index) {
  BlockOp block = stack.blocks[index];
  SmallVector<NormParts> before = getBlockNorms(block), after;
  for (auto [position, source] : llvm::enumerate(sources)) {
    std::string name = getNormName(index, change.to, position);
    if (source) {
      after.push_back(before[*source]);
      record(after.back(), ParameterAction::Move, getNormName(index, change.from, *source), name);
      continue;
    }
    std::string argument = name;
    std::replace(argument.begin(), argument.end(), ' ', '_');
    FailureOr<NormParts> added = addNormLike(function, before.front(), block, argument);
    if (failed(added))
      return failure();
    after.push_back(*added);
    record(after.back(), ParameterAction::New, "", name);
  }
  for (auto [source, norm] : llvm::enumerate(before))
    if (!llvm::is_contained(sources, std::optional<size_t>(source)))
      record(norm, ParameterAction::Drop, getNormName(index, change.from, source), "");
  setNorms(block, change.to, after);
  return success();
}

LogicalResult KeepNorms::provideFinalNorm(const NormParts &like) {
  if (stack.finalNorm) {
    record(*getNormParts(stack.finalNorm), ParameterAction::Move, kFinalNorm, kFinalNorm);
    converted.summary = "the final norm stays";
    return success();
  }
  if (change.finalNorm == FinalNormSource::Identity || goesOn(stack)) {
    converted.summary = "there is no final norm";
    return success();
  }
  BlockOp last = stack.blocks.back();
  if (stack.isOnStreams() && !stack.head)
    return last.emitError() << "not converted: expected one resid.read of the streams after the last sub-layer, after "
                               "which the new final norm would stand, but got none; final-norm=identity adds no norm";
  Value end = stack.getEnd();
  Operation *place = end.getDefiningOp()->getNextNode();
  FailureOr<NormParts> added = addNormLike(function, like, place, "final_norm");
  if (failed(added))
    return failure();
  normalizeForReaders(end, *added, place, last.getLoc());
  record(*added, ParameterAction::New, "", kFinalNorm);
  converted.summary = "the final norm is new";
  return success();
}

LogicalResult KeepNorms::checkDroppedNorm() {
  Operation *norm = stack.finalNorm;
  if (isPlainNorm(norm))
    return success();
  return norm->emitError()
         << "not converted: expected a final norm that keeps the type and whose statistics nobody reads, "
            "since placement "
         << stringifyPlacement(change.to) << " drops it, but got " << norm->getName() << " of type "
         << norm->getResult(0).getType();
}

void KeepNorms::dropFinalNorm() {
  Operation *norm = stack.finalNorm;
  if (!norm) {
    converted.summary = "there was no final norm to drop";
    return;
  }
  norm->emitRemark() << "dropped the final norm (changes the function): placement " << stringifyPlacement(change.to)
                     << " has no final norm";
  record(*getNormParts(norm), ParameterAction::Drop, kFinalNorm, "");
  norm->getResult(0).replaceAllUsesWith(stack.getEnd());
  norm->erase();
  converted.summary = "the final norm is dropped";
}

std::unique_ptr<StackConversion> resid::createKeepNorms(func::FuncOp function, const Stack &stack,
                                                        const PlacementChange &change) {
  return std::make_unique<KeepNorms>(function, stack, change);
}
