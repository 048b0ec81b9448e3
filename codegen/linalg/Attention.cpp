// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Attention: attention becomes one kernel, its backward too, an append an insertion. Their
// run-time conditions are here.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/KeyRanges.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/DropoutScheme.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

static constexpr int64_t kBatch = 0, kHeads = 1, kKeys = 2;

/// Requires that `added` keys fit after `past` others; gives back the latter, or 0 where they do not. Numbers of
/// samples stay.
static Value requirePlaces(Code &builder, StringRef name, Value past, Value added, Value places) {
  if (isa<RankedTensorType>(past.getType())) {
    std::string none = ("a past of " + name + " is negative, or its cache has no place for the new keys").str();
    requirePasts(builder, none, past, added, places);
    return past;
  }
  Value isCount = builder.compare(arith::CmpIPredicate::sge, past, 0);
  rows::RequireOp::create(builder, isCount, RESID_BAD_VALUE, ("past of " + name + " is {0}, expected 0 or more").str(),
                          past);
  Value fits = builder.isAtMost(past, builder.subtract(places, added));
  std::string text = ("the cache of " + name +
                      " is full: past is {0}, and with the new keys that is more than it has "
                      "places")
                         .str();
  rows::RequireOp::create(builder, fits, RESID_BAD_VALUE, text, past);
  return builder.select(builder.both(isCount, fits), past, 0);
}

/// Where both numbers of heads are known, the verifier compared them.
static void requireHeads(Code &builder, OpFoldResult heads, OpFoldResult keyHeads) {
  if (!isa<Value>(heads) && !isa<Value>(keyHeads))
    return;
  Value all = toI64(builder, heads), some = toI64(builder, keyHeads);
  Value divides = builder.isEqual(builder.remainder(all, builder.max(some, 1)), 0);
  Value isThere = builder.either(builder.compare(arith::CmpIPredicate::ne, some, 0), builder.isEqual(all, 0));
  rows::RequireOp::create(builder, builder.both(divides, isThere), RESID_BAD_SHAPE,
                          "heads of q in attention are {0}, expected a multiple of those of k", all);
}

/// Those of queries, keys and statistics, and of the operands q, k, v, the mask, the sink and the ranges.
struct OperandMaps {
  AffineMap queries, keys, statistics;
  SmallVector<AffineMap> operands;
};

template <typename OpTy> static OperandMaps getMaps(OpTy op, size_t ranges) {
  MLIRContext *context = op.getContext();
  auto getMap = [&](ArrayRef<unsigned> loops) {
    return AffineMap::getMultiDimMapWithTargets(attention::kLoops, loops, context);
  };
  AffineMap queries = getMap({attention::kBatch, attention::kHead, attention::kQuery, attention::kColumn});
  AffineMap keys = getMap({attention::kBatch, attention::kHead, attention::kKey, attention::kColumn});
  AffineMap statistics = getMap({attention::kBatch, attention::kHead, attention::kQuery});
  OperandMaps maps{queries, keys, statistics, {queries, keys, keys}};
  if (op.getMask()) {
    AffineMap scores = getMap({attention::kBatch, attention::kHead, attention::kQuery, attention::kKey});
    SmallVector<AffineExpr> results;
    ArrayRef<int64_t> shape = op.getMask().getType().getShape();
    for (auto [size, expression] : llvm::zip_equal(shape, scores.getResults().take_back(shape.size())))
      results.push_back(size == 1 ? getAffineConstantExpr(0, context) : expression);
    maps.operands.push_back(AffineMap::get(attention::kLoops, 0, results, context));
  }
  if (op.getSink())
    maps.operands.push_back(getMap(attention::kHead));
  maps.operands.append(ranges, getMap({attention::kBatch, attention::kQuery}));
  return maps;
}

/// Which keys queries see, as a kernel has it: by rules for all of them, or by ranges.
struct Visibility {
  UnitAttr causal;
  IntegerAttr window;
  Value past;
  SmallVector<Value> ranges;
};

