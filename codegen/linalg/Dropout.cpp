// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Dropout: mask and scale from random halves, and the run-time conditions on step, site and row.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/DropoutScheme.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

static constexpr int64_t wordLimit = int64_t(1) << 32;

static Value createI64(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantIntOp::create(builder, value, 64);
}

/// Requires 0 ≤ value < limit: one unsigned comparison, since a negative value is a large unsigned one.
static void requireBelow(ImplicitLocOpBuilder &builder, StringRef what, Value value, int64_t limit) {
  Value inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, value, createI64(builder, limit));
  std::string text = (what + " of dropout is {0}, expected 0 to " + Twine(limit - 1)).str();
  rows::RequireOp::create(builder, inside, RESID_BAD_VALUE, text, value);
}

/// The number of rows (the leading dimensions, flattened), as i64.
static Value createRowCount(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> leading) {
  Value count = createI64(builder, 1);
  for (OpFoldResult size : leading) {
    Value index = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size);
    Value extent = arith::IndexCastOp::create(builder, builder.getI64Type(), index);
    count = arith::MulIOp::create(builder, count, extent);
  }
  return count;
}

/// Step, site and every row must fit the generator's 32-bit counter words.
static void requireCounters(ImplicitLocOpBuilder &builder, const DropoutSite &site, Value row, Value siteWord,
                            ArrayRef<OpFoldResult> leading) {
  requireBelow(builder, "step", site.step, wordLimit);
  if (site.originSite)
    requireBelow(builder, "site", siteWord, wordLimit);
  if (site.originRow)
    requireBelow(builder, "first row", row, wordLimit);
  // With both addends below 2^47 the sum cannot wrap; one past the last row may be 2^32 itself.
  bool rowsKnown = llvm::all_of(leading, [](OpFoldResult size) { return isa<Attribute>(size); });
  if (site.originRow || !rowsKnown)
    requireBelow(builder, "end of the rows", arith::AddIOp::create(builder, row, createRowCount(builder, leading)),
                 wordLimit + 1);
}

DropoutWords resid::lowerDropoutWords(ImplicitLocOpBuilder &builder, const DropoutSite &site,
                                      ArrayRef<OpFoldResult> leading) {
  DropoutWords words{site.originRow ? site.originRow : createI64(builder, 0), createI64(builder, site.site)};
  if (site.originSite)
    words.site = arith::AddIOp::create(builder, words.site, site.originSite);
  requireCounters(builder, site, words.row, words.site, leading);
  return words;
}

Value resid::lowerDropout(ImplicitLocOpBuilder &builder, Value x, const DropoutSite &site) {
  // p so small that nothing is dropped: the identity, as the op's fold has it.
  if (site.threshold == 0)
    return x;
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  DropoutWords words = lowerDropoutWords(builder, site, ArrayRef(sizes).drop_back());

  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  if (site.threshold == dropoutDropsAll) {
    auto zeros = [&](ImplicitLocOpBuilder &inner, ValueRange) -> SmallVector<Value> {
      return {createConstant(inner, arithmetic, 0.0)};
    };
    return createElementwise(builder, {}, sizes, type, arithmetic, zeros).front();
  }

  SmallVector<Value> dims;
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      dims.push_back(getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
  Value halves = rows::RandomHalvesOp::create(builder, type.clone(builder.getI32Type()), site.seed, site.step,
                                              words.row, words.site, dims);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value threshold = arith::ConstantIntOp::create(inner, site.threshold, 32);
    Value keep = arith::CmpIOp::create(inner, arith::CmpIPredicate::uge, elements[1], threshold);
    Value scale = createConstant(inner, arithmetic, getDropoutScale(site.threshold));
    Value kept = arith::MulFOp::create(inner, elements[0], scale);
    return {arith::SelectOp::create(inner, keep, kept, createConstant(inner, arithmetic, 0.0))};
  };
  return createElementwise(builder, {{x, identity}, {halves, identity}}, sizes, type, arithmetic, body).front();
}

namespace {
struct LowerDropout : OpConversionPattern<DropoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DropoutOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    DropoutSite site{adaptor.getSeed(),
                     adaptor.getStep(),
                     adaptor.getOriginRow(),
                     adaptor.getOriginSite(),
                     static_cast<int64_t>(op.getSite()),
                     op.getThreshold()};
    rewriter.replaceOp(op, lowerDropout(builder, adaptor.getX(), site));
    return success();
  }
};
} // namespace

void resid::populateDropoutToLinalg(RewritePatternSet &patterns) { patterns.add<LowerDropout>(patterns.getContext()); }
