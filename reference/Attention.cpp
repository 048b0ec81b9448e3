// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Attention: which keys, values and mask each query has, and the cache. The arithmetic of a query stands in
// AttentionRow.cpp.

#include "reference/AttentionHeads.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

/// Whether a call can put `added` keys after those that are there: of all samples, or of each.
static LogicalResult checkPasts(Operation *op, ArrayRef<int64_t> pasts, int64_t batch, int64_t added, int64_t places) {
  if (pasts.size() > 1 && int64_t(pasts.size()) != batch)
    return op->emitOpError() << "expected a past for each of " << batch << " samples but got " << pasts.size();
  for (int64_t past : pasts) {
    if (past < 0)
      return op->emitOpError() << "expected a past of 0 or more keys but got " << past;
    if (past > places || added > places - past)
      return op->emitOpError() << "expected a cache of at least past + new keys, " << past << " + " << added
                               << ", but got " << places;
  }
  return success();
}

/// From the first to the last of those of a sample that are equal to `number`, and none where there is none.
static std::pair<int64_t, int64_t> findSegment(const Array &segments, int64_t item, int64_t number) {
  int64_t count = segments.getShape()[1], first = 0, end = 0;
  for (auto [place, other] : llvm::enumerate(segments.integers().slice(item * count, count)))
    if (other == number) {
      first = end == 0 ? int64_t(place) : first;
      end = int64_t(place) + 1;
    }
  return {first, end};
}

static LogicalResult checkSegments(Operation *op, const Array &segments, StringRef name, ArrayRef<int64_t> shape) {
  if (segments.getShape() != shape)
    return op->emitOpError() << "expected segments of " << name << ", " << shape[0] << " times " << shape[1]
                             << ", but got " << describe(segments);
  for (int64_t item = 0; item != shape[0]; ++item) {
    ArrayRef<int64_t> own = segments.integers().slice(item * shape[1], shape[1]);
    for (int64_t number : own) {
      auto [first, end] = findSegment(segments, item, number);
      if (number != -1 && llvm::count(own, number) != end - first)
        return op->emitOpError() << "expected equal segments of " << name << " side by side, but got " << number
                                 << " at " << first << " and at " << end - 1;
    }
  }
  return success();
}

/// Rows are counted in the order of the result's. There is none where a size is 0.
AttentionRow AttentionHeads::getRow(int64_t row) const {
  int64_t query = row % queries, head = row / queries % heads, item = row / queries / heads;
  int64_t keyHead = head / (heads / keyHeads), firstKey = (item * keyHeads + keyHead) * keys;
  int64_t past = pasts.empty() ? 0 : pasts[pasts.size() == 1 ? 0 : item];
  // Keys [low, high) are of the query's own sequence; places are counted from `low` on.
  int64_t place = past + query, low = 0, high = pasts.empty() ? keys : past + queries;
  if (querySegments) {
    int64_t number = querySegments.integers()[item * queries + query];
    std::tie(low, high) = number == -1 ? std::pair<int64_t, int64_t>() : findSegment(keySegments, item, number);
    place -= number == -1 ? 0 : findSegment(querySegments, item, number).first;
  }
  int64_t last = low + (isCausal ? place : window ? place + window - 1 : keys);
  AttentionRow own{q.floats().data() + row * size,
                   k.floats().data() + firstKey * size,
                   v.floats().data() + firstKey * valueSize,
                   size,
                   valueSize,
                   low + (window ? std::max<int64_t>(place - window + 1, 0) : 0),
                   std::min(high, last + 1),
                   low,
                   scale,
                   cap};
  own.sink = sink ? sink.floats().data() + head : nullptr;
  own.dropout = dropout ? &*dropout : nullptr, own.index = row;
  if (!mask)
    return own;
  int64_t offset = item * maskStrides[0] + head * maskStrides[1] + query * maskStrides[2];
  own.maskStride = maskStrides[3];
  if (mask.isFloat())
    own.addends = mask.floats().data() + offset;
  else
    own.choices = mask.integers().data() + offset;
  return own;
}

static LogicalResult checkHeads(Operation *op, const AttentionHeads &heads) {
  if (heads.k.getShape().drop_back() != heads.v.getShape().drop_back())
    return op->emitOpError() << "expected k and v of one batch, heads and keys but got " << describe(heads.k) << " and "
                             << describe(heads.v);
  if (heads.sink && heads.sink.size() != heads.heads)
    return op->emitOpError() << "expected a sink with a number for each head of q, " << describe(heads.q)
                             << ", but got " << describe(heads.sink);
  if (heads.k.getShape().front() != heads.batch)
    return op->emitOpError() << "expected q and k of one batch but got " << describe(heads.q) << " and "
                             << describe(heads.k);
  if (heads.keyHeads == 0 ? heads.heads != 0 : heads.heads % heads.keyHeads != 0)
    return op->emitOpError() << "expected a number of heads in k that divides that of q but got " << heads.keyHeads
                             << " and " << heads.heads;
  return success();
}

LogicalResult AttentionHeads::prepare(Operation *op, ArrayRef<int64_t> maskShape) {
  ArrayRef<int64_t> rows = q.getShape(), places = k.getShape();
  batch = rows[0], heads = rows[1], queries = rows[2], size = rows[3];
  keyHeads = places[1], keys = places[2], valueSize = v.getShape()[3];
  if (failed(checkHeads(op, *this)) || failed(checkPasts(op, pasts, batch, queries, keys)))
    return failure();
  if (querySegments && (failed(checkSegments(op, querySegments, "q", {batch, queries})) ||
                        failed(checkSegments(op, keySegments, "k", {batch, keys}))))
    return failure();
  if (!mask)
    return success();
  FailureOr<SmallVector<int64_t>> strides =
      getBroadcastStrides(op, "mask", mask, {batch, heads, queries, keys}, maskShape);
  if (failed(strides))
    return failure();
  maskStrides = *strides;
  return success();
}

