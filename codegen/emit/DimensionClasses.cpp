// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Union-find over the dimensions of tensors.

#include "codegen/emit/DimensionClasses.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid::emit;

static int64_t rankOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getRank() : -1;
}

DimensionClasses::DimensionClasses(func::FuncOp function) {
  function.walk([&](Operation *op) { visit(op); });
}

bool DimensionClasses::areEqual(Value a, int64_t dimensionOfA, Value b, int64_t dimensionOfB) {
  return find(nodeOf({a, dimensionOfA})) == find(nodeOf({b, dimensionOfB}));
}

std::optional<int64_t> DimensionClasses::getStaticSize(Value value, int64_t dimension) {
  int64_t size = sizes[find(nodeOf({value, dimension}))];
  return size < 0 ? std::nullopt : std::optional(size);
}

unsigned DimensionClasses::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

unsigned DimensionClasses::nodeOf(Dimension dimension) {
  auto [entry, isNew] = nodes.try_emplace(dimension, parents.size());
  if (isNew) {
    auto tensor = cast<RankedTensorType>(dimension.first.getType());
    parents.push_back(entry->second);
    sizes.push_back(tensor.isDynamicDim(dimension.second) ? -1 : tensor.getDimSize(dimension.second));
  }
  return entry->second;
}

void DimensionClasses::unite(Dimension a, Dimension b) {
  unsigned rootOfA = find(nodeOf(a)), rootOfB = find(nodeOf(b));
  if (rootOfA == rootOfB)
    return;
  parents[rootOfB] = rootOfA;
  sizes[rootOfA] = std::max(sizes[rootOfA], sizes[rootOfB]);
}

void DimensionClasses::uniteShapes(Value a, Value b) {
  if (rankOf(a) == rankOf(b))
    uniteAligned(a, b, 0);
}

void DimensionClasses::uniteAligned(Value value, Value reference, int64_t offset, bool broadcastsOnes) {
  for (int64_t dimension = 0, rank = rankOf(value); dimension < rank; ++dimension)
    if (!broadcastsOnes || cast<RankedTensorType>(value.getType()).getDimSize(dimension) != 1)
      unite({value, dimension}, {reference, dimension + offset});
}

void DimensionClasses::uniteWithSize(Dimension dimension, OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size)) {
    unsigned root = find(nodeOf(dimension));
    sizes[root] = std::max(sizes[root], *constant);
    return;
  }
  auto dim = cast<Value>(size).getDefiningOp<tensor::DimOp>();
  if (!dim || rankOf(dim.getSource()) < 0)
    return;
  std::optional<int64_t> index = dim.getConstantIndex();
  if (index && *index >= 0 && *index < rankOf(dim.getSource()))
    unite(dimension, {dim.getSource(), *index});
}

//===------------------------------------------- what each operation says -----------------------------------------===//

/// The operands of the dialect's ops are aligned with the stream's last axes, statistics with its first.
void DimensionClasses::visitResidOp(Operation *op) {
  Value stream = op->getOperand(0);
  int64_t rank = rankOf(stream);
  Value gate;
  if (auto add = dyn_cast<AddOp>(op))
    gate = add.getGate();
  else if (auto addNorm = dyn_cast<AddNormOp>(op))
    gate = addNorm.getGate();
  for (Value operand : op->getOperands().drop_front())
    if (rankOf(operand) >= 0 && rankOf(operand) <= rank)
      uniteAligned(operand, stream, rank - rankOf(operand), /*broadcastsOnes=*/operand == gate);
  for (Value result : op->getResults())
    if (rankOf(result) >= 0 && rankOf(result) <= rank)
      uniteAligned(result, stream, 0);
}

void DimensionClasses::visitDynamicSizes(Value tensor, ValueRange sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension))
      continue;
    uniteWithSize({tensor, dimension}, sizes.front());
    sizes = sizes.drop_front();
  }
}

