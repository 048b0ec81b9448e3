// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/AttentionBuilder.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/raise/AttentionMask.h"
#include "passes/raise/Polynomial.h"
#include <cmath>

using namespace mlir;
using namespace mlir::resid;

using Sizes = SmallVector<OpFoldResult>;

namespace {
/// What a dimension of an operand is of [batch, heads, rows, features]. `Both` is batch and heads in one.
enum class Part { Batch, Heads, Both, Rows, Features };

/// A tensor, and what its dimensions are.
struct View {
  Value value;
  SmallVector<Part, 4> parts;
  double scale = 1.0;
};

class AttentionBuilder {
public:
  AttentionBuilder(OpBuilder &builder, AttentionForm &form, double tolerance)
      : b(builder), form(form), location(form.last.getLoc()), tolerance(tolerance) {}

  Value build();

private:
  View view(const AttentionOperand &operand, unsigned rows) const;
  void findBatchAndHeads();
  OpFoldResult sizeOf(unsigned dimension);
  void split(View &view);
  Value toHeads(View view);
  Value getRepeated(Value value);
  Value makeMask(Value q, Value k);
  Value fromHeads(Value attention);
  Value transpose(Value value, ArrayRef<int64_t> permutation);

  OpBuilder &b;
  AttentionForm &form;
  Location location;
  double tolerance;
  /// The one dimension of the scores before queries and keys is batch and heads, and was so in the program.
  bool isMerged = false;
  OpFoldResult batch, heads;
};
} // namespace

static SmallVector<ReassociationIndices> mergeFirst(int64_t count, int64_t rank) {
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t i = 0; i != rank; ++i) {
    if (i >= count)
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

View AttentionBuilder::view(const AttentionOperand &operand, unsigned rows) const {
  View view{operand.value, {}};
  for (const ScoreDimension &range : operand.dimensions) {
    if (!range)
      view.parts.push_back(Part::Features);
    else if (range->first == rows)
      view.parts.push_back(Part::Rows);
    else if (range->count == 2 || isMerged)
      view.parts.push_back(Part::Both);
    else
      view.parts.push_back(form.heads.size() == 2 && range->first == form.heads[0] ? Part::Batch : Part::Heads);
  }
  return view;
}

/// Goes back over copies that only move dimensions, and over products with constants if `mayScale`. The tensor before
/// them may be narrower.
static void goBack(View &view, bool mayScale) {
  ElementExpression expression(view.value);
  const ElementNode *node = expression.getRoot();
  double scale = 1.0;
  while (node->op) {
    if (isa<arith::ExtFOp>(node->op)) {
      node = node->operands[0];
      continue;
    }
    bool isProduct = isa<arith::MulFOp>(node->op);
    if (!mayScale || (!isProduct && !isa<arith::DivFOp>(node->op)))
      break;
    std::optional<double> right = getNumber(node->operands[1]);
    std::optional<double> number = right || !isProduct ? right : getNumber(node->operands[0]);
    if (!number)
      break;
    scale = isProduct ? scale * *number : scale / *number;
    node = node->operands[right ? 0 : 1];
  }
  if (!node->tensor || !node->map.isPermutation() || !(std::fabs(view.scale * scale) <= kLargestScale))
    return;
  SmallVector<Part, 4> parts;
  for (AffineExpr place : node->map.getResults())
    parts.push_back(view.parts[cast<AffineDimExpr>(place).getPosition()]);
  view = {node->tensor, parts, view.scale * scale};
}

/// Two lists of sizes that are one, since their products are: at most one of them is not known.
static bool areSame(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a == b && llvm::count(a, ShapedType::kDynamic) <= 1;
}

/// `view` with batch and heads for the dimension that is both. What has put them together is undone.
void AttentionBuilder::split(View &view) {
  auto both = llvm::find(view.parts, Part::Both);
  if (both == view.parts.end())
    return;
  int64_t place = both - view.parts.begin();
  *both = Part::Batch;
  view.parts.insert(both + 1, Part::Heads);
  int64_t batchSize = getConstantIntValue(batch).value_or(ShapedType::kDynamic);
  int64_t headSize = getConstantIntValue(heads).value_or(ShapedType::kDynamic);
  if (auto merge = view.value.getDefiningOp<tensor::CollapseShapeOp>()) {
    SmallVector<ReassociationIndices> groups = merge.getReassociationIndices();
    ArrayRef<int64_t> shape = merge.getSrcType().getShape();
    int64_t count = groups[place].size(), rest = static_cast<int64_t>(shape.size()) - count;
    ArrayRef<int64_t> sizes = shape.slice(place, count);
    if (rest + 1 == static_cast<int64_t>(groups.size()) && count == 2 && areSame(sizes, {batchSize, headSize})) {
      view.value = merge.getSrc();
      return;
    }
    // [batch, groups, repeated, …], where keys and values of a head are those of several.
    if (rest + 1 == static_cast<int64_t>(groups.size()) && count == 3 &&
        !ShapedType::isDynamicShape(sizes.drop_front()) &&
        areSame({sizes[0], sizes[1] * sizes[2]}, {batchSize, headSize})) {
      SmallVector<ReassociationIndices> pair;
      for (int64_t i = 0; i != merge.getSrcType().getRank(); ++i)
        if (i == place + 2)
          pair.back().push_back(i);
        else
          pair.push_back({i});
      view.value = tensor::CollapseShapeOp::create(b, location, merge.getSrc(), pair);
      return;
    }
  }
  Sizes sizes = tensor::getMixedSizes(b, location, view.value);
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0, rank = sizes.size(); i != rank; ++i)
    groups.push_back(i < place    ? ReassociationIndices{i}
                     : i == place ? ReassociationIndices{i, i + 1}
                                  : ReassociationIndices{i + 1});
  SmallVector<int64_t> shape(cast<RankedTensorType>(view.value.getType()).getShape());
  shape[place] = headSize;
  shape.insert(shape.begin() + place, batchSize);
  sizes[place] = heads;
  sizes.insert(sizes.begin() + place, batch);
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(view.value.getType()));
  view.value = tensor::ExpandShapeOp::create(b, location, type, view.value, groups, sizes);
}

