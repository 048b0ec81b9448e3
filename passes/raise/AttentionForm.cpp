// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/AttentionForm.h"

#include "dialect/ResidDialect.h"

#include "passes/raise/AttentionMask.h"
#include "passes/raise/Products.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::resid;

static bool isProductElement(const ElementNode *node) {
  return node->kind == ElementNode::Input && node->tensor && getProduct(node->tensor);
}

/// What splits dimensions of the tensor that the node is an element of.
static tensor::ExpandShapeOp getSplit(const ElementNode *node) {
  return node->kind == ElementNode::Input && node->tensor ? node->tensor.getDefiningOp<tensor::ExpandShapeOp>()
                                                          : tensor::ExpandShapeOp();
}

//===------------------------------------------- dimensions -------------------------------------------------------===//

/// What the dimensions of an operand are, by what the loops are.
static AttentionOperand getOperand(Contraction &product, OpOperand *operand, ArrayRef<ScoreDimension> loops) {
  AttentionOperand result{operand->get(), {}};
  for (AffineExpr loop : product.getMap(operand).getResults())
    result.dimensions.push_back(loops[cast<AffineDimExpr>(loop).getPosition()]);
  return result;
}

static bool has(const AttentionOperand &operand, ScoreDimension dimension) {
  return llvm::is_contained(operand.dimensions, dimension);
}

/// Whether `dimension` of the scores is one of the operand's, or part of one.
static bool covers(const AttentionOperand &operand, unsigned dimension) {
  return llvm::any_of(operand.dimensions, [&](const ScoreDimension &range) {
    return range && range->first <= dimension && dimension < range->first + range->count;
  });
}

/// Which dimensions of the scores the dimensions of a tensor are, of which the scores' element is at `map`. Those that
/// `reassociation` puts together are one.
static std::optional<SmallVector<ScoreDimension>> getRanges(AffineMap map,
                                                            ArrayRef<ReassociationIndices> reassociation) {
  SmallVector<ScoreDimension> ranges;
  for (const ReassociationIndices &group : reassociation) {
    std::optional<DimensionRange> range;
    for (int64_t dimension : group) {
      auto place = dyn_cast<AffineDimExpr>(map.getResult(dimension));
      if (!place || (range && place.getPosition() != range->first + range->count))
        return std::nullopt;
      range = range ? DimensionRange{range->first, range->count + 1} : DimensionRange{place.getPosition(), 1};
    }
    ranges.push_back(range);
  }
  return ranges;
}

static SmallVector<ReassociationIndices> keepAll(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i != rank; ++i)
    groups.push_back({i});
  return groups;
}

/// What the loops of a product are, by what the dimensions of one of its operands are.
static SmallVector<ScoreDimension> getLoops(Contraction &product, OpOperand *operand, ArrayRef<ScoreDimension> ranges) {
  SmallVector<ScoreDimension> loops(product.op.getNumLoops());
  for (auto [loop, range] : llvm::zip_equal(product.getMap(operand).getResults(), ranges))
    loops[cast<AffineDimExpr>(loop).getPosition()] = range;
  return loops;
}

//===------------------------------------------- the whole --------------------------------------------------------===//

namespace {
class AttentionMatcher {
public:
  AttentionMatcher(linalg::LinalgOp op, std::string &refusal) : op(op), refusal(refusal) {}

  std::optional<AttentionForm> match();

private:
  std::optional<AttentionForm> matchWithWeights(Contraction &product, OpOperand *weights, OpOperand *values);
  bool readValues(Contraction &product, OpOperand *weights, OpOperand *values, ArrayRef<ScoreDimension> ranges);
  bool readDimensions(ScoreForm &scores, SmallVectorImpl<ScoreDimension> &ranges);
  bool readProduct(ScoreForm &scores);
  SmallVector<MaskCondition> readPlaces(ArrayRef<MaskCondition> conditions);
  bool readMasks(const ScoreForm &scores);
  bool hasKnownSizes();
  bool hasCommonHeads();
  bool readStart(ScoreForm &scores, Contraction &contraction);
  bool refuse(const Twine &reason) {
    refusal = reason.str();
    return false;
  }

  linalg::LinalgOp op;
  std::string &refusal;
  AttentionForm form;
  /// The product of queries and keys.
  Value product;
};
} // namespace

bool AttentionMatcher::readValues(Contraction &product, OpOperand *weights, OpOperand *values,
                                  ArrayRef<ScoreDimension> ranges) {
  ScoreDimension keys = DimensionRange{form.rank - 1, 1};
  SmallVector<ScoreDimension> loops = getLoops(product, weights, ranges);
  form.v = getOperand(product, values, loops);
  form.result = getOperand(product, product.init, loops);
  form.result.value = op->getResult(0);
  if (has(form.result, keys) || !has(form.v, keys))
    return refuse("its softmax is not over the keys");
  return true;
}

