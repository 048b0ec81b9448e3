// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/NormParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;

/// A branch that took the narrower result of a norm takes the stream, or a row of several, and narrows it itself.
static void widenBranchInput(BlockOp block) {
  BlockArgument input = block.getBranch().getArgument(0);
  Type narrow = input.getType(), wide = block.getRowType();
  if (narrow == wide)
    return;
  input.setType(wide);
  OpBuilder builder = OpBuilder::atBlockBegin(input.getOwner());
  auto truncated = arith::TruncFOp::create(builder, block.getLoc(), narrow, input);
  input.replaceAllUsesExcept(truncated, truncated);
}

void resid::setNorms(BlockOp block, Placement placement, ArrayRef<NormParts> norms) {
  ArrayRef<NormPosition> positions = getPlacementRule(placement).positions;
  assert(norms.size() == positions.size() && "a norm for each position of the placement");
  SmallVector<Attribute> attributes;
  SmallVector<Value> parameters;
  bool narrowAffine = false;
  for (const NormParts &norm : norms) {
    attributes.push_back(getNormAttr(block.getContext(), norm));
    parameters.append(norm.getParameters());
    narrowAffine |= norm.narrowAffine;
  }
  assert(
      (!narrowAffine || llvm::all_of(norms, [](const NormParts &norm) { return norm.narrowAffine || !norm.gamma; })) &&
      "narrow_affine holds for every norm of a block");
  block.setPlacement(placement);
  block.setNormsAttr(ArrayAttr::get(block.getContext(), attributes));
  block.getNormParametersMutable().assign(parameters);
  block.setNarrowAffine(narrowAffine);
  if (!llvm::is_contained(positions, NormPosition::BeforeBranch))
    widenBranchInput(block);
}