/// What enters a loop or a branch, what is carried along and what leaves it have one shape each.
void DimensionClasses::visitLoop(Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    auto yielded = loop.getYieldedValues();
    auto results = loop.getLoopResults();
    for (auto [index, init] : llvm::enumerate(loop.getInits())) {
      uniteShapes(init, loop.getRegionIterArgs()[index]);
      if (index < yielded.size())
        uniteShapes(yielded[index], init);
      if (results && index < results->size())
        uniteShapes((*results)[index], init);
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    for (Region *region : branch.getRegions())
      if (!region->empty())
        for (auto [result, value] :
             llvm::zip_equal(branch.getResults(), region->front().getTerminator()->getOperands()))
          uniteShapes(result, value);
}

void DimensionClasses::visitReshape(Value expanded, Value collapsed, ArrayRef<SmallVector<int64_t, 2>> groups) {
  auto type = cast<RankedTensorType>(expanded.getType());
  for (auto [index, group] : llvm::enumerate(groups)) {
    // Only one dimension of a group differs from 1: it is the collapsed one.
    auto wide = llvm::make_filter_range(group, [&](int64_t dimension) { return type.getDimSize(dimension) != 1; });
    if (llvm::hasSingleElement(wide))
      unite({expanded, *wide.begin()}, {collapsed, int64_t(index)});
  }
}

void DimensionClasses::visit(Operation *op) {
  if (isa_and_nonnull<ResidDialect>(op->getDialect())) {
    if (op->getNumOperands() > 0 && rankOf(op->getOperand(0)) >= 0)
      visitResidOp(op);
    return;
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    llvm::DenseMap<unsigned, Dimension> loops;
    for (OpOperand &operand : op->getOpOperands()) {
      if (rankOf(operand.get()) < 0)
        continue;
      AffineMap map = structured.getMatchingIndexingMap(&operand);
      for (auto [dimension, expression] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expression)) {
          Dimension current{operand.get(), int64_t(dimension)};
          unite(loops.try_emplace(loop.getPosition(), current).first->second, current);
        }
    }
  }
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      if (rankOf(result) >= 0)
        uniteShapes(result, destination.getTiedOpOperand(result)->get());
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    Value reference;
    for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
      if (rankOf(value) >= 0)
        uniteShapes(value, reference ? reference : reference = value);
  }
  if (isa<LoopLikeOpInterface, scf::IfOp>(op))
    visitLoop(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<tensor::CastOp>([&](auto cast) {
        if (rankOf(cast.getSource()) >= 0 && rankOf(cast.getResult()) >= 0)
          uniteShapes(cast.getSource(), cast.getResult());
      })
      .Case<tensor::EmptyOp>([&](auto empty) { visitDynamicSizes(empty, empty.getDynamicSizes()); })
      .Case<tensor::GenerateOp>([&](auto generate) { visitDynamicSizes(generate, generate.getDynamicExtents()); })
      .Case<tensor::SplatOp>([&](auto splat) { visitDynamicSizes(splat, splat.getDynamicSizes()); })
      .Case<tensor::InsertSliceOp>([&](auto insert) { uniteShapes(insert.getResult(), insert.getDest()); })
      .Case<tensor::ExtractSliceOp>([&](auto extract) {
        if (rankOf(extract.getResult()) != extract.getSourceType().getRank())
          return;
        for (auto [dimension, size] : llvm::enumerate(extract.getMixedSizes()))
          uniteWithSize({extract.getResult(), int64_t(dimension)}, size);
      })
      .Case<tensor::CollapseShapeOp>([&](auto collapse) {
        visitReshape(collapse.getSrc(), collapse.getResult(), collapse.getReassociationIndices());
      })
      .Case<tensor::ExpandShapeOp>([&](auto expand) {
        visitReshape(expand.getResult(), expand.getSrc(), expand.getReassociationIndices());
        for (auto [dimension, size] : llvm::enumerate(expand.getMixedOutputShape()))
          uniteWithSize({expand.getResult(), int64_t(dimension)}, size);
      });
}