/// What the dimensions of the product are, which may be split before they are the scores'.
bool AttentionMatcher::readDimensions(ScoreForm &scores, SmallVectorImpl<ScoreDimension> &ranges) {
  const ElementNode *node = scores.product;
  form.split = getSplit(node);
  form.splitMap = node->map;
  SmallVector<ReassociationIndices> groups = keepAll(node->map.getNumResults());
  if (form.split)
    groups = form.split.getReassociationIndices();
  std::optional<SmallVector<ScoreDimension>> found = getRanges(node->map, groups);
  if (!found)
    return refuse("its scores are not the product, element by element");
  ranges.assign(*found);
  if (!form.split)
    return true;
  ElementExpression expression(form.split.getSrc());
  std::optional<ScoreForm> before = matchScores(expression.getRoot(), isProductElement, refusal);
  if (!before)
    return false;
  if (before->added || !before->conditions.empty() || !before->product->map.isPermutation())
    return refuse("its mask is added before its heads are split");
  for (auto [dimension, place] : llvm::enumerate(before->product->map.getResults()))
    ranges[dimension] = (*found)[cast<AffineDimExpr>(place).getPosition()];
  scores.scale *= before->scale;
  product = before->product->tensor;
  return true;
}

/// The product of queries and keys.
bool AttentionMatcher::readProduct(ScoreForm &scores) {
  SmallVector<ScoreDimension> ranges;
  product = scores.product->tensor;
  if (!readDimensions(scores, ranges))
    return false;
  Contraction contraction = *getProduct(product);
  SmallVector<ScoreDimension> loops = getLoops(contraction, contraction.init, ranges);
  form.q = getOperand(contraction, contraction.a, loops);
  form.k = getOperand(contraction, contraction.b, loops);
  ScoreDimension keys = DimensionRange{form.rank - 1, 1};
  if (!has(form.k, keys))
    std::swap(form.q, form.k);
  if (!has(form.k, keys) || has(form.q, keys))
    return refuse("its scores have no dimension of keys");
  std::optional<unsigned> queries;
  for (ScoreDimension dimension : form.q.dimensions)
    if (dimension && !has(form.k, dimension) && dimension->count == 1)
      queries = std::max(queries.value_or(0), dimension->first);
  if (!queries || covers(form.v, *queries))
    return refuse("its scores have no dimension of queries");
  form.queries = *queries;
  for (unsigned i = 0; i + 1 != form.rank; ++i)
    if (i != *queries)
      form.heads.push_back(i);
  if (form.heads.size() > 2)
    return refuse("its scores have more than four dimensions");
  return readStart(scores, contraction) &&
         (leadsOnlyTo(product, op) || refuse("something else reads its scores or weights"));
}

/// A product may start from a mask.
bool AttentionMatcher::readStart(ScoreForm &scores, Contraction &contraction) {
  if (startsFromZeros(contraction))
    return true;
  if (form.split || !form.splitMap.isIdentity())
    return refuse("its product starts from something else than zeros");
  form.start = std::make_unique<ElementExpression>(contraction.init->get());
  return addMask(scores, form.start->getRoot(), refusal);
}

/// Takes causality and the window out of the conditions; gives the others. A window has the same width on both sides,
/// or causality on one.
SmallVector<MaskCondition> AttentionMatcher::readPlaces(ArrayRef<MaskCondition> conditions) {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  SmallVector<MaskCondition> bounds, others;
  int64_t before = none, after = none;
  for (const MaskCondition &condition : conditions) {
    // PyTorch asks for the lower triangle of a tensor that is true everywhere.
    if (!condition.isNegated && getInteger(condition.node).value_or(0) != 0)
      continue;
    std::optional<PlaceBound> bound = getPlaceBound(condition, form.queries, form.rank);
    if (!bound || bound->distance < 0) {
      others.push_back(condition);
      continue;
    }
    bounds.push_back(condition);
    int64_t &nearest = bound->isAfter ? after : before;
    nearest = std::min(nearest, bound->distance);
  }
  form.isCausal = after == 0;
  bool isBand = form.isCausal || before == after;
  form.window = isBand && before != none ? before + 1 : 0;
  if (!isBand)
    others.append(bounds);
  return others;
}

bool AttentionMatcher::readMasks(const ScoreForm &scores) {
  form.scale = scores.scale;
  if (!(std::fabs(form.scale) <= kLargestScale))
    return refuse("its scores are scaled by a number above 1e12");
  form.added = scores.added;
  for (const MaskCondition &condition : readPlaces(scores.conditions)) {
    if (form.added || form.taken)
      return refuse("it has two masks");
    form.taken = condition;
  }
  const ElementNode *mask = form.taken ? form.taken->node : form.added;
  if (mask && !canMakeMask(mask))
    return refuse("its mask is made where its scores are");
  return true;
}

