// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/connection/Connections.h"

#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/connection/RowArithmetic.h"
#include "passes/placement/NormParameters.h"

using namespace mlir;
using namespace mlir::resid;

/// What is added to coefficients, and to each division of Sinkhorn's iterations.
static constexpr double kCoefficientEpsilon = 1e-6;
/// That of the norm of all streams in a projection.
static constexpr double kProjectEpsilon = 1e-6;
static constexpr int64_t kSinkhornIterations = 20;

/// Whether x/n + … + x/n, by one fma after the other, is x for every x whose quarter is a normal number. Three quarters
/// are rounded by at most half of the last digit of x; where it is half of it, that digit is even, and the last sum,
/// which lies between x and a neighbour, is rounded back to x.
static bool sumsExactly(int64_t streams) { return streams == 2 || streams == 4; }

RewriteClass resid::getWideningClass(ConnectionKind kind, int64_t streams) {
  bool isSum = kind == ConnectionKind::Static || kind == ConnectionKind::Gated;
  return isSum && sumsExactly(streams) ? RewriteClass::BitExact : RewriteClass::Exact;
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

static double logit(double probability) { return std::log(probability / (1.0 - probability)); }

/// What the columns of a mix of equal logits sum to. All its elements stay equal, so one stands for them.
static double getFirstColumnSum(int64_t streams) {
  double n = static_cast<double>(streams), element = 1.0 / n + kCoefficientEpsilon;
  for (int64_t division = 0; division != 2 * kSinkhornIterations - 1; ++division)
    element /= n * element + kCoefficientEpsilon;
  return n * element;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

FloatType ConnectionBuilder::getType() const { return getArithmeticType(streams.getElementType()); }

Value ConnectionBuilder::addParameter(Type element, const std::string &parameter, StringRef place,
                                      ArrayRef<int64_t> shape, ParameterChange initial) {
  Value argument = addArgument(function, RankedTensorType::get(shape, element), parameter);
  initial.name = getParameterName(argument);
  initial.action = ParameterAction::New;
  initial.to = place.str();
  initial.shape.assign(shape.begin(), shape.end());
  conversion.parameters.push_back(std::move(initial));
  return argument;
}

Value ConnectionBuilder::addParameter(const std::string &parameter, StringRef place, ArrayRef<int64_t> shape,
                                      std::vector<double> initial) {
  ParameterChange change{};
  change.initial = std::move(initial);
  return addParameter(getType(), parameter, place, shape, std::move(change));
}

//===----------------------------------------------------------------------===//
// Coefficients from a projection
//===----------------------------------------------------------------------===//

/// `count` elements from `first` on of the last dimension.
static Value sliceLast(OpBuilder &builder, Location loc, Value value, int64_t first, int64_t count) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  offsets.back() = builder.getIndexAttr(first);
  sizes.back() = builder.getIndexAttr(count);
  return tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes, strides);
}

/// z·scale + base, where the base runs along the last dimension.
static Value scaleAndShift(OpBuilder &builder, Location loc, Value z, Value scale, Value base) {
  unsigned rank = cast<RankedTensorType>(z.getType()).getRank();
  MLIRContext *context = builder.getContext();
  AffineMap maps[] = {AffineMap::get(rank, 0, context), AffineMap::getMinorIdentityMap(rank, 1, context)};
  return mapElements(builder, loc, z, {scale, base}, maps, [&](OpBuilder &inner, ValueRange values) {
    Value product = arith::MulFOp::create(inner, loc, values[0], values[1]);
    return arith::AddFOp::create(inner, loc, product, values[2]).getResult();
  });
}

