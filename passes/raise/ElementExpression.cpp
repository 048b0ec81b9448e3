// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/ElementExpression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

/// Chains of more ops than a decomposed norm has end in an input.
static constexpr unsigned kMaximumDepth = 32;
/// So do those that would make a longer expression.
static constexpr size_t kMaximumNodes = 256;

/// A scalar or tensor-level operation of arith or math without regions, of one result.
static bool isArithmetic(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && isPure(op);
}

std::optional<APFloat> resid::getFloatConstant(Value value) {
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValue();
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>();
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return getFloatConstant(fill.value());
  return std::nullopt;
}

ElementExpression::ElementExpression(Value value)
    : rootType(cast<RankedTensorType>(value.getType())), rank(rootType.getRank()) {
  root = ofTensor(value, AffineMap::getMultiDimIdentityMap(rank, value.getContext()), 0);
}

bool ElementExpression::contains(function_ref<bool(Operation *)> predicate) const {
  return llvm::any_of(nodes, [&](const auto &node) { return node->op && predicate(node->op); });
}

bool ElementExpression::hasRowSum(unsigned dimensions) const {
  return llvm::any_of(
      nodes, [&](const auto &node) { return node->kind == ElementNode::RowSum && node->summed == dimensions; });
}

ElementNode *ElementExpression::create(ElementNode::Kind kind, Value value, AffineMap map) {
  nodes.push_back(std::make_unique<ElementNode>());
  ElementNode *node = nodes.back().get();
  node->kind = kind;
  node->value = value;
  node->type = getElementTypeOrSelf(value.getType());
  if (isa<RankedTensorType>(value.getType())) {
    node->tensor = value;
    node->map = map;
  }
  return node;
}

/// Importers write 0 for the place along a dimension of size 1, so that one element would have two maps.
AffineMap ElementExpression::nameUnitDimensions(Value tensor, AffineMap map) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  if (static_cast<int64_t>(shape.size()) != rank)
    return map;
  SmallVector<AffineExpr> results(map.getResults());
  for (auto [dimension, place] : llvm::enumerate(results))
    if (isa<AffineConstantExpr>(place) && shape[dimension] == 1 && rootType.getDimSize(dimension) == 1 &&
        !map.isFunctionOfDim(dimension))
      place = getAffineDimExpr(dimension, map.getContext());
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

ElementNode *ElementExpression::ofTensor(Value tensor, AffineMap map, unsigned depth) {
  map = nameUnitDimensions(tensor, map);
  if (ElementNode *node = known.lookup({tensor, map}))
    return node;
  ElementNode *node = makeOfTensor(tensor, map, depth);
  // A copy is the number that it is a copy of.
  known[{tensor, map}] = node;
  if (map.isIdentity() && node->tensor && !node->whole && node->type == getElementTypeOrSelf(tensor.getType())) {
    node->whole = tensor;
    tensors.push_back(node);
  }
  return node;
}

/// The map after a reshape that adds dimensions of size 1, or null for one that does more.
static AffineMap mapBeforeExpansion(tensor::ExpandShapeOp op, AffineMap map) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<AffineExpr> results;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    auto wide = llvm::make_filter_range(group, [&](int64_t dim) { return shape[dim] != 1; });
    if (llvm::range_size(wide) > 1)
      return {};
    results.push_back(wide.empty() ? getAffineConstantExpr(0, map.getContext()) : map.getResult(*wide.begin()));
  }
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

ElementNode *ElementExpression::makeOfTensor(Value tensor, AffineMap map, unsigned depth) {
  if (std::optional<APFloat> constant = getFloatConstant(tensor)) {
    ElementNode *node = create(ElementNode::Constant, tensor, map);
    node->constant = constant;
    return node;
  }
  Operation *op = tensor.getDefiningOp();
  if (!op || depth == kMaximumDepth || nodes.size() >= kMaximumNodes)
    return create(ElementNode::Input, tensor, map);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return ofStructured(structured, tensor, map, depth + 1);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    if (AffineMap before = mapBeforeExpansion(expand, map))
      return ofTensor(expand.getSrc(), before, depth + 1);
  if (!OpTrait::hasElementwiseMappableTraits(op) || !isArithmetic(op))
    return create(ElementNode::Input, tensor, map);
  SmallVector<const ElementNode *, 3> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      return create(ElementNode::Input, tensor, map);
    operands.push_back(ofTensor(operand, map, depth + 1));
  }
  ElementNode *node = create(ElementNode::Operator, tensor, map);
  node->op = op;
  node->operands = operands;
  return node;
}

