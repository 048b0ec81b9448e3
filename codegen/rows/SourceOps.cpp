// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names in locations: a fused location with the name as its metadata.

#include "codegen/rows/SourceOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

using NamedLoc = FusedLocWith<StringAttr>;

namespace {
/// A named op with the place in the file, in a form that can be sorted.
struct Found {
  rows::SourceOp op;
  unsigned line = 0, column = 0;
};
} // namespace

static FileLineColLoc findPlace(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return findPlace(call.getCallee());
  return location->findInstanceOf<FileLineColLoc>();
}

static void collect(Location location, SmallVectorImpl<Found> &found) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return collect(call.getCallee(), found);
  if (auto named = dyn_cast<NamedLoc>(location)) {
    SmallVector<Found> inner;
    for (Location part : named.getLocations())
      collect(part, inner);
    std::string name = named.getMetadata().str();
    if (!inner.empty())
      name += " of " + inner.front().op.name;
    Found entry{{name, ""}};
    if (FileLineColLoc place = findPlace(location)) {
      entry.line = place.getLine();
      entry.column = place.getColumn();
      entry.op.place = std::to_string(entry.line) + ":" + std::to_string(entry.column);
    }
    found.push_back(entry);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collect(part, found);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    collect(name.getChildLoc(), found);
  }
}

SmallVector<rows::SourceOp> rows::getSourceOps(Location location) {
  SmallVector<Found> found;
  collect(location, found);
  std::stable_sort(found.begin(), found.end(), [](const Found &a, const Found &b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  SmallVector<SourceOp> ops;
  for (const Found &entry : found)
    if (!llvm::is_contained(ops, entry.op))
      ops.push_back(entry.op);
  return ops;
}

void rows::nameSourceOps(Operation *root) {
  root->walk([](Operation *op) {
    bool hasTensor = llvm::any_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    if (!hasTensor || matchPattern(op, m_Constant()) || op->getName().getStringRef() == "tensor.empty")
      return;
    Location location = op->getLoc();
    auto fused = dyn_cast<FusedLoc>(location);
    if (fused && !isa<NamedLoc>(location) && !getSourceOps(location).empty())
      return;
    StringAttr name = op->getName().getIdentifier();
    auto named = dyn_cast<NamedLoc>(location);
    if (!named || named.getMetadata() != name)
      op->setLoc(FusedLoc::get(op->getContext(), {location}, name));
  });
}
