// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/placement/NormConversion.h"

#include "passes/placement/NormParameters.h"

using namespace mlir;
using namespace mlir::resid;

std::string resid::getNormName(size_t block, Placement placement, size_t position) {
  return "norm " + std::to_string(block * getPlacementRule(placement).positions.size() + position);
}

void resid::recordNorm(Conversion &conversion, const NormParts &norm, ParameterAction action, StringRef from,
                       StringRef to) {
  for (Value parameter : norm.getParameters())
    conversion.parameters.push_back({getParameterName(parameter), action, from.str(), to.str()});
}

/// The sub-layer or loop that goes on with the stream where the stack ends, or null.
static OpOperand *findContinuation(const Stack &stack) {
  Value end = stack.exit;
  for (OpOperand *reader : getReaders(end)) {
    auto block = dyn_cast<BlockOp>(reader->getOwner());
    bool isStream = isa<scf::ForOp>(reader->getOwner()) || (block && reader == &block.getXMutable());
    if (isStream && reader->getOwner()->getBlock() == end.getParentBlock())
      return reader;
  }
  return nullptr;
}

bool resid::goesOn(const Stack &stack) { return findContinuation(stack); }

LogicalResult resid::refuseReaders(const Stack &stack, const PlacementChange &change) {
  OpOperand *reader = stack.taps.empty() ? findContinuation(stack) : stack.taps.front();
  if (!reader)
    return success();
  InFlightDiagnostic error = reader->getOwner()->emitError()
                             << "not converted: expected no other reader of the stream between sub-layers, which has "
                                "another meaning in placement "
                             << stringifyPlacement(change.to) << " than in " << stringifyPlacement(change.from)
                             << ", but got " << reader->getOwner()->getName();
  error.attachNote(reader->get().getLoc()) << "it reads the stream after this";
  return error;
}

LogicalResult resid::refuseSharedEnd(const Stack &stack) {
  Value end = stack.getEnd();
  SmallVector<OpOperand *> readers = getReaders(end);
  const auto *norm = llvm::find_if(readers, [&](OpOperand *reader) {
    std::optional<NormParts> parts = getNormParts(reader->getOwner());
    return parts && parts->x == end && reader->getOwner()->getBlock() == end.getParentBlock();
  });
  if (readers.size() < 2 || norm == readers.end())
    return success();
  InFlightDiagnostic error =
      (*norm)->getOwner()->emitError()
      << "not converted: expected the final norm to be all that reads the end of the stream, but "
         "got "
      << readers.size() << " readers";
  OpOperand *other = *norm == readers.front() ? readers.back() : readers.front();
  error.attachNote(other->getOwner()->getLoc()) << "another reader is here";
  return error;
}

bool resid::isPlainNorm(Operation *norm) {
  return norm->getResult(0).getType() == getNormParts(norm)->x.getType() &&
         llvm::all_of(norm->getResults().drop_front(), [](Value statistic) { return statistic.use_empty(); });
}

void resid::normalizeForReaders(Value stream, const NormParts &norm, Operation *place, Location loc) {
  OpBuilder builder(place);
  Operation *normalized = createNorm(builder, loc, norm, stream, stream.getType());
  stream.replaceAllUsesExcept(normalized->getResult(0), normalized);
}