/// Sizes of heads are known, and that of queries is that of keys; keys and values of heads are for all queries.
bool AttentionMatcher::hasKnownSizes() {
  SmallVector<int64_t> sizes;
  for (const AttentionOperand &operand : {form.q, form.k, form.v}) {
    auto type = cast<RankedTensorType>(operand.value.getType());
    if (type.getEncoding())
      return refuse("a tensor of it has an encoding");
    auto feature = llvm::find(operand.dimensions, std::nullopt);
    if (feature == operand.dimensions.end() || llvm::count(operand.dimensions, std::nullopt) != 1)
      return refuse("its products are of other shapes");
    sizes.push_back(type.getDimSize(feature - operand.dimensions.begin()));
    if (!AttentionOp::isHeadSize(sizes.back()))
      return refuse("its heads are not of known sizes from 1 to " + std::to_string(AttentionOp::kLargestHead));
  }
  if (sizes[0] != sizes[1])
    return refuse("its queries and keys are of different sizes");
  return hasCommonHeads() || refuse("its queries, keys and values are of different batches");
}

/// Batch and heads are the same in all. Keys and values without a dimension of heads are those of all heads.
bool AttentionMatcher::hasCommonHeads() {
  for (const AttentionOperand &operand : {form.q, form.k, form.v, form.result})
    for (const ScoreDimension &range : operand.dimensions)
      if (range && range->count != 1 &&
          (form.heads.size() != 2 || range->first != form.heads[0] || range->count != 2 ||
           form.heads[1] != form.heads[0] + 1))
        return false;
  for (unsigned dimension : form.heads) {
    bool isShared = form.heads.size() == 2 && dimension == form.heads[1];
    bool inKeys = covers(form.k, dimension), inValues = covers(form.v, dimension);
    bool isSame = covers(form.q, dimension) && inKeys == inValues && (inKeys || isShared);
    if (!isSame && form.shape[dimension] != 1)
      return false;
  }
  return true;
}

std::optional<AttentionForm> AttentionMatcher::matchWithWeights(Contraction &product, OpOperand *weights,
                                                                OpOperand *values) {
  Value tensor = weights->get();
  // Batch and heads are one dimension of a batched product.
  auto merge = tensor.getDefiningOp<tensor::CollapseShapeOp>();
  if (merge)
    tensor = merge.getSrc();
  form = AttentionForm();
  form.last = op;
  form.shape = cast<RankedTensorType>(tensor.getType()).getShape();
  form.rank = form.shape.size();
  if (form.rank < 2)
    return std::nullopt;
  // Asked often, of few tensors.
  llvm::DenseMap<Value, bool> known;
  auto isProductOrSplit = [&](const ElementNode *node) {
    tensor::ExpandShapeOp split = getSplit(node);
    if (!split)
      return isProductElement(node);
    auto [place, isNew] = known.try_emplace(split.getSrc());
    if (isNew)
      place->second = anyNode(ElementExpression(split.getSrc()).getRoot(), isProductElement);
    return place->second;
  };
  std::optional<SoftmaxForm> softmax = matchSoftmax(tensor);
  std::optional<ScoreForm> scores = softmax ? matchScores(softmax->scores, isProductOrSplit, refusal) : std::nullopt;
  if (!scores)
    return std::nullopt;
  if (!softmax->isOverLast) {
    refuse("its softmax is not over the keys");
    return std::nullopt;
  }
  SmallVector<ReassociationIndices> groups = keepAll(form.rank);
  if (merge)
    groups = merge.getReassociationIndices();
  auto identity = AffineMap::getMultiDimIdentityMap(form.rank, op.getContext());
  std::optional<SmallVector<ScoreDimension>> ranges = getRanges(identity, groups);
  if (!readValues(product, weights, values, *ranges) || !readProduct(*scores) || !readMasks(*scores) ||
      !hasKnownSizes())
    return std::nullopt;
  form.expression = std::move(softmax->expression);
  return std::move(form);
}

std::optional<AttentionForm> AttentionMatcher::match() {
  std::optional<Contraction> product = getProduct(op->getResult(0));
  if (!product || !startsFromZeros(*product))
    return std::nullopt;
  if (std::optional<AttentionForm> found = matchWithWeights(*product, product->a, product->b))
    return found;
  return matchWithWeights(*product, product->b, product->a);
}

std::optional<AttentionForm> resid::matchAttention(linalg::LinalgOp op, std::string &refusal) {
  return AttentionMatcher(op, refusal).match();
}
