// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets attention read and write its operands where programs have them.

#include "codegen/attention/Passes.h"
#include "codegen/contractions/OperandSource.h"

namespace mlir::resid::attention {
#define GEN_PASS_DEF_ABSORBHEADTRANSPOSES
#include "codegen/attention/Passes.h.inc"
} // namespace mlir::resid::attention

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;
using contraction::OperandSource;

/// The dimensions of `expanded` that a reshape adds, which are 1; nothing if it does more.
static std::optional<llvm::SmallBitVector> findAddedOnes(RankedTensorType expanded,
                                                         ArrayRef<ReassociationIndices> groups) {
  llvm::SmallBitVector added(expanded.getRank());
  for (const ReassociationIndices &group : groups) {
    size_t left = group.size();
    for (int64_t dimension : group)
      if (left > 1 && expanded.getDimSize(dimension) == 1) {
        added.set(dimension);
        --left;
      }
    if (left != 1)
      return std::nullopt;
  }
  return added;
}

/// The map without the results in `dropped`; nothing if the columns are among them.
static std::optional<AffineMap> dropResults(AffineMap map, const llvm::SmallBitVector &dropped) {
  for (unsigned dropping : dropped.set_bits())
    if (map.getResult(dropping) == getAffineDimExpr(kColumn, map.getContext()))
      return std::nullopt;
  return map.dropResults(dropped);
}

static std::optional<OperandSource> readThroughReshape(const OperandSource &source) {
  auto expand = source.tensor.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return std::nullopt;
  auto added = findAddedOnes(expand.getResultType(), expand.getReassociationIndices());
  std::optional<AffineMap> map = added ? dropResults(source.map, *added) : std::nullopt;
  if (!map)
    return std::nullopt;
  return OperandSource{expand.getSrc(), *map};
}

/// For each dimension of the result, that of the input, where an op copies all elements and does nothing else.
static std::optional<SmallVector<unsigned>> matchTranspose(Operation *op) {
  auto copy = dyn_cast<linalg::LinalgOp>(op);
  if (!copy || !copy.hasPureTensorSemantics() || copy.getNumParallelLoops() != copy.getNumLoops() ||
      copy.getNumDpsInputs() != 1 || copy.getNumDpsInits() != 1 ||
      copy.getBlock()->getTerminator()->getOperand(0) != copy.getBlock()->getArgument(0))
    return std::nullopt;
  AffineMap input = copy.getMatchingIndexingMap(copy.getDpsInputOperand(0));
  AffineMap result = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  if (!input.isPermutation() || !result.isPermutation())
    return std::nullopt;
  SmallVector<unsigned> order;
  for (AffineExpr loop : result.getResults())
    order.push_back(*input.getResultPosition(loop));
  return order;
}

namespace {

/// Changes one kernel, or the backward of one.
template <typename OpTy> class Absorber {
public:
  explicit Absorber(OpTy kernel) : kernel(kernel), builder(kernel) {
    for (Attribute map : kernel.getIndexingMaps())
      maps.push_back(cast<AffineMapAttr>(map).getValue());
  }

  void absorb() {
    for (auto [index, operand] : llvm::enumerate(kernel.getMappedOperands()))
      if (!kernel.isDpsInit(operand) && isa<FloatType>(getElementTypeOrSelf(operand->get().getType())))
        absorbSource(index, *operand);
    for (unsigned result = 0; result < kernel.getInits().size(); ++result)
      while (hasColumns(result) && absorbUser(result))
        ;
    kernel.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  }

private:
  void absorbSource(unsigned index, OpOperand &operand);
  AffineMap &getMap(unsigned result) { return maps[maps.size() - kernel.getInits().size() + result]; }
  /// Statistics have none.
  bool hasColumns(unsigned result) { return getMap(result).isFunctionOfDim(kColumn); }
  bool absorbUser(unsigned result);
  void replaceResult(unsigned result, Operation *user, RankedTensorType type, AffineMap map, ArrayRef<unsigned> order);

  OpTy kernel;
  OpBuilder builder;
  SmallVector<AffineMap> maps;
};

} // namespace

template <typename OpTy> void Absorber<OpTy>::absorbSource(unsigned index, OpOperand &operand) {
  bool isMask = kernel.getMask() && index == 3;
  OperandSource source{operand.get(), maps[index]};
  while (!isMask && maps[index].isFunctionOfDim(kColumn)) {
    std::optional<OperandSource> before = readThroughReshape(source);
    if (!before)
      before = contraction::readThrough(source, kernel.getArithmeticType());
    // A broadcast would hide a size.
    if (!before || (before->map.getNumResults() < source.map.getNumResults() &&
                    !source.tensor.getDefiningOp<tensor::ExpandShapeOp>()))
      break;
    source = *before;
  }
  operand.set(source.tensor);
  maps[index] = source.map;
}

/// One op that reads the result and only moves it. `order` has the result's dimension for each of the op's; those that
/// it drops are 1.
template <typename OpTy>
void Absorber<OpTy>::replaceResult(unsigned result, Operation *user, RankedTensorType type, AffineMap map,
                                   ArrayRef<unsigned> order) {
  Value init = kernel.getInits()[result];
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, kernel.getLoc(), init), moved;
  for (unsigned dimension : order)
    moved.push_back(sizes[dimension]);
  kernel.getInitsMutable()[result].assign(
      tensor::EmptyOp::create(builder, kernel.getLoc(), moved, type.getElementType()));
  getMap(result) = map;
  kernel->getResult(result).setType(type);
  user->getResult(0).replaceAllUsesWith(kernel->getResult(result));
  user->erase();
}

template <typename OpTy> bool Absorber<OpTy>::absorbUser(unsigned number) {
  Value result = kernel->getResult(number);
  // What the destination was made for, a slice of another tensor say, stays so.
  if (!result.hasOneUse() || !kernel.getInits()[number].template getDefiningOp<tensor::EmptyOp>())
    return false;
  Operation *user = *result.user_begin();
  AffineMap map = getMap(number);
  if (auto order = matchTranspose(user)) {
    auto type = cast<RankedTensorType>(user->getResult(0).getType());
    if (type.getElementType() != getElementTypeOrSelf(result.getType()))
      return false;
    SmallVector<AffineExpr> results;
    for (unsigned dimension : *order)
      results.push_back(map.getResult(dimension));
    replaceResult(number, user, type, AffineMap::get(kLoops, 0, results, map.getContext()), *order);
    return true;
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
  if (!collapse)
    return false;
  auto dropped = findAddedOnes(collapse.getSrcType(), collapse.getReassociationIndices());
  std::optional<AffineMap> collapsed = dropped ? dropResults(map, *dropped) : std::nullopt;
  if (!collapsed)
    return false;
  SmallVector<unsigned> order;
  for (unsigned dimension = 0; dimension < dropped->size(); ++dimension)
    if (!dropped->test(dimension))
      order.push_back(dimension);
  replaceResult(number, user, collapse.getResultType(), *collapsed, order);
  return true;
}

template <typename OpTy> static void absorbAll(Operation *root) {
  SmallVector<OpTy> kernels;
  root->walk([&](OpTy kernel) {
    if (kernel->getNumResults() != 0)
      kernels.push_back(kernel);
  });
  for (OpTy kernel : kernels)
    Absorber<OpTy>(kernel).absorb();
}

namespace {
struct AbsorbHeadTransposes : public attention::impl::AbsorbHeadTransposesBase<AbsorbHeadTransposes> {
  void runOnOperation() override {
    absorbAll<attention::KernelOp>(getOperation());
    absorbAll<attention::BackwardOp>(getOperation());
  }
};
} // namespace