Value AttentionBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (isIdentityPermutation(permutation))
    return value;
  Sizes sizes = tensor::getMixedSizes(b, location, value), moved;
  for (int64_t from : permutation)
    moved.push_back(sizes[from]);
  Value empty = tensor::EmptyOp::create(b, location, moved, getElementTypeOrSelf(value.getType()));
  return linalg::TransposeOp::create(b, location, value, empty, permutation)->getResult(0);
}

/// [batch, heads, rows, features] of what a view has of it. Dimensions that it has not are of size 1.
Value AttentionBuilder::toHeads(View view) {
  SmallVector<int64_t> permutation;
  for (Part part : {Part::Batch, Part::Heads, Part::Rows, Part::Features})
    if (auto found = llvm::find(view.parts, part); found != view.parts.end())
      permutation.push_back(found - view.parts.begin());
  Value value = transpose(view.value, permutation);
  if (permutation.size() == 4)
    return value;
  bool hasBatch = llvm::is_contained(view.parts, Part::Batch);
  Sizes sizes = tensor::getMixedSizes(b, location, value);
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  // [batch, rows, features] have the 1 after the batch, [heads, rows, features] in front.
  unsigned place = hasBatch ? 1 : 0;
  while (shape.size() != 4) {
    shape.insert(shape.begin() + place, 1);
    sizes.insert(sizes.begin() + place, b.getIndexAttr(1));
  }
  SmallVector<ReassociationIndices> groups =
      hasBatch ? SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}} : mergeFirst(5 - permutation.size(), 4);
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
  return tensor::ExpandShapeOp::create(b, location, type, value, groups, sizes);
}

/// The heads that `value` repeats, each as often as the next, or null.
Value AttentionBuilder::getRepeated(Value value) {
  auto merge = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!merge || merge.getReassociationIndices() != SmallVector<ReassociationIndices>{{0}, {1, 2}, {3}, {4}})
    return {};
  ElementExpression expression(merge.getSrc());
  const ElementNode *node = expression.getRoot();
  if (!node->tensor || node->map.getNumResults() != 4)
    return {};
  SmallVector<int64_t> permutation;
  for (unsigned dimension : {0, 1, 3, 4}) {
    auto place = llvm::find(node->map.getResults(), getAffineDimExpr(dimension, b.getContext()));
    if (place == node->map.getResults().end())
      return {};
    permutation.push_back(place - node->map.getResults().begin());
  }
  return transpose(node->tensor, permutation);
}

/// The size of a dimension before queries and keys.
OpFoldResult AttentionBuilder::sizeOf(unsigned dimension) {
  AffineExpr expected = getAffineDimExpr(dimension, b.getContext());
  if (form.split) {
    auto place = llvm::find(form.splitMap.getResults(), expected);
    if (place != form.splitMap.getResults().end())
      return form.split.getMixedOutputShape()[place - form.splitMap.getResults().begin()];
  }
  auto place = llvm::find(form.q.dimensions, ScoreDimension(DimensionRange{dimension, 1}));
  if (place == form.q.dimensions.end())
    return b.getIndexAttr(1);
  return tensor::getMixedSize(b, location, form.q.value, place - form.q.dimensions.begin());
}

