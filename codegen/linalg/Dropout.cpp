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

static Value createI64(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantIntOp::create(builder, value, 64);
}

static Value compare(ImplicitLocOpBuilder &builder, arith::CmpIPredicate predicate, Value left, Value right) {
  return arith::CmpIOp::create(builder, predicate, left, right);
}

static void require(ImplicitLocOpBuilder &builder, Value condition, const Twine &what, const Twine &expected,
                    Value value) {
  std::string text = (what + " of dropout is {0}, expected " + expected).str();
  rows::RequireOp::create(builder, condition, RESID_BAD_VALUE, text, value);
}

/// Requires 0 ≤ value < limit: one unsigned comparison, since a negative value is a large unsigned one.
static void requireBelow(ImplicitLocOpBuilder &builder, StringRef what, Value value, int64_t limit) {
  Value inside = compare(builder, arith::CmpIPredicate::ult, value, createI64(builder, limit));
  require(builder, inside, what, "0 to " + Twine(limit - 1), value);
}

/// A product of sizes as i64: of the leading ones the number of rows.
static Value createCount(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> sizes) {
  Value count = createI64(builder, 1);
  for (OpFoldResult size : sizes) {
    Value index = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size);
    Value extent = arith::IndexCastOp::create(builder, builder.getI64Type(), index);
    count = arith::MulIOp::create(builder, count, extent);
  }
  return count;
}

/// Requires 1 ≤ local ≤ global ≤ 2^32, and gives back an extent by which can be divided even if they are not.
static std::pair<Value, Value> requireExtent(ImplicitLocOpBuilder &builder, const DropoutOrigin &origin) {
  using arith::CmpIPredicate;
  Value one = createI64(builder, 1), limit = createI64(builder, dropoutWordLimit);
  Value isLarge = compare(builder, CmpIPredicate::sge, origin.local, one);
  require(builder, isLarge, "local extent", "1 or more", origin.local);
  Value isSmall = compare(builder, CmpIPredicate::sle, origin.local, origin.global);
  require(builder, isSmall, "local extent", "the global extent at most", origin.local);
  Value fits = compare(builder, CmpIPredicate::sle, origin.global, limit);
  require(builder, fits, "global extent", Twine(dropoutWordLimit) + " at most", origin.global);
  return {arith::MaxSIOp::create(builder, origin.local, one), arith::MaxSIOp::create(builder, origin.global, one)};
}

/// Rows after the first one of the site: where the last of `count` rows of a shard stands in the whole. Requires that
/// it can be told in 64 bits.
static Value createLastRow(ImplicitLocOpBuilder &builder, const DropoutWords &words, Value count) {
  Value one = createI64(builder, 1);
  Value last = arith::SubIOp::create(builder, arith::MaxSIOp::create(builder, count, one), one);
  Value group = arith::DivUIOp::create(builder, last, words.local);
  Value groups = arith::DivUIOp::create(builder, createI64(builder, dropoutWordLimit - 1), words.global);
  require(builder, compare(builder, arith::CmpIPredicate::ule, group, groups), "number of rows",
          "a whole of " + Twine(dropoutWordLimit) + " rows at most", count);
  Value before = arith::MulIOp::create(builder, group, words.global);
  return arith::AddIOp::create(builder, before, arith::RemUIOp::create(builder, last, words.local));
}

/// Step, site and every row must fit the generator's 32-bit counter words.
static void requireCounters(ImplicitLocOpBuilder &builder, const DropoutSite &site, const DropoutWords &words,
                            ArrayRef<OpFoldResult> leading) {
  requireBelow(builder, "step", site.step, dropoutWordLimit);
  if (site.origin.site)
    requireBelow(builder, "site", words.site, dropoutWordLimit);
  if (site.origin.row)
    requireBelow(builder, "first row", words.row, dropoutWordLimit);
  bool rowsKnown = llvm::all_of(leading, [](OpFoldResult size) { return isa<Attribute>(size); });
  if (!site.origin.row && rowsKnown)
    return;
  // With addends below 2^47 the sum cannot wrap; one past the last row may be 2^32 itself.
  Value end = createCount(builder, leading);
  if (words.local)
    end = arith::AddIOp::create(builder, createLastRow(builder, words, end), createI64(builder, 1));
  requireBelow(builder, "end of the rows", arith::AddIOp::create(builder, words.row, end), dropoutWordLimit + 1);
}

/// The first column must begin a call, and all of them must fit the counter word of calls. Gives the first call.
static Value requireColumns(ImplicitLocOpBuilder &builder, Value column, OpFoldResult columns) {
  Value within = arith::AndIOp::create(builder, column, createI64(builder, dropoutColumnsPerCall - 1));
  require(builder, compare(builder, arith::CmpIPredicate::eq, within, createI64(builder, 0)), "first column",
          "a multiple of " + Twine(dropoutColumnsPerCall), column);
  requireBelow(builder, "first column", column, dropoutColumnLimit);
  Value end = arith::AddIOp::create(builder, column, createCount(builder, columns));
  requireBelow(builder, "end of the columns", end, dropoutColumnLimit + 1);
  return arith::ShRUIOp::create(builder, column, createI64(builder, llvm::Log2_64(dropoutColumnsPerCall)));
}

DropoutWords resid::lowerDropoutWords(ImplicitLocOpBuilder &builder, const DropoutSite &site,
                                      ArrayRef<OpFoldResult> sizes) {
  const DropoutOrigin &origin = site.origin;
  DropoutWords words;
  words.row = origin.row ? origin.row : createI64(builder, 0);
  words.site = createI64(builder, site.site);
  if (origin.site)
    words.site = arith::AddIOp::create(builder, words.site, origin.site);
  if (origin.local)
    std::tie(words.local, words.global) = requireExtent(builder, origin);
  requireCounters(builder, site, words, sizes.drop_back());
  if (origin.col)
    words.call = requireColumns(builder, origin.col, sizes.back());
  return words;
}

Value resid::lowerDropout(ImplicitLocOpBuilder &builder, Value x, const DropoutSite &site) {
  // p so small that nothing is dropped: the identity, as the op's fold has it.
  if (site.threshold == 0)
    return x;
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  DropoutWords words = lowerDropoutWords(builder, site, sizes);

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
                                              words.row, words.site, words.call, words.local, words.global, dims);
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
    DropoutSite site{adaptor.getSeed(), adaptor.getStep(), getDropoutOrigin(adaptor),
                     static_cast<int64_t>(op.getSite()), op.getThreshold()};
    rewriter.replaceOp(op, lowerDropout(builder, adaptor.getX(), site));
    return success();
  }
};
} // namespace

void resid::populateDropoutToLinalg(RewritePatternSet &patterns) { patterns.add<LowerDropout>(patterns.getContext()); }