template <typename OpTy>
static Visibility lowerVisibility(Code &builder, OpTy op, typename OpTy::Adaptor adaptor, Value past,
                                  ArrayRef<OpFoldResult> queries, ArrayRef<OpFoldResult> keys) {
  Visibility visibility{adaptor.getCausalAttr(), {}, past, {}};
  SeenKeys seen(op.getCausal(), op.getWindowOrZero());
  RangeSizes sizes{queries[kBatch], queries[kKeys], keys[kKeys]};
  if (op.hasSegments())
    visibility.ranges =
        createRangesOfSegments(builder, seen, sizes, adaptor.getQuerySegments(), adaptor.getKeySegments());
  else if (past && isa<RankedTensorType>(past.getType()))
    visibility.ranges = createRangesOfCaches(builder, seen, sizes, past);
  else if (op.getWindowAttr())
    visibility.window = builder.getI64IntegerAttr(op.getWindowOrZero());
  if (!visibility.ranges.empty())
    visibility.causal = {}, visibility.past = {};
  return visibility;
}

/// Seed, step, first row and site, in a shard also the first call of a row and the extent; nothing where no weight is
/// dropped.
template <typename OpTy>
static SmallVector<Value> lowerDropout(Code &builder, OpTy op, typename OpTy::Adaptor adaptor,
                                       ArrayRef<OpFoldResult> queries, OpFoldResult keys) {
  if (op.getThreshold() == 0)
    return {};
  DropoutSite site{adaptor.getSeed(), adaptor.getStep(), getDropoutOrigin(adaptor), static_cast<int64_t>(*op.getSite()),
                   op.getThreshold()};
  SmallVector<OpFoldResult> scores(queries.drop_back());
  scores.push_back(keys);
  DropoutWords words = lowerDropoutWords(builder, site, scores);
  SmallVector<Value> all = {site.seed, site.step, words.row, words.site};
  if (!words.call && !words.local)
    return all;
  all.push_back(words.call ? words.call : builder.constant(0));
  all.push_back(words.local ? words.local : builder.constant(1));
  all.push_back(words.global ? words.global : builder.constant(1));
  return all;
}

namespace {
struct LowerAttention : OpConversionPattern<AttentionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AttentionOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    SmallVector<OpFoldResult> queries = getSizes(builder, adaptor.getQ()), keys = getSizes(builder, adaptor.getK());
    requireHeads(builder, queries[kHeads], keys[kHeads]);
    Value past = adaptor.getPast();
    if (past)
      past = requirePlaces(builder, "attention", past, toI64(builder, queries[kKeys]), toI64(builder, keys[kKeys]));
    Visibility visibility = lowerVisibility(builder, op, adaptor, past, queries, keys);
    SmallVector<Value> dropout = lowerDropout(builder, op, adaptor, queries, keys[kKeys]);
    int64_t threshold = op.getThreshold();
    SmallVector<Value> inits;
    SmallVector<OpFoldResult> rows(queries);
    rows.back() = builder.getIndexAttr(op.getV().getType().getShape().back());
    for (Type type : op->getResultTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      inits.push_back(
          tensor::EmptyOp::create(builder, ArrayRef(rows).take_front(tensor.getRank()), tensor.getElementType()));
    }
    OperandMaps maps = getMaps(op, visibility.ranges.size());
    maps.operands.push_back(maps.queries);
    maps.operands.append(op.getStatistics().size(), maps.statistics);
    auto kernel = attention::KernelOp::create(
        builder, op->getResultTypes(), adaptor.getQ(), adaptor.getK(), adaptor.getV(), adaptor.getMask(),
        adaptor.getSink(), visibility.past, visibility.ranges, dropout, inits,
        /*scratch=*/Value(), builder.getAffineMapArrayAttr(maps.operands), builder.getF64FloatAttr(op.getScoreScale()),
        visibility.causal, visibility.window, adaptor.getCapAttr(),
        dropout.empty() ? IntegerAttr() : builder.getI64IntegerAttr(threshold),
        dropout.empty() ? FloatAttr() : builder.getF64FloatAttr(getDropoutScale(threshold)));
    rewriter.replaceOp(op, kernel.getResults());
    return success();
  }
};