/// `parts` of read, write and mix, whose bases are `values`.
ConnectionCoefficients ConnectionBuilder::createProjected(OpBuilder &builder, Location loc, Value x,
                                                          const std::string &prefix, StringRef place, int64_t parts,
                                                          ArrayRef<double> values) {
  int64_t n = getCount(), sizes[] = {n, n, n * n}, rows = 0;
  std::vector<double> bases;
  for (int64_t part = 0; part != parts; ++part) {
    rows += sizes[part];
    bases.insert(bases.end(), sizes[part], values[part]);
  }
  Value weight = addParameter(prefix + "weight", place, {rows, n * streams.getShape().back()}, {0.0});
  Value scales = addParameter(prefix + "scale", place, {parts}, {1.0});
  Value base = addParameter(prefix + "base", place, {rows}, bases);
  Value z = ProjectOp::create(builder, loc, x, weight, kProjectEpsilon, /*withRstd=*/false).getZ();
  Value made[3];
  int64_t first = 0;
  for (int64_t part = 0; part != parts; ++part) {
    Value scale = tensor::CollapseShapeOp::create(builder, loc, sliceLast(builder, loc, scales, part, 1),
                                                  ArrayRef<ReassociationIndices>());
    Value shifted = scaleAndShift(builder, loc, sliceLast(builder, loc, z, first, sizes[part]), scale,
                                  sliceLast(builder, loc, base, first, sizes[part]));
    made[part] = splitLast(builder, loc, shifted, n, sizes[part] / n);
    first += sizes[part];
  }
  double writeOffset = kind == ConnectionKind::IHC ? kCoefficientEpsilon : 0.0;
  made[0] = squash(builder, loc, made[0], /*factor=*/1.0, kCoefficientEpsilon);
  if (made[1])
    made[1] = squash(builder, loc, made[1], /*factor=*/2.0, writeOffset);
  if (made[2])
    made[2] =
        SinkhornOp::create(builder, loc, made[2].getType(), made[2], builder.getI64IntegerAttr(kSinkhornIterations),
                           builder.getF64FloatAttr(kCoefficientEpsilon));
  return {made[0], made[1], made[2]};
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// What static weights of a read begin with: equal parts where their sum is exact, else the first stream.
static std::vector<double> getStaticRead(int64_t streams) {
  if (sumsExactly(streams))
    return {1.0 / static_cast<double>(streams)};
  std::vector<double> first(streams, 0.0);
  first.front() = 1.0;
  return first;
}

ConnectionCoefficients ConnectionBuilder::create(OpBuilder &builder, Location loc, Value x, size_t index) {
  int64_t n = getCount();
  std::string place = "connection " + std::to_string(index);
  std::string prefix = name + "connection_" + std::to_string(index) + "_";
  double share = 1.0 / static_cast<double>(n), e = kCoefficientEpsilon;
  switch (kind) {
  case ConnectionKind::Static: {
    Value read = addParameter(prefix + "read", place, {n, 1}, getStaticRead(n));
    return {read, addParameter(prefix + "write", place, {n, 1}, {1.0}), Value()};
  }
  case ConnectionKind::IHC:
    return createProjected(builder, loc, x, prefix, place, 2, {logit(share - e), logit((1.0 - e) / 2.0)});
  case ConnectionKind::MHC: {
    // After l mixes each stream is decay^l of the one stream.
    double decay = getFirstColumnSum(n), before = std::pow(decay, static_cast<double>(index));
    return createProjected(builder, loc, x, prefix, place, 3,
                           {logit(share / before - e), logit(before * decay / 2.0), 0.0});
  }
  case ConnectionKind::Gated:
    break;
  }
  llvm_unreachable("a connection that no clause states");
}

Value ConnectionBuilder::createHead(OpBuilder &builder, Location loc, Value x, size_t count) {
  int64_t n = getCount();
  // The final norm that follows is what the read of gated would be.
  if (kind == ConnectionKind::Static || kind == ConnectionKind::Gated)
    return addParameter(name + "head_read", "head", {n, 1}, getStaticRead(n));
  double decay = kind == ConnectionKind::MHC ? getFirstColumnSum(n) : 1.0;
  double share = 1.0 / (static_cast<double>(n) * std::pow(decay, static_cast<double>(count)));
  return createProjected(builder, loc, x, name + "head_", "head", 1, {logit(share - kCoefficientEpsilon)}).read;
}
