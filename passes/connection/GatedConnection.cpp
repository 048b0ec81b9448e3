// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gated connection: its read is a norm of each stream and the mean of the normalised streams, each element of which
// has a gate.

#include "dialect/NormKinds.h"
#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/connection/Connections.h"
#include "passes/connection/RowArithmetic.h"
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
                                   scaleElements(builder, loc, multiply(flat, down), share), /*up=*/Value());
  Value gates = splitLast(builder, loc, squash(builder, loc, multiply(low, up)), n, features);
  Value row = ReadOp::create(builder, loc, rowType, h, gates, builder.getF64FloatAttr(share));
  Value injected = squash(builder, loc, scaleElements(builder, loc, multiply(flat, write), share));
  return {row, splitLast(builder, loc, scaleElements(builder, loc, injected, 2.0), n, 1)};
}
