// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-convert-norm-placement: which stacks there are, from which placement and in which way each of them is
// converted. The conversions themselves are in KeepNorms.cpp and ShiftNorms.cpp.

#include "dialect/Placement.h"
#include "dialect/Spelling.h"
#include "passes/Passes.h"
#include "passes/placement/NormConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>

namespace mlir::resid {
#define GEN_PASS_DEF_CONVERTNORMPLACEMENT
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The placement of a stack is that of its first sub-layer with a norm. A single sub-layer without one may be all that
/// shifting left of a stack, its norm standing before or after it.
static Placement getSourcePlacement(const Stack &stack, Placement to, bool mayShift) {
  for (BlockOp block : stack.blocks)
    if (block.getPlacement() != Placement::None)
      return block.getPlacement();
  bool isLeft = mayShift && stack.blocks.size() == 1;
  if (isLeft && to == Placement::Post && stack.finalNorm)
    return Placement::PostShifted;
  if (isLeft && to == Placement::PostShifted && stack.entryNorm)
    return Placement::Post;
  return Placement::None;
}

/// Whether shifting may have left the sub-layer `index` without a norm, in a stack of the placement `from`.
static bool mayLackNorm(const Stack &stack, size_t index, Placement from, bool isBitExact) {
  bool isBehindAdd = llvm::is_contained(getPlacementRule(from).positions, NormPosition::AfterAdd);
  return isBehindAdd ? isBitExact && index + 1 == stack.blocks.size() : index == 0;
}

/// All sub-layers of a stack have one placement, but for those that shifting leaves without a norm.
static LogicalResult verifyPlacements(const Stack &stack, Placement from, bool shifts, bool isBitExact) {
  const BlockOp *other = llvm::find_if(stack.blocks, [&](BlockOp block) { return block.getPlacement() == from; });
  for (size_t index = 0; index < stack.blocks.size(); ++index) {
    BlockOp block = stack.blocks[index];
    bool isEmpty = block.getPlacement() == Placement::None && shifts && mayLackNorm(stack, index, from, isBitExact);
    if (block.getPlacement() == from || isEmpty)
      continue;
    InFlightDiagnostic error = block.emitError()
                               << "not converted: expected placement " << stringifyPlacement(from)
                               << " as elsewhere in its stack, but got " << stringifyPlacement(block.getPlacement());
    error.attachNote((*other)->getLoc()) << "a sub-layer of the same stack is here";
    return error;
  }
  return success();
}

/// A stack inside of scf.if, say, on a stream from outside may be one part of a longer one, on some paths only: where
/// its final norm belongs, a conversion cannot tell. In a branch, or in a loop that does not carry it, it is a stream
/// of its own.
static LogicalResult refuseOtherRegions(const Stack &stack) {
  BlockOp first = stack.blocks.front();
  Operation *begin = first;
  if (!stack.loops.empty() && stack.loops.front()->isAncestor(first))
    begin = stack.loops.front();
  Value entry = stack.entry;
  Operation *parent = begin->getParentOp();
  if (entry.getParentRegion() == begin->getParentRegion() || isa<BlockOp, scf::ForOp>(parent))
    return success();
  return begin->emitError()
         << "not converted: expected sub-layers in the region of their stream, but got them inside of "
         << parent->getName() << ", while their stream comes from outside";
}

namespace {
struct ConvertNormPlacement : resid::impl::ConvertNormPlacementBase<ConvertNormPlacement> {
  using ConvertNormPlacementBase::ConvertNormPlacementBase;

  /// A placement that is none is a wrong flag, which is said before any program is read.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(Pass::initializeOptions(options, errorHandler)))
      return failure();
    return symbolizePlacement(to) ? success() : errorHandler(describeWrongTarget());
  }

  void runOnOperation() override;

