// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/placement/NormConversion.h"
#include "passes/placement/NormParameters.h"

using namespace mlir;
using namespace mlir::resid;

/// The norms of a straight line of sub-layers, in its order, null where there is none.
using NormLine = SmallVector<std::optional<NormParts>>;

/// The only position of a placement that has one norm.
static std::optional<NormPosition> getOnlyPosition(Placement placement) {
  ArrayRef<NormPosition> positions = getPlacementRule(placement).positions;
  return positions.size() == 1 ? std::optional(positions.front()) : std::nullopt;
}

static bool isBehindAdd(Placement placement) { return getOnlyPosition(placement) == NormPosition::AfterAdd; }

static bool isBeforeBranch(Placement placement) {
  std::optional<NormPosition> position = getOnlyPosition(placement);
  return position == NormPosition::BeforeSubLayer || position == NormPosition::BeforeBranch;
}

bool resid::canShiftNorms(Placement from, Placement to) {
  return (isBehindAdd(from) && isBeforeBranch(to)) || (isBeforeBranch(from) && isBehindAdd(to));
}

/// A norm after the add and one that makes the next sub-layer's whole stream are the same computation.
RewriteClass resid::getShiftClass(Placement from, Placement to) {
  std::optional<NormPosition> before = getOnlyPosition(isBehindAdd(from) ? to : from);
  return before == NormPosition::BeforeSubLayer ? RewriteClass::BitExact : RewriteClass::ChangesFunction;
}

namespace {
/// One conversion of one stack.
class ShiftNorms final : public StackConversion {
public:
  ShiftNorms(func::FuncOp function, const Stack &stack, const PlacementChange &change)
      : stack(stack), change(change), rewriteClass(getShiftClass(change.from, change.to)) {
    converted.conversion = {function.getSymName().str(),
                            stringifyPlacement(change.from).str(),
                            stringifyPlacement(change.to).str(),
                            rewriteClass,
                            {}};
  }

  LogicalResult prepare() override {
    if (!stack.loops.empty())
      return stack.loops.front()->emitError()
             << "not converted: expected sub-layers in a straight line for params=shift, but got a loop, whose norms "
                "would shift from one iteration to the next; params=keep converts loops";
    if (rewriteClass != RewriteClass::BitExact && failed(refuseReaders(stack, change)))
      return failure();
    if (isForward())
      readNormalized();
    else if (failed(checkFinalNorm()) || failed(readNextNorms()))
      return failure();
    return success();
  }

  FailureOr<ConvertedStack> apply() override {
    if (isForward())
      shiftForward();
    else if (failed(shiftBack()))
      return failure();
    return std::move(converted);
  }

private:
  bool isForward() const { return isBehindAdd(change.from); }
  /// Whether the final norm can become the last sub-layer's with the same roundings.
  bool takesFinalNorm() const { return stack.finalNorm && isPlainNorm(stack.finalNorm); }
  NormLine getNorms() const;
  void placeNorms(const NormLine &line);

  void readNormalized();
  void shiftForward();

  LogicalResult checkFinalNorm();
  bool isNextNorm(OpOperand &tap) const;
  LogicalResult readNextNorms();
  LogicalResult shiftBack();

  void record(const std::optional<NormParts> &norm, StringRef before, StringRef after) {
    if (norm)
      recordNorm(converted.conversion, *norm, ParameterAction::Move, before, after);
  }

  const Stack &stack;
  PlacementChange change;
  RewriteClass rewriteClass;
  ConvertedStack converted;
};
} // namespace

NormLine ShiftNorms::getNorms() const {
  NormLine line;
  for (BlockOp block : stack.blocks) {
    SmallVector<NormParts> norms = getBlockNorms(block);
    line.push_back(norms.empty() ? std::nullopt : std::optional(norms.front()));
  }
  return line;
}

/// Gives every sub-layer its norm of `line`, or the placement `none`.
void ShiftNorms::placeNorms(const NormLine &line) {
  for (auto [block, norm] : llvm::zip_equal(stack.blocks, line))
    if (norm)
      setNorms(block, change.to, *norm);
    else
      setNorms(block, Placement::None, {});
}

//===----------------------------------------------------------------------===//
// From after the add to the next sub-layer
//===----------------------------------------------------------------------===//

/// Who reads the stream between the sub-layers goes on reading it normalised.
void ShiftNorms::readNormalized() {
  llvm::DenseMap<Operation *, Value> normalized;
  for (OpOperand *tap : stack.taps) {
    auto block = cast<BlockOp>(tap->get().getDefiningOp());
    Value &value = normalized[block];
    if (!value) {
      OpBuilder builder(block->getNextNode());
      NormParts norm = getBlockNorms(block).front();
      value = createNorm(builder, block.getLoc(), norm, block.getResult(), block.getX().getType())->getResult(0);
    }
    tap->set(value);
  }
}

