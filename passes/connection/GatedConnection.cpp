// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gated connection: its read is a norm of each stream and the mean of the normalised streams, each element of which
// has a gate.

#include "dialect/NormKinds.h"
#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/connection/Connections.h"
#include "passes/placement/NormParameters.h"

using namespace mlir;
using namespace mlir::resid;

/// Columns in the middle of the gates, and the standard deviation that their first weights begin with: those of Qwen4.
static constexpr int64_t kGateRank = 320;
static constexpr double kGateDeviation = 0.02;

static bool isArgumentOfFunction(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

std::string resid::findGatedObstacle(const NormParts &norm) {
  if (norm.kind != NormKind::RMS || norm.beta)
    return "expected an RMS norm before the branch, which becomes the read of a gated connection, but got " +
           stringifyNormKind(norm.kind).str();
  if (norm.rank != 1)
    return "expected a norm of the last dimension, but got one of the last " + std::to_string(norm.rank);
  if (norm.gamma && !isArgumentOfFunction(norm.gamma) && !matchPattern(norm.gamma, m_Constant()))
    return "expected gamma to be an argument of the function or a constant, but got neither";
  return "";
}

/// Gammas of all streams. Gates of 1/2 halve each element, so gamma is doubled, which rounds nothing.
Value ConnectionBuilder::addGammas(const std::string &prefix, StringRef place, const NormParts &norm) {
  int64_t shape[] = {getCount(), streams.getShape().back()};
  ParameterChange change{};
  // Twice 1 + gamma is 1 + (2·gamma + 1).
  change.factor = 2.0;
  change.offset = norm.zeroCenteredGamma ? 1.0 : 0.0;
  Type element = norm.gamma ? getElementTypeOrSelf(norm.gamma) : Type(getType());
  DenseFPElementsAttr known;
  if (!norm.gamma) {
    change.initial = {change.factor};
  } else if (matchPattern(norm.gamma, m_Constant(&known))) {
    for (int64_t stream = 0; stream != shape[0]; ++stream)
      for (const APFloat &value : known)
        change.initial.push_back(change.factor * value.convertToDouble() + change.offset);
  } else {
    change.of = getParameterName(norm.gamma);
  }
  return addParameter(element, prefix + "norm", place, shape, std::move(change));
}

/// What `body` gives for each element.
static Value mapEach(OpBuilder &builder, Location loc, Value x, function_ref<Value(OpBuilder &, Value)> body) {
  auto type = cast<RankedTensorType>(x.getType());
  AffineMap all = builder.getMultiDimIdentityMap(type.getRank());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, x), type.getElementType());
  return linalg::GenericOp::create(builder, loc, type, x, empty, ArrayRef<AffineMap>{all, all},
                                   SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                                   [&](OpBuilder &inner, Location, ValueRange values) {
                                     linalg::YieldOp::create(inner, loc, body(inner, values[0]));
                                   })
      .getResult(0);
}

/// factor·x, in the arithmetic type.
static Value scaleEach(OpBuilder &builder, Location loc, Value x, double factor) {
  FloatType type = cast<FloatType>(getElementTypeOrSelf(x)), arithmetic = getArithmeticType(type);
  return mapEach(builder, loc, x, [&](OpBuilder &inner, Value value) -> Value {
    if (type != arithmetic)
      value = arith::ExtFOp::create(inner, loc, arithmetic, value);
    Value number = arith::ConstantOp::create(inner, loc, inner.getFloatAttr(arithmetic, factor));
    value = arith::MulFOp::create(inner, loc, value, number);
    return type == arithmetic ? value : Value(arith::TruncFOp::create(inner, loc, type, value));
  });
}

/// The last two dimensions as one, and back.
static SmallVector<ReassociationIndices> groupLastTwo(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return groups;
}

static Value splitStreams(OpBuilder &builder, Location loc, Value flat, Value like, int64_t columns) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  SmallVector<int64_t> shape(cast<RankedTensorType>(like.getType()).getShape());
  shape.back() = columns;
  sizes.back() = builder.getIndexAttr(columns);
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(flat));
  return tensor::ExpandShapeOp::create(builder, loc, type, flat, groupLastTwo(type.getRank()), sizes);
}

static Value applySigmoid(OpBuilder &builder, Location loc, Value x) {
  return ActivationOp::create(builder, loc, ActivationKind::Sigmoid, x, /*up=*/Value());
}

/// h = norm(X), g = σ(up·silu(down·h/n)), row = mean(g ⊙ h), write = 2σ(write·h/n).
GatedConnection ConnectionBuilder::createGated(OpBuilder &builder, Location loc, Value x, size_t index,
                                               const NormParts &norm, RankedTensorType rowType) {
  int64_t n = getCount(), features = streams.getShape().back(), wide = n * features;
  double share = 1.0 / static_cast<double>(n);
  std::string place = "connection " + std::to_string(index);
  std::string prefix = name + "connection_" + std::to_string(index) + "_";
  Type element = rowType.getElementType();
  ParameterChange zeros{}, random{};
  zeros.initial = {0.0};
  random.deviation = kGateDeviation;
  NormParts ofStreams = norm;
  ofStreams.gamma = addGammas(prefix, place, norm);
  Value down = addParameter(element, prefix + "down", place, {kGateRank, wide}, random);
  Value up = addParameter(element, prefix + "up", place, {wide, kGateRank}, zeros);
  Value write = addParameter(element, prefix + "write", place, {n, wide}, zeros);
  Value h = createNorm(builder, loc, ofStreams, x, streams.clone(element))->getResult(0);
  Value flat = tensor::CollapseShapeOp::create(builder, loc, h, groupLastTwo(streams.getRank()));
  auto multiply = [&](Value rows, Value weight) -> Value {
    return LinearOp::create(builder, loc, rows, weight, Value(), /*transposed=*/false);
  };
  Value low = ActivationOp::create(builder, loc, ActivationKind::SiLU,
                                   scaleEach(builder, loc, multiply(flat, down), share), /*up=*/Value());
  Value gates = splitStreams(builder, loc, applySigmoid(builder, loc, multiply(low, up)), x, features);
  Value row = ReadOp::create(builder, loc, rowType, h, gates, builder.getF64FloatAttr(share));
  Value injected = applySigmoid(builder, loc, scaleEach(builder, loc, multiply(flat, write), share));
  return {row, splitStreams(builder, loc, scaleEach(builder, loc, injected, 2.0), x, 1)};
}