/// Whether the mask differs between batches or heads.
static bool dependsOn(const ElementNode *node, unsigned dimension) {
  return node && anyNode(node, [&](const ElementNode *inner) {
           return inner->map && inner->map.getNumResults() != 0 && inner->map.isFunctionOfDim(dimension);
         });
}

void AttentionBuilder::findBatchAndHeads() {
  batch = heads = b.getIndexAttr(1);
  if (form.heads.size() == 2)
    batch = sizeOf(form.heads[0]);
  if (!form.heads.empty())
    heads = sizeOf(form.heads.back());
  if (form.heads.size() != 1 || dependsOn(form.added, form.heads[0]) ||
      (form.taken && dependsOn(form.taken->node, form.heads[0])))
    return;
  View q = view(form.q, form.queries);
  goBack(q, /*mayScale=*/true);
  auto merge = q.value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!merge || merge.getSrcType().getRank() != 4)
    return;
  auto place = llvm::find(q.parts, Part::Heads);
  if (place == q.parts.end() || merge.getReassociationIndices()[place - q.parts.begin()].size() != 2)
    return;
  unsigned first = place - q.parts.begin();
  isMerged = true;
  batch = tensor::getMixedSize(b, location, merge.getSrc(), first);
  heads = tensor::getMixedSize(b, location, merge.getSrc(), first + 1);
}

Value AttentionBuilder::makeMask(Value q, Value k) {
  const ElementNode *node = form.taken ? form.taken->node : form.added;
  if (!node)
    return {};
  SmallVector<unsigned> positions(form.rank, 3);
  positions[form.queries] = 2;
  for (auto [i, dimension] : llvm::enumerate(form.heads))
    positions[dimension] = form.heads.size() == 2 ? i : 1;
  Sizes sizes = tensor::getMixedSizes(b, location, q);
  sizes[3] = tensor::getMixedSize(b, location, k, 2);
  return resid::makeMask(b, location, node, form.taken && form.taken->isNegated, positions, sizes);
}

/// The result in the order of the last product.
Value AttentionBuilder::fromHeads(Value attention) {
  View expected = view(form.result, form.queries);
  SmallVector<Part, 4> parts;
  for (Part part : {Part::Batch, Part::Heads, Part::Both, Part::Rows, Part::Features})
    if (llvm::is_contained(expected.parts, part))
      parts.push_back(part);
  if (parts.size() != 4)
    attention = tensor::CollapseShapeOp::create(b, location, attention, mergeFirst(5 - parts.size(), 4));
  SmallVector<int64_t> permutation;
  for (Part part : expected.parts)
    permutation.push_back(llvm::find(parts, part) - parts.begin());
  Value result = transpose(attention, permutation);
  Type type = form.last->getResult(0).getType();
  return result.getType() == type ? result : tensor::CastOp::create(b, location, type, result).getResult();
}

Value AttentionBuilder::build() {
  findBatchAndHeads();
  View views[] = {view(form.q, form.queries), view(form.k, form.rank - 1), view(form.v, form.rank - 1)};
  Value operands[3];
  double scale = form.scale;
  for (auto [i, view] : llvm::enumerate(views)) {
    // Values are not scaled by the op.
    goBack(view, /*mayScale=*/i != 2);
    split(view);
    goBack(view, /*mayScale=*/i != 2);
    scale *= view.scale;
    operands[i] = toHeads(view);
  }
  Value keys = getRepeated(operands[1]), values = getRepeated(operands[2]);
  if (keys && values &&
      cast<RankedTensorType>(keys.getType()).getDimSize(1) == cast<RankedTensorType>(values.getType()).getDimSize(1)) {
    operands[1] = keys;
    operands[2] = values;
  }
  auto type = cast<RankedTensorType>(operands[0].getType());
  Type element = getElementTypeOrSelf(form.last->getResult(0).getType());
  Value mask = makeMask(operands[0], operands[1]);
  auto op = AttentionOp::create(b, location, operands[0], operands[1], operands[2], mask, form.isCausal);
  op.getResult().setType(op.getResult().getType().clone(element));
  if (form.window != 0)
    op.setWindow(form.window);
  double usual = 1.0 / std::sqrt(static_cast<double>(type.getDimSize(3)));
  if (std::fabs(scale - usual) > tolerance * usual)
    op.setScale(APFloat(op.getArithmeticType().isF64() ? scale : shorten(scale)));
  return fromHeads(op.getResult());
}

Value resid::buildAttention(OpBuilder &builder, AttentionForm &form, double tolerance) {
  return AttentionBuilder(builder, form, tolerance).build();
}
