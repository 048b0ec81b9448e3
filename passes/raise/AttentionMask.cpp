// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/AttentionMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

/// Whether `value` can be read outside of the bodies of structured ops.
static bool isOutside(Value value) { return !isa_and_present<linalg::LinalgOp>(value.getParentBlock()->getParentOp()); }

bool resid::canMakeMask(const ElementNode *node) {
  if (node->tensor || node->constant || node->kind == ElementNode::Place)
    return true;
  return node->kind == ElementNode::Operator ? llvm::all_of(node->operands, canMakeMask) : isOutside(node->value);
}

/// Whether the element of the last four dimensions is at the same place of the node's tensor, or at its only one.
static bool isAligned(const ElementNode *node, ArrayRef<unsigned> positions) {
  if (!node->tensor || node->map.getNumResults() > 4)
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(node->tensor.getType()).getShape();
  for (auto [dimension, place] : llvm::enumerate(node->map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(place);
    if (dim ? positions[dim.getPosition()] + shape.size() != 4 + dimension : shape[dimension] != 1)
      return false;
  }
  return true;
}

namespace {
/// A structured op over four dimensions which makes the mask.
class MaskBuilder {
public:
  MaskBuilder(OpBuilder &builder, ArrayRef<unsigned> positions) : builder(builder), positions(positions) {}

  Value make(Location location, const ElementNode *root, bool isNegated, ArrayRef<OpFoldResult> sizes);

private:
  void collect(const ElementNode *node);
  void use(AffineMap map) {
    for (AffineExpr place : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(place))
        isUsed[positions[dim.getPosition()]] = true;
  }
  Value emit(OpBuilder &body, Location location, const ElementNode *node, ValueRange arguments);

  OpBuilder &builder;
  ArrayRef<unsigned> positions;
  llvm::DenseMap<const ElementNode *, Value> made;
  SmallVector<const ElementNode *> inputs;
  bool isUsed[4] = {};
};
} // namespace

/// The tensors that the mask is computed from.
void MaskBuilder::collect(const ElementNode *node) {
  if (node->kind == ElementNode::Place)
    return use(node->map);
  if (node->tensor && !node->constant) {
    if (!llvm::is_contained(inputs, node))
      inputs.push_back(node);
    return use(node->map);
  }
  for (const ElementNode *operand : node->operands)
    collect(operand);
}

Value MaskBuilder::emit(OpBuilder &body, Location location, const ElementNode *node, ValueRange arguments) {
  Value &value = made[node];
  if (value)
    return value;
  if (node->constant)
    return value = arith::ConstantOp::create(body, location, FloatAttr::get(node->type, *node->constant));
  if (auto found = llvm::find(inputs, node); found != inputs.end())
    return value = arguments[found - inputs.begin()];
  if (node->kind == ElementNode::Place) {
    auto dim = dyn_cast<AffineDimExpr>(node->map.getResult(0));
    return value = dim ? linalg::IndexOp::create(body, location, positions[dim.getPosition()]).getResult()
                       : arith::ConstantIndexOp::create(body, location, 0).getResult();
  }
  if (node->kind != ElementNode::Operator)
    return value = node->value;
  IRMapping mapping;
  for (auto [old, operand] : llvm::zip_equal(node->op->getOperands(), node->operands))
    mapping.map(old, emit(body, location, operand, arguments));
  Value result = body.clone(*node->op, mapping)->getResult(0);
  return made[node] = result;
}

Value MaskBuilder::make(Location location, const ElementNode *root, bool isNegated, ArrayRef<OpFoldResult> sizes) {
  MLIRContext *context = builder.getContext();
  collect(root);
  SmallVector<OpFoldResult> shape;
  for (unsigned i = 0; i != 4; ++i)
    shape.push_back(isUsed[i] ? sizes[i] : OpFoldResult(builder.getIndexAttr(1)));
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (const ElementNode *input : inputs) {
    SmallVector<AffineExpr> places;
    for (AffineExpr place : input->map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(place);
      places.push_back(dim ? getAffineDimExpr(positions[dim.getPosition()], context) : place);
    }
    operands.push_back(input->tensor);
    maps.push_back(AffineMap::get(4, 0, places, context));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(4, context));
  Value empty = tensor::EmptyOp::create(builder, location, shape, root->type);
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(builder, location, empty.getType(), operands, empty, maps, loops,
                                      [&](OpBuilder &body, Location inner, ValueRange arguments) {
                                        Value value = emit(body, inner, root, arguments);
                                        if (isNegated) {
                                          Value isTrue = arith::ConstantOp::create(body, inner, body.getBoolAttr(true));
                                          value = arith::XOrIOp::create(body, inner, value, isTrue);
                                        }
                                        linalg::YieldOp::create(body, inner, value);
                                      });
  return op->getResult(0);
}

Value resid::makeMask(OpBuilder &builder, Location location, const ElementNode *node, bool isNegated,
                      ArrayRef<unsigned> positions, ArrayRef<OpFoldResult> sizes) {
  if (!isNegated && isAligned(node, positions))
    return node->tensor;
  return MaskBuilder(builder, positions).make(location, node, isNegated, sizes);
}

namespace {
/// A sum of multiples of places, and a number.
struct PlaceSum {
  SmallVector<int64_t, 4> factors;
  int64_t number = 0;
};
} // namespace

std::optional<int64_t> resid::getInteger(const ElementNode *node) {
  APInt value;
  return matchPattern(node->value, m_ConstantInt(&value)) ? std::optional(value.getSExtValue()) : std::nullopt;
}

static std::optional<PlaceSum> getPlaceSum(const ElementNode *node, unsigned rank) {
  PlaceSum sum;
  sum.factors.resize(rank);
  if (std::optional<int64_t> number = getInteger(node)) {
    sum.number = *number;
    return sum;
  }
  if (node->kind == ElementNode::Place) {
    auto place = dyn_cast<AffineDimExpr>(node->map.getResult(0));
    if (place)
      sum.factors[place.getPosition()] = 1;
    return sum;
  }
  if (isa_and_present<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(node->op))
    return getPlaceSum(node->operands[0], rank);
  if (!isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp>(node->op))
    return std::nullopt;
  std::optional<PlaceSum> a = getPlaceSum(node->operands[0], rank), b = getPlaceSum(node->operands[1], rank);
  if (!a || !b)
    return std::nullopt;
  int64_t first = 1, second = isa<arith::SubIOp>(node->op) ? -1 : 1;
  if (isa<arith::MulIOp>(node->op)) {
    std::optional<int64_t> left = getInteger(node->operands[0]), right = getInteger(node->operands[1]);
    if (!left && !right)
      return std::nullopt;
    first = right.value_or(0);
    second = right ? 0 : *left;
  }
  for (unsigned i = 0; i != rank; ++i)
    sum.factors[i] = first * a->factors[i] + second * b->factors[i];
  sum.number = first * a->number + second * b->number;
  return sum;
}

static bool isNotNegative(const PlaceSum &sum) {
  return sum.number >= 0 && llvm::all_of(sum.factors, [](int64_t factor) { return factor >= 0; });
}

static arith::CmpIPredicate getSigned(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::ult:
    return Predicate::slt;
  case Predicate::ule:
    return Predicate::sle;
  case Predicate::ugt:
    return Predicate::sgt;
  case Predicate::uge:
    return Predicate::sge;
  default:
    return predicate;
  }
}