struct LowerAttentionGrad : OpConversionPattern<AttentionGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AttentionGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    SmallVector<OpFoldResult> queries = getSizes(builder, adaptor.getQ()), keys = getSizes(builder, adaptor.getK());
    requireHeads(builder, queries[kHeads], keys[kHeads]);
    Visibility visibility = lowerVisibility(builder, op, adaptor, /*past=*/Value(), queries, keys);
    SmallVector<Value> dropout = lowerDropout(builder, op, adaptor, queries, keys[kKeys]);
    SmallVector<Value> inits;
    for (Value like : {adaptor.getQ(), adaptor.getK(), adaptor.getV()})
      inits.push_back(tensor::EmptyOp::create(builder, getSizes(builder, like), getElementTypeOrSelf(like.getType())));
    OperandMaps maps = getMaps(op, visibility.ranges.size());
    maps.operands.append({maps.queries, maps.statistics, maps.statistics, maps.queries, maps.keys, maps.keys});
    if (op.getSink()) {
      OpFoldResult sizes[] = {queries[0], queries[2], queries[kHeads]};
      inits.push_back(tensor::EmptyOp::create(builder, sizes, op.getArithmeticType()));
      maps.operands.push_back(AffineMap::getMultiDimMapWithTargets(
          attention::kLoops, {attention::kBatch, attention::kQuery, attention::kHead}, op.getContext()));
    }
    int64_t threshold = op.getThreshold();
    auto kernel = attention::BackwardOp::create(
        builder, op->getResultTypes(), adaptor.getQ(), adaptor.getK(), adaptor.getV(), adaptor.getMask(),
        adaptor.getSink(), visibility.ranges, adaptor.getDy(), adaptor.getMax(), adaptor.getSum(), dropout, inits,
        /*scratch=*/Value(), builder.getAffineMapArrayAttr(maps.operands), builder.getF64FloatAttr(op.getScoreScale()),
        visibility.causal, visibility.window, adaptor.getCapAttr(),
        dropout.empty() ? IntegerAttr() : builder.getI64IntegerAttr(threshold),
        dropout.empty() ? FloatAttr() : builder.getF64FloatAttr(getDropoutScale(threshold)));
    rewriter.replaceOp(op, kernel.getResults());
    return success();
  }
};

/// An argument may not be written. Its copy may be computed where a result belongs, and a caller who gives one array
/// for both has nothing copied.
static bool isArgument(Value tensor) {
  auto function = dyn_cast<func::FuncOp>(tensor.getParentBlock()->getParentOp());
  return (isa<BlockArgument>(tensor) && function) || tensor.getDefiningOp<bufferization::ToTensorOp>();
}

/// New keys of each sample go to places of their own. A sample whose keys do not fit gets none.
static Value appendToSamples(Code &builder, Value x, Value cache, Value pasts, Value places) {
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  auto getEnd = [&](int64_t dimension) {
    return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), sizes[dimension]);
  };
  Value none = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  auto addSample = [&](Value sample, ValueRange before) {
    Value past = builder.create<tensor::ExtractOp>(pasts, sample);
    Value fits = fitsPast(builder, past, toI64(builder, sizes[kKeys]), places);
    Value begin = arith::IndexCastOp::create(builder, builder.getIndexType(), past);
    Value added = builder.select(fits, getEnd(kKeys), none);
    return builder.loop(none, getEnd(kHeads), one, before, [&](Value head, ValueRange ofHead) {
      return builder.loop(none, added, one, ofHead, [&](Value key, ValueRange ofKey) {
        Value place = builder.add(begin, key);
        return builder.loop(none, getEnd(3), one, ofKey, [&](Value column, ValueRange all) -> SmallVector<Value> {
          Value number = builder.create<tensor::ExtractOp>(x, ValueRange{sample, head, key, column});
          return {builder.create<tensor::InsertOp>(number, all.front(), ValueRange{sample, head, place, column})};
        });
      });
    });
  };
  return builder.loop(none, getEnd(kBatch), one, cache, addSample).front();
}

struct LowerAppend : OpConversionPattern<AppendOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AppendOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes = getSizes(builder, adaptor.getX());
    SmallVector<OpFoldResult> places = getSizes(builder, adaptor.getCache());
    Value past = requirePlaces(builder, "append", adaptor.getPast(), toI64(builder, sizes[kKeys]),
                               toI64(builder, places[kKeys]));
    Value cache = adaptor.getCache();
    if (isArgument(cache)) {
      Value empty = tensor::EmptyOp::create(builder, places, op.getCache().getType().getElementType());
      cache = linalg::CopyOp::create(builder, cache, empty).getResult(0);
    }
    if (isa<RankedTensorType>(past.getType())) {
      rewriter.replaceOp(op, appendToSamples(builder, adaptor.getX(), cache, past, toI64(builder, places[kKeys])));
      return success();
    }
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
        strides(sizes.size(), builder.getIndexAttr(1));
    offsets[kKeys] = OpFoldResult(arith::IndexCastOp::create(builder, builder.getIndexType(), past));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, adaptor.getX(), cache, offsets, sizes, strides);
    return success();
  }
};
} // namespace

void resid::populateAttentionToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerAttention, LowerAttentionGrad, LowerAppend>(patterns.getContext());
}
