// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/NormSites.h"

using namespace mlir;
using namespace mlir::resid;

SmallVector<NormSite> resid::collectNormSites(Operation *root) {
  SmallVector<NormSite> sites;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto block = dyn_cast<BlockOp>(op)) {
      for (auto [index, parts] : llvm::enumerate(getBlockNorms(block)))
        sites.push_back({op, index, parts});
    } else if (std::optional<NormParts> parts = getNormParts(op)) {
      sites.push_back({op, 0, *parts});
    }
  });
  return sites;
}

std::optional<NormSite> resid::getNormSiteAt(BlockOp block, NormPosition position) {
  ArrayRef<NormPosition> positions = getPlacementRule(block.getPlacement()).positions;
  const NormPosition *found = llvm::find(positions, position);
  if (found == positions.end())
    return std::nullopt;
  size_t index = found - positions.begin();
  return NormSite{block, index, getBlockNorms(block)[index]};
}

std::optional<NormSite> resid::getNormSiteOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto block = dyn_cast<BlockOp>(op))
    return &use == &block.getXMutable() ? getNormSiteAt(block, NormPosition::BeforeSubLayer) : std::nullopt;
  std::optional<NormParts> parts = getNormParts(op);
  if (!parts || use.getOperandNumber() != 0)
    return std::nullopt;
  return NormSite{op, 0, *parts};
}

void resid::replaceNorm(NormSite &site, const NormParts &parts) {
  bool isSameKind = site.parts.kind == parts.kind;
  site.parts = parts;
  if (auto block = dyn_cast<BlockOp>(site.op)) {
    SmallVector<NormParts> norms = getBlockNorms(block);
    norms[site.index] = parts;
    setNorms(block, block.getPlacement(), norms);
    return;
  }
  OpBuilder builder(site.op);
  auto statistics = isSameKind ? TypeRange(site.op->getResultTypes()).drop_front() : TypeRange();
  Operation *other = createNorm(builder, site.op->getLoc(), parts, site.op->getOperand(0),
                                site.op->getResult(0).getType(), statistics);
  other->setDiscardableAttrs(site.op->getDiscardableAttrDictionary());
  for (auto [old, now] : llvm::zip(site.op->getResults(), other->getResults()))
    old.replaceAllUsesWith(now);
  site.op->erase();
  site.op = other;
}