void ShiftNorms::shiftForward() {
  NormLine line = getNorms();
  std::optional<NormParts> last = line.pop_back_val(), first;
  if (stack.entryNorm)
    first = getNormParts(stack.entryNorm);
  record(first, kEntryNorm, getNormName(0, change.to));
  for (auto [index, norm] : llvm::enumerate(line))
    record(norm, getNormName(index, change.from), getNormName(index + 1, change.to));
  record(last, getNormName(line.size(), change.from), kFinalNorm);
  line.insert(line.begin(), first);
  placeNorms(line);
  if (first) {
    stack.entryNorm->getResult(0).replaceAllUsesWith(first->x);
    stack.entryNorm->erase();
  }
  BlockOp lastBlock = stack.blocks.back();
  if (last)
    normalizeForReaders(stack.exit, *last, lastBlock->getNextNode(), lastBlock.getLoc());
  converted.summary = std::string("norms moved to the next sub-layer; the first one has ") +
                      (first ? "the entry norm" : "none") + (last ? ", the last one is the final norm" : "");
}

//===----------------------------------------------------------------------===//
// Back to the sub-layer before
//===----------------------------------------------------------------------===//

LogicalResult ShiftNorms::checkFinalNorm() {
  if (failed(refuseSharedEnd(stack)))
    return failure();
  if (takesFinalNorm() || rewriteClass == RewriteClass::BitExact)
    return success();
  if (!stack.finalNorm) {
    BlockOp last = stack.blocks.back();
    return last.emitError() << "not converted: expected a final norm after the last sub-layer, whose norm it would "
                               "become, but got none";
  }
  return stack.finalNorm->emitError()
         << "not converted: expected a final norm that keeps the type and whose statistics "
            "nobody reads, which would become the last sub-layer's, but got "
         << stack.finalNorm->getName();
}

/// Whether `tap` reads the stream through the norm of the next sub-layer, so that it can read the stream instead.
bool ShiftNorms::isNextNorm(OpOperand &tap) const {
  BlockOp next = *std::next(llvm::find(stack.blocks, cast<BlockOp>(tap.get().getDefiningOp())));
  std::optional<NormParts> parts = getNormParts(tap.getOwner());
  return parts && tap.getOperandNumber() == 0 && isPlainNorm(tap.getOwner()) &&
         parts->isSameNorm(getBlockNorms(next).front());
}

/// The stream between the sub-layers will be normalised: who normalised it reads it as it is, and nobody else may.
LogicalResult ShiftNorms::readNextNorms() {
  for (OpOperand *tap : stack.taps) {
    if (isNextNorm(*tap))
      continue;
    InFlightDiagnostic error = tap->getOwner()->emitError()
                               << "not converted: expected readers of the stream between sub-layers to read it through "
                                  "the norm of the next one, since it is normalised in placement "
                               << stringifyPlacement(change.to) << ", but got " << tap->getOwner()->getName();
    error.attachNote(tap->get().getLoc()) << "it reads the stream after this";
    return error;
  }
  for (OpOperand *tap : stack.taps) {
    Operation *norm = tap->getOwner();
    norm->getResult(0).replaceAllUsesWith(tap->get());
    norm->erase();
  }
  return success();
}

LogicalResult ShiftNorms::shiftBack() {
  NormLine line = getNorms();
  std::optional<NormParts> first = line.front(), last;
  record(first, getNormName(0, change.from), kEntryNorm);
  for (size_t index = 1; index < line.size(); ++index) {
    if (line[index] && failed(defineParametersBefore(*line[index], stack.blocks[index - 1], stack.blocks[index])))
      return failure();
    record(line[index], getNormName(index, change.from), getNormName(index - 1, change.to));
  }
  if (takesFinalNorm()) {
    last = getNormParts(stack.finalNorm);
    if (failed(defineParametersBefore(*last, stack.blocks.back(), stack.finalNorm)))
      return failure();
    stack.finalNorm->getResult(0).replaceAllUsesWith(stack.exit);
    stack.finalNorm->erase();
    record(last, kFinalNorm, getNormName(line.size() - 1, change.to));
  }
  line.erase(line.begin());
  line.push_back(last);
  placeNorms(line);
  if (first) {
    BlockOp block = stack.blocks.front();
    OpBuilder builder(block);
    Value stream = block.getX();
    block.getXMutable().assign(createNorm(builder, block.getLoc(), *first, stream, stream.getType())->getResult(0));
  }
  converted.summary = std::string(first ? "the first norm stands before the stack; " : "") +
                      "norms moved to the sub-layer before; the last one has " + (last ? "the final norm" : "none");
  return success();
}

std::unique_ptr<StackConversion> resid::createShiftNorms(func::FuncOp function, const Stack &stack,
                                                         const PlacementChange &change) {
  return std::make_unique<ShiftNorms>(function, stack, change);
}
