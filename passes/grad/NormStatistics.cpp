// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NormStatistics.h.

#include "passes/grad/NormStatistics.h"

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

/// The product of sizes as a float.
static Value createCount(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> sizes, FloatType type) {
  int64_t count = 1;
  Value open;
  for (OpFoldResult size : sizes) {
    auto value = dyn_cast<Value>(size);
    if (!value)
      count *= *getConstantIntValue(size);
    else
      open = open ? Value(arith::MulIOp::create(builder, open, value)) : value;
  }
  if (!open)
    return arith::ConstantFloatOp::create(builder, type, roundToArithmetic(APFloat(double(count)), type));
  if (count != 1)
    open = arith::MulIOp::create(builder, open, arith::ConstantIndexOp::create(builder, count));
  Value integer = arith::IndexCastOp::create(builder, builder.getI64Type(), open);
  return arith::SIToFPOp::create(builder, type, integer);
}

namespace {
/// x with the groups of its columns as a dimension of their own, and how rows and elements are read.
struct Groups {
  Groups(Gradients &gradients, const NormParts &parts);

  /// x in this form.
  Value split(Gradients &gradients, Value x) const {
    return places.empty() ? x
                          : tensor::ExpandShapeOp::create(gradients.getBuilder(), type, x, places, sizes).getResult();
  }
  Value join(ImplicitLocOpBuilder &builder, RankedTensorType whole, Value split) const {
    return places.empty() ? split : tensor::CollapseShapeOp::create(builder, whole, split, places).getResult();
  }

  RankedTensorType type;
  SmallVector<OpFoldResult> sizes;
  /// Empty where there are no groups.
  SmallVector<ReassociationIndices> places;
  /// How many of the dimensions are those of a statistic.
  int64_t leading;
};
} // namespace

Groups::Groups(Gradients &gradients, const NormParts &parts)
    : type(cast<RankedTensorType>(parts.x.getType())), sizes(createSizes(gradients, parts.x)),
      leading(type.getRank() - parts.rank) {
  if (!parts.groups)
    return;
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  int64_t count = parts.getGroupCount(), last = type.getRank() - 1, width = type.getDimSize(last);
  for (int64_t place = 0; place != last; ++place)
    places.push_back({place});
  places.push_back({last, last + 1});
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = count;
  shape.push_back(ShapedType::isDynamic(width) ? width : width / count);
  OpFoldResult inGroup = builder.getIndexAttr(shape.back());
  if (auto open = dyn_cast<Value>(sizes.back()))
    inGroup = arith::DivUIOp::create(builder, open, arith::ConstantIndexOp::create(builder, count)).getResult();
  sizes.back() = builder.getIndexAttr(count);
  sizes.push_back(inGroup);
  type = type.clone(shape);
  ++leading;
}

void resid::addStatisticsGradient(Gradients &gradients, const NormParts &parts, ValueRange statistics) {
  Value mean, correction, rstd;
  for (auto [kind, statistic] : llvm::zip(getNormRule(parts.kind).statistics, statistics))
    (kind == NormStatistic::Mean ? mean : kind == NormStatistic::Rstd ? rstd : correction) = statistic;
  Value dmean = mean ? gradients.get(mean) : Value(), drstd = rstd ? gradients.get(rstd) : Value();
  if (!gradients.isNeeded(parts.x) || (!dmean && !drstd))
    return;
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  Groups groups(gradients, parts);
  auto whole = cast<RankedTensorType>(parts.x.getType());
  FloatType arithmetic = getArithmeticType(whole.getElementType());
  unsigned rank = groups.type.getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap ofRow = AffineMap::get(rank, 0, identity.getResults().take_front(groups.leading), builder.getContext());
  Value count = createCount(builder, ArrayRef(groups.sizes).drop_front(groups.leading), arithmetic);

  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  auto read = [&](Value tensor, AffineMap map) { return convertElements(inner, body.read(tensor, map), arithmetic); };
  Value element;
  if (drstd) {
    Value r = read(gradients.getPrimal(rstd), ofRow);
    element = read(groups.split(gradients, gradients.getPrimal(parts.x)), identity);
    for (Value part : {mean, correction})
      if (part)
        element = arith::SubFOp::create(inner, element, read(gradients.getPrimal(part), ofRow));
    Value cube = arith::MulFOp::create(inner, arith::MulFOp::create(inner, r, r), r);
    Value factor = arith::MulFOp::create(inner, read(drstd, ofRow), cube);
    element = arith::NegFOp::create(inner, arith::MulFOp::create(inner, factor, element));
  }
  if (dmean) {
    Value d = read(dmean, ofRow);
    element = element ? Value(arith::AddFOp::create(inner, d, element)) : d;
  }
  element = arith::DivFOp::create(inner, element, count);
  Value empty = tensor::EmptyOp::create(builder, groups.sizes, whole.getElementType());
  body.addResult(empty, identity);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  linalg::GenericOp created = body.finish(loops, convertElements(inner, element, whole.getElementType()));
  Value made = created.getResult(0);
  if (made.getType() != groups.type)
    made = tensor::CastOp::create(builder, groups.type, made);
  gradients.add(parts.x, groups.join(builder, whole, made));
}
