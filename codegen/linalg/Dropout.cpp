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

static void require(Code &builder, Value condition, const Twine &what, const Twine &expected, Value value) {
  std::string text = (what + " of dropout is {0}, expected " + expected).str();
  rows::RequireOp::create(builder, condition, RESID_BAD_VALUE, text, value);
}

/// Requires 0 ≤ value < limit: one unsigned comparison, since a negative value is a large unsigned one.
static void requireBelow(Code &builder, StringRef what, Value value, int64_t limit) {
  Value inside = builder.compare(arith::CmpIPredicate::ult, value, limit);
  require(builder, inside, what, "0 to " + Twine(limit - 1), value);
}

/// A product of sizes as i64: of the leading ones the number of rows.
static Value createCount(Code &builder, ArrayRef<OpFoldResult> sizes) {
  Value count = builder.constant(1);
  for (OpFoldResult size : sizes)
    count = builder.multiply(count, toI64(builder, size));
  return count;
}

/// Requires 1 ≤ local ≤ global ≤ 2^32, and gives back an extent by which can be divided even if they are not.
static std::pair<Value, Value> requireExtent(Code &builder, const DropoutOrigin &origin) {
  Value isLarge = builder.compare(arith::CmpIPredicate::sge, origin.local, 1);
  require(builder, isLarge, "local extent", "1 or more", origin.local);
  Value isSmall = builder.isAtMost(origin.local, origin.global);
  require(builder, isSmall, "local extent", "the global extent at most", origin.local);
  Value fits = builder.isAtMost(origin.global, dropoutWordLimit);
  require(builder, fits, "global extent", Twine(dropoutWordLimit) + " at most", origin.global);
  return {builder.max(origin.local, 1), builder.max(origin.global, 1)};
}

/// Rows after the first one of the site: where the last of `count` rows of a shard stands in the whole. Requires that
/// it can be told in 64 bits.
static Value createLastRow(Code &builder, const DropoutWords &words, Value count) {
  Value last = builder.subtract(builder.max(count, 1), 1);
  Value group = builder.divide(last, words.local);
  Value groups = builder.divide(dropoutWordLimit - 1, words.global);
  require(builder, builder.compare(arith::CmpIPredicate::ule, group, groups), "number of rows",
          "a whole of " + Twine(dropoutWordLimit) + " rows at most", count);
  Value before = builder.multiply(group, words.global);
  return builder.add(before, builder.remainder(last, words.local));
}

/// Step, site and every row must fit the generator's 32-bit counter words.
static void requireCounters(Code &builder, const DropoutSite &site, const DropoutWords &words,
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
    end = builder.add(createLastRow(builder, words, end), 1);
  requireBelow(builder, "end of the rows", builder.add(words.row, end), dropoutWordLimit + 1);
}

/// The first column must begin a call, and all of them must fit the counter word of calls. Gives the first call.
static Value requireColumns(Code &builder, Value column, OpFoldResult columns) {
  Value within = builder.both(column, dropoutColumnsPerCall - 1);
  require(builder, builder.isEqual(within, 0), "first column", "a multiple of " + Twine(dropoutColumnsPerCall), column);
  requireBelow(builder, "first column", column, dropoutColumnLimit);
  Value end = builder.add(column, createCount(builder, columns));
  requireBelow(builder, "end of the columns", end, dropoutColumnLimit + 1);
  return builder.shiftRight(column, llvm::Log2_64(dropoutColumnsPerCall));
}

DropoutWords resid::lowerDropoutWords(Code &builder, const DropoutSite &site, ArrayRef<OpFoldResult> sizes) {
  const DropoutOrigin &origin = site.origin;
  DropoutWords words;
  words.row = origin.row ? origin.row : builder.constant(0);
  words.site = builder.constant(site.site);
  if (origin.site)
    words.site = builder.add(words.site, origin.site);
  if (origin.local)
    std::tie(words.local, words.global) = requireExtent(builder, origin);
  requireCounters(builder, site, words, sizes.drop_back());
  if (origin.col)
    words.call = requireColumns(builder, origin.col, sizes.back());
  return words;
}

Value resid::lowerDropout(Code &builder, Value x, const DropoutSite &site) {
  // p so small that nothing is dropped: the identity, as the op's fold has it.
  if (site.threshold == 0)
    return x;
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  DropoutWords words = lowerDropoutWords(builder, site, sizes);

  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  if (site.threshold == dropoutDropsAll) {
    auto zeros = [&](Code &inner, ValueRange) -> SmallVector<Value> {
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
  auto body = [&](Code &inner, ValueRange elements) {
    Value keep = inner.compare(arith::CmpIPredicate::uge, elements[1], site.threshold);
    Value kept = inner.multiply(elements[0], getDropoutScale(site.threshold));
    return inner.select(keep, kept, 0.0);
  };
  return createElementwise(builder, {{x, identity}, {halves, identity}}, sizes, type, arithmetic, body);
}

namespace {
struct LowerDropout : OpConversionPattern<DropoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DropoutOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    DropoutSite site{adaptor.getSeed(), adaptor.getStep(), getDropoutOrigin(adaptor),
                     static_cast<int64_t>(op.getSite()), op.getThreshold()};
    rewriter.replaceOp(op, lowerDropout(builder, adaptor.getX(), site));
    return success();
  }
};
} // namespace

void resid::populateDropoutToLinalg(RewritePatternSet &patterns) { patterns.add<LowerDropout>(patterns.getContext()); }