ElementNode *ElementExpression::ofStructured(linalg::LinalgOp op, Value tensor, AffineMap map, unsigned depth) {
  bool isKnown = op.hasPureTensorSemantics() && op.getNumDpsInits() == 1;
  for (AffineMap operand : op.getIndexingMapsArray())
    isKnown &= operand.isProjectedPermutation(/*allowZeroInResults=*/true);
  if (isKnown && op.getNumReductionLoops() != 0)
    if (ElementNode *sum = ofRowSum(op, tensor, map, depth))
      return sum;
  AffineMap result = isKnown ? op.getIndexingMapsArray().back() : AffineMap();
  if (!isKnown || op.getNumParallelLoops() != op.getNumLoops() || !result.isPermutation())
    return create(ElementNode::Input, tensor, map);
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  ElementNode *node = ofScalar(op, yielded, inversePermutation(result).compose(map), depth);
  if (!node->tensor && node->kind != ElementNode::Constant) {
    node->tensor = tensor;
    node->map = map;
  }
  return node;
}

/// The sum over the last loops, which starts from zeros, of an op whose other loops are the root's leading ones.
ElementNode *ElementExpression::ofRowSum(linalg::LinalgOp op, Value tensor, AffineMap map, unsigned depth) {
  MLIRContext *context = op.getContext();
  std::optional<APFloat> start = getFloatConstant(op.getDpsInits().front());
  unsigned loops = op.getNumLoops();
  unsigned summed = op.getNumReductionLoops();
  if (!start || !start->isZero() || loops != rank)
    return nullptr;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::reduction) != (loop + summed >= loops))
      return nullptr;
  // Row by row: what is asked is the sum of the row that the root's element is in.
  AffineMap result = op.getIndexingMapsArray().back();
  for (auto [asked, written] : llvm::zip_equal(map.getResults(), result.getResults()))
    if (asked != written)
      return nullptr;
  if (llvm::count_if(result.getResults(), llvm::IsaPred<AffineDimExpr>) != rank - summed)
    return nullptr;
  auto sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  Value old = op.getBlock()->getArguments().back();
  if (!sum || (sum.getLhs() == old) == (sum.getRhs() == old) || !old.hasOneUse())
    return nullptr;
  Value term = sum.getLhs() == old ? sum.getRhs() : sum.getLhs();
  const ElementNode *operand = ofScalar(op, term, AffineMap::getMultiDimIdentityMap(loops, context), depth);
  ElementNode *node = create(ElementNode::RowSum, tensor, map);
  node->op = op;
  node->summed = summed;
  node->operands.push_back(operand);
  return node;
}

ElementNode *ElementExpression::ofScalar(linalg::LinalgOp op, Value value, AffineMap loops, unsigned depth) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == op.getBlock()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    if (op.isDpsInput(&operand) && isa<RankedTensorType>(operand.get().getType()))
      return ofTensor(operand.get(), op.getMatchingIndexingMap(&operand).compose(loops), depth);
    if (op.isDpsInput(&operand))
      value = operand.get();
  }
  if (ElementNode *node = known.lookup({value, loops}))
    return node;
  auto make = [&]() -> ElementNode * {
    if (std::optional<APFloat> constant = getFloatConstant(value)) {
      ElementNode *node = create(ElementNode::Constant, value, loops);
      node->constant = constant;
      return node;
    }
    Operation *inner = value.getDefiningOp();
    if (auto place = dyn_cast_or_null<linalg::IndexOp>(inner); place && inner->getBlock() == op.getBlock()) {
      ElementNode *node = create(ElementNode::Place, value, loops);
      node->map = loops.getSubMap(place.getDim());
      return node;
    }
    if (!inner || inner->getBlock() != op.getBlock() || !isArithmetic(inner) || nodes.size() >= kMaximumNodes)
      return create(ElementNode::Input, value, loops);
    SmallVector<const ElementNode *, 3> operands;
    for (Value operand : inner->getOperands())
      operands.push_back(ofScalar(op, operand, loops, depth));
    ElementNode *node = create(ElementNode::Operator, value, loops);
    node->op = inner;
    node->operands = operands;
    return node;
  };
  return known[{value, loops}] = make();
}