/// key - query ≤ n or query - key ≤ n.
std::optional<PlaceBound> resid::getPlaceBound(const MaskCondition &condition, unsigned queries, unsigned rank) {
  auto comparison = dyn_cast_or_null<arith::CmpIOp>(condition.node->op);
  if (!comparison)
    return std::nullopt;
  std::optional<PlaceSum> a = getPlaceSum(condition.node->operands[0], rank),
                          b = getPlaceSum(condition.node->operands[1], rank);
  if (!a || !b)
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  Predicate predicate =
      condition.isNegated ? arith::invertPredicate(comparison.getPredicate()) : comparison.getPredicate();
  // Places count from 0.
  if (isNotNegative(*a) && isNotNegative(*b))
    predicate = getSigned(predicate);
  if (predicate == Predicate::sge || predicate == Predicate::sgt) {
    std::swap(a, b);
    predicate = predicate == Predicate::sge ? Predicate::sle : Predicate::slt;
  }
  if (predicate != Predicate::sle && predicate != Predicate::slt)
    return std::nullopt;
  // a < b is a + 1 ≤ b.
  if (predicate == Predicate::slt)
    ++a->number;
  int64_t sign = a->factors[rank - 1] - b->factors[rank - 1];
  for (unsigned i = 0; i != rank; ++i)
    if (std::abs(sign) != 1 || a->factors[i] - b->factors[i] != (i == rank - 1 ? sign : i == queries ? -sign : 0))
      return std::nullopt;
  return PlaceBound{sign == 1, b->number - a->number};
}