/// Puts a row, or its bounds, into the arrays of all results.
static void storeRow(const AttendedRow &attended, int64_t row, ArrayRef<MutableArrayRef<double>> arrays) {
  size_t size = attended.values.size();
  llvm::copy(attended.values, arrays.front().slice(row * size, size).begin());
  if (arrays.size() == 1)
    return;
  arrays[1][row] = attended.max;
  arrays[2][row] = attended.sum;
}

Interpreter::Results Interpreter::evaluate(AttentionOp op) {
  FloatKind arithmetic = *getFloatKind(op.getArithmeticType());
  AttentionHeads heads;
  heads.q = get(op.getQ()), heads.k = get(op.getK()), heads.v = get(op.getV()), heads.mask = getOptional(op.getMask());
  heads.sink = getOptional(op.getSink()), heads.isCausal = op.getCausal(), heads.window = op.getWindowOrZero();
  heads.scale = round(arithmetic, op.getScoreScale()), heads.cap = round(arithmetic, op.getCapOrZero());
  if (op.getPast())
    heads.pasts.assign(get(op.getPast()).integers().begin(), get(op.getPast()).integers().end());
  heads.querySegments = getOptional(op.getQuerySegments()), heads.keySegments = getOptional(op.getKeySegments());
  if (failed(heads.prepare(op, op.getMask() ? op.getMask().getType().getShape() : ArrayRef<int64_t>())))
    return failure();
  if (op.getThreshold() != 0) {
    DropoutParameters parameters = getDropoutParameters(op.getP()->convertToDouble(), *op.getSite(), op.getSeed(),
                                                        op.getStep(), getDropoutOrigin(op));
    FailureOr<DropoutMask> drawn = getDropoutMask(op, parameters, heads.getRowCount(), heads.keys, arithmetic);
    if (failed(drawn))
      return failure();
    heads.dropout = *drawn;
  }
  SmallVector<Array> results{Array::zeros(op.getResult().getType(), heads.getResultShape())};
  for (Type type : op.getStatistics().getTypes())
    results.push_back(Array::zeros(type, heads.q.getShape().drop_back()));
  FloatKind stored = results.front().floatKind();
  bool isRelaxed = options.relaxes(op.getQ().getType().getElementType(), op.getK().getType().getElementType(),
                                   op.getArithmeticType());
  bool isBitEqual = isExactMode() && options.hasFMA && !isRelaxed, isBounded = !isBitEqual && options.trackAccuracy;
  // Without fma each rounding becomes two. Matrix units cut off two bits more, and round 16 times more: each rounding
  // stands for at most 18 of those. The evaluator rounds itself in exact-type mode, and beside f64.
  AttentionJudge judge{arithmetic, stored,
                       (isRelaxed        ? 18.0
                        : options.hasFMA ? 1.0
                                         : 2.0) +
                           (isExactMode() || arithmetic == FloatKind::F64 ? 1.0 : 0.0)};
  SmallVector<Accuracy> accuracies(results.size(), Accuracy{Accuracy::Bounded, {}});
  SmallVector<MutableArrayRef<double>> values, limits;
  for (auto [result, accuracy] : llvm::zip_equal(results, accuracies)) {
    accuracy.bounds.resize(result.size());
    values.push_back(result.mutableFloats());
    limits.push_back(accuracy.bounds);
  }
  for (int64_t i = 0, rows = heads.getRowCount(); i != rows; ++i) {
    AttentionRow row = heads.getRow(i);
    AttendedRow attended = isExactMode() ? attendExactly(row, arithmetic) : attendWidely(row, arithmetic);
    for (double &value : attended.values)
      value = round(stored, value);
    storeRow(attended, i, values);
    if (isBounded)
      storeRow(boundAttention(row, attended, judge), i, limits);
  }
  for (auto [result, accuracy] : llvm::zip_equal(results, accuracies))
    result.setAccuracy(isBitEqual  ? nullptr
                       : isBounded ? std::make_shared<const Accuracy>(std::move(accuracy))
                                   : getToleranceAccuracy());
  return results;
}

Interpreter::Results Interpreter::evaluate(AppendOp op) {
  const Array &x = get(op.getX());
  Array result = get(op.getCache());
  result.setAccuracy(nullptr);
  ArrayRef<int64_t> added = x.getShape(), all = result.getShape();
  if (added[0] != all[0] || added[1] != all[1] || added[3] != all[3])
    return op.emitOpError() << "expected new keys of the cache's batch, heads and size, " << describe(result)
                            << ", but got " << describe(x);
  ArrayRef<int64_t> pasts = get(op.getPast()).integers();
  if (failed(checkPasts(op, pasts, all[0], added[2], all[2])))
    return failure();
  int64_t keys = added[2] * added[3], places = all[2] * all[3];
  for (int64_t i = 0, e = x.size(); i != e; ++i) {
    int64_t past = pasts[pasts.size() == 1 ? 0 : i / keys / all[1]];
    result.mutableFloats()[i / keys * places + past * all[3] + i % keys] = x.floats()[i];
  }
  return SmallVector<Array>{result};
}

} // namespace mlir::resid::reference