  std::string describeWrongTarget() const {
    ArrayRef<StringRef> names = getPlacementNames();
    return "expected to=" + llvm::join(names.drop_back(), ", ") + " or " + names.back().str() + ", but got '" + to +
           "'" + suggestNearest(to, {names, {}, {}});
  }

  /// The conversion of `stack`; null if it has the target's placement already.
  FailureOr<std::unique_ptr<StackConversion>> plan(func::FuncOp function, const Stack &stack, Placement to);
};
} // namespace

FailureOr<std::unique_ptr<StackConversion>> ConvertNormPlacement::plan(func::FuncOp function, const Stack &stack,
                                                                       Placement to) {
  Placement from = getSourcePlacement(stack, to, params != NormMapping::Keep);
  bool canShift = canShiftNorms(from, to);
  bool isBitExact = canShift && getShiftClass(from, to) == RewriteClass::BitExact;
  bool shifts = params == NormMapping::Shift || (params == NormMapping::Auto && isBitExact);
  bool isDone = from == to;
  if (failed(verifyPlacements(stack, from, shifts || isDone, isBitExact || isDone)))
    return failure();
  if (isDone)
    return std::unique_ptr<StackConversion>();
  if (failed(refuseOtherRegions(stack)))
    return failure();
  BlockOp first = stack.blocks.front();
  if (from == Placement::None)
    return first.emitError() << "not converted: expected sub-layers with a norm, whose kind the new ones take, but got "
                                "placement none";
  for (Placement placement : {from, to})
    if (stack.isOnStreams() && normalizesStream(placement))
      return first.emitError()
             << "not converted: expected placement " << listPlacementsOnStreams()
             << " of a stack on several streams, since a norm of each stream does not commute with the read, but got "
             << stringifyPlacement(placement);
  PlacementChange change{from, to, finalNorm};
  if (!shifts)
    return createKeepNorms(function, stack, change);
  if (!canShift)
    return first.emitError() << "not converted: expected params=keep from " << stringifyPlacement(from) << " to "
                             << stringifyPlacement(to) << " but got shift; norms shift between post and pre or "
                             << "post_shifted only";
  return createShiftNorms(function, stack, change);
}

void ConvertNormPlacement::runOnOperation() {
  ModuleOp module = getOperation();
  std::optional<Placement> target = symbolizePlacement(to);
  if (!target) {
    module.emitError() << describeWrongTarget();
    return signalPassFailure();
  }
  // The stacks outlive their conversions; a deque does not move them.
  std::deque<Stack> stacks;
  SmallVector<std::unique_ptr<StackConversion>> conversions;
  WalkResult planned = module.walk([&](func::FuncOp function) {
    for (Stack &found : findStacks(function)) {
      const Stack &stack = stacks.emplace_back(std::move(found));
      FailureOr<std::unique_ptr<StackConversion>> conversion = plan(function, stack, *target);
      if (failed(conversion) || (*conversion && failed((*conversion)->prepare())))
        return WalkResult::interrupt();
      conversions.push_back(std::move(*conversion));
    }
    return WalkResult::advance();
  });
  if (planned.wasInterrupted())
    return signalPassFailure();
  if (stacks.empty()) {
    module.emitError() << "not converted: expected a residual sub-layer (resid.block) but got none";
    return signalPassFailure();
  }
  for (auto [stack, conversion] : llvm::zip_equal(stacks, conversions)) {
    BlockOp first = stack.blocks.front();
    if (!conversion) {
      if (report)
        first.emitRemark() << "not converted: the placement is " << to << " already";
      continue;
    }
    FailureOr<ConvertedStack> converted = conversion->apply();
    if (failed(converted))
      return signalPassFailure();
    const Conversion &record = converted->conversion;
    recordConversion(module, record);
    if (report)
      first.emitRemark() << "converted " << record.from << " to " << record.to << " ("
                         << (record.rewriteClass == RewriteClass::BitExact ? "bit-exact" : "changes the function")
                         << "): " << converted->summary;
  }
}
