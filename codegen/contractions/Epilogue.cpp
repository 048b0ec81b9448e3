// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds and emits the elementwise ops after a product.

#include "codegen/contractions/Epilogue.h"

#include "codegen/rows/RowAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

/// Whether the body computes its only result from its inputs and scalars from above, and is nothing but arithmetic.
static bool isElementwise(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops() || op.getNumDpsInits() != 1 ||
      !op.getBlock()->getArguments().back().use_empty() || !op.hasOnlyProjectedPermutations())
    return false;
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return isa_and_present<arith::ArithDialect, math::MathDialect>(inner.getDialect()) && inner.getNumRegions() == 0 &&
           isMemoryEffectFree(&inner) && inner.getNumResults() == 1 && inner.getResult(0).getType().isIntOrFloat();
  });
}

/// Whether the elements of a tensor are in memory, or will be. What a row kernel draws or sums is in none where it
/// stays inside of the kernel.
static bool isInMemory(Value tensor) {
  return !rows::isStatistics(tensor.getDefiningOp()) && !rows::isGenerated(tensor.getDefiningOp());
}

/// Adds `op`, which alone reads `value`, if it may join.
bool Epilogue::take(linalg::LinalgOp op, Value value) {
  AffineMap valueMap;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get() != value)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isPermutation() || (valueMap && valueMap != map))
      return false;
    valueMap = map;
  }
  if (!valueMap || op.getDpsInitOperand(0)->get() == value)
    return false;
  AffineMap loops = inversePermutation(valueMap).compose(resultMap);
  SmallVector<EpilogueInput> taken = inputs;
  SmallVector<unsigned> opSources;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get() == value) {
      opSources.push_back(0);
      continue;
    }
    bool isArray = isa<RankedTensorType>(input->get().getType());
    if (!isArray || !isInMemory(input->get()) || !getElementTypeOrSelf(input->get().getType()).isIntOrFloat())
      return false;
    AffineMap map = op.getMatchingIndexingMap(input).compose(loops);
    auto known = llvm::find_if(
        taken, [&](const EpilogueInput &other) { return other.tensor == input->get() && other.map == map; });
    opSources.push_back(1 + (known - taken.begin()));
    if (known == taken.end())
      taken.push_back({input->get(), map});
  }
  inputs = std::move(taken);
  sources.push_back(std::move(opSources));
  resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0)).compose(loops);
  ops.push_back(op);
  return true;
}

Epilogue Epilogue::find(Value product) {
  auto type = cast<RankedTensorType>(product.getType());
  Epilogue chain, best;
  chain.resultMap = AffineMap::getMultiDimIdentityMap(type.getRank(), product.getContext());
  best = chain;
  Value value = product;
  while (!value.use_empty() && llvm::all_equal(value.getUsers())) {
    auto op = dyn_cast<linalg::LinalgOp>(*value.user_begin());
    if (!op || op->getBlock() != product.getDefiningOp()->getBlock() || !isElementwise(op) || !chain.take(op, value))
      break;
    value = op->getResult(0);
    Type element = getElementTypeOrSelf(value.getType());
    if (element.getIntOrFloatBitWidth() <= type.getElementTypeBitWidth())
      best = chain;
  }
  return best;
}

Value Epilogue::emit(OpBuilder &builder, ValueRange elements) const {
  Value current = elements.front();
  for (auto [taken, opSources] : llvm::zip_equal(ops, sources)) {
    linalg::LinalgOp op = taken;
    IRMapping mapping;
    for (auto [argument, source] : llvm::zip(op.getRegionInputArgs(), opSources))
      mapping.map(argument, source == 0 ? current : elements[source]);
    for (Operation &inner : op.getBlock()->without_terminator())
      builder.clone(inner, mapping);
    current = mapping.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(0));
  }
  return current;
}
