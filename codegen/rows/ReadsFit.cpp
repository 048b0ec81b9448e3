// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/ReadsFit.h"

#include "codegen/rows/ColumnMoves.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

namespace {
class ReadsFit {
public:
  explicit ReadsFit(const RowGroup &group) : group(group), fit(group.space.columns <= group.space.getRank()) {}

  bool check() {
    for (Operation *member : group.members)
      checkReads(member, group.getDomain(member));
    return fit;
  }

private:
  void checkReads(Operation *member, AffineMap domain) {
    for (const Access &read : getReads(member))
      visitLeaves({read.tensor, read.map.compose(domain)}, [&](const Access &leaf) { checkLeaf(leaf); });
  }
  void checkLeaf(const Access &leaf);
  AffineMap getNatural(Operation *producer) const;

  const RowGroup &group;
  bool fit;
  DenseSet<std::pair<Operation *, AffineMap>> moved;
};
} // namespace

/// Where a member's values are made; null of what is read from memory.
AffineMap ReadsFit::getNatural(Operation *producer) const {
  if (isa_and_present<RandomHalvesOp>(producer))
    return group.space.getIdentity(producer->getContext());
  if (isa_and_present<ColumnNumbersOp>(producer))
    return group.space.getColumns(producer->getContext());
  if (!producer || !llvm::is_contained(group.members, producer))
    return {};
  return isStatistics(producer) ? group.space.getRows(producer->getContext()) : group.getDomain(producer);
}

/// A value that is wanted at another column is computed there too, where that is cheap.
void ReadsFit::checkLeaf(const Access &leaf) {
  Operation *producer = leaf.tensor.getDefiningOp();
  AffineMap natural = getNatural(producer);
  fit &= group.space.fits(leaf.map);
  if (!fit || !natural || leaf.map == natural)
    return;
  fit = undoMove(leaf.map) == natural && isElementwise(producer) && !isExpensive(producer);
  if (fit && moved.insert({producer, leaf.map}).second)
    checkReads(producer, leaf.map);
}

bool rows::readsFit(const RowGroup &group) { return ReadsFit(group).check(); }
