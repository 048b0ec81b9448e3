// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-fold-norm-affine: gamma and beta of a norm become part of the linear layers that read it.

#include "dialect/Shapes.h"
#include "passes/Passes.h"
#include "passes/weights/FoldRecord.h"
#include "passes/weights/LinearLayers.h"
#include "passes/weights/Prepare.h"

namespace mlir::resid {
#define GEN_PASS_DEF_FOLDNORMAFFINE
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// What linear layers may read of a norm; null where its value goes into the block's own add.
static Value getNormalized(const NormSite &norm) {
  auto block = dyn_cast<BlockOp>(norm.op);
  if (!block)
    return norm.op->getResult(0);
  NormPosition position = getPlacementRule(block.getPlacement()).positions[norm.index];
  if (position == NormPosition::BeforeBranch)
    return block.getBranch().getArgument(0);
  bool isResult = position == NormPosition::AfterAdd && !block.getStreams();
  return isResult ? Value(block.getResult()) : Value();
}

static void removeAffine(NormSite &norm) {
  NormParts plain = norm.parts;
  plain.gamma = plain.beta = Value();
  plain.zeroCenteredGamma = plain.narrowAffine = false;
  replaceNorm(norm, plain);
}

namespace {
/// Folds one norm into the layers that read it.
class AffineFolder {
public:
  AffineFolder(NormSite &norm, Preparation &preparation)
      : norm(norm), value(getNormalized(norm)), preparation(preparation) {}

  /// Folds, or says where and why not.
  LogicalResult fold(LinearRefusal &refusal);
  size_t getLayerCount() const { return layers.size(); }

private:
  std::optional<std::string> refuseNorm();
  std::optional<std::string> refuseLayer(const LinearLayer &layer);
  void foldGamma(LinearLayer &layer);
  void foldBeta(LinearLayer &layer);

  NormSite &norm;
  Value value;
  Preparation &preparation;
  SmallVector<LinearLayer> layers;
  /// What became of a weight by its axis of input features, so that layers that share one share the new one too.
  DenseMap<std::pair<Value, int64_t>, Value> scaled;
};
} // namespace

std::optional<std::string> AffineFolder::refuseNorm() {
  if (norm.parts.rank != 1)
    return "expected a norm over 1 dimension, but got one over " + std::to_string(norm.parts.rank);
  if (norm.parts.hasWiderGamma())
    return "expected a gamma of the normalised dimension alone, but got one with more";
  if (!value)
    return "expected linear layers as the only readers, but got the residual add of the block";
  return std::nullopt;
}

std::optional<std::string> AffineFolder::refuseLayer(const LinearLayer &layer) {
  if (norm.parts.beta && layer.biases.empty() && !layer.endsInFeatures)
    return std::string("expected output features on the last axis, where beta becomes a bias, but got other axes");
  SmallVector<Value> weights = {norm.parts.gamma, norm.parts.beta, layer.weight->get()};
  if (norm.parts.beta && !layer.biases.empty())
    weights.push_back(layer.biases.front()->get());
  return preparation.refuse(weights);
}

/// W becomes diag(γ)·W.
void AffineFolder::foldGamma(LinearLayer &layer) {
  Value weight = layer.weight->get();
  Value &result = scaled[{weight, layer.inputAxes.front()}];
  if (!result) {
    auto type = cast<RankedTensorType>(weight.getType());
    WeightFactor gamma{norm.parts.gamma, {layer.inputAxes.front()}, norm.parts.zeroCenteredGamma};
    WeightTerm product{{{weight, llvm::to_vector(llvm::seq(type.getRank()))}, gamma}};
    result = preparation.compute({{product}, type.getRank(), cast<FloatType>(type.getElementType())}, weight,
                                 Preparation::getName(weight, "weight"));
  }
  layer.weight->set(result);
}

/// b becomes b + β·W; without b there is a new bias. To be called while the layer still reads W.
void AffineFolder::foldBeta(LinearLayer &layer) {
  Value weight = layer.weight->get();
  SmallVector<int64_t> axes(2, 0);
  axes[layer.inputAxes.front()] = 1;
  WeightTerm product{{{norm.parts.beta, {1}}, {weight, axes}}};
  std::string name = Preparation::getName(weight, "weight") + "_bias";
  if (!layer.biases.empty()) {
    OpOperand *bias = layer.biases.front();
    Type type = getElementTypeOrSelf(bias->get().getType());
    WeightTerm old{{{bias->get(), {0}}}};
    bias->set(preparation.compute({{old, product}, 1, cast<FloatType>(type)}, bias->get(),
                                  Preparation::getName(bias->get(), name)));
    return;
  }
  FloatType type = getArithmeticType(getElementTypeOrSelf(layer.result.getType()));
  Value bias = preparation.compute({{product}, 1, type}, Value(), name);
  if (auto linear = dyn_cast<LinearOp>(layer.contraction)) {
    // Its operands move where there is one more.
    bool readsWeight = layer.weight->getOwner() == linear;
    linear.getBiasMutable().assign(bias);
    layer.input = &linear.getXMutable();
    if (readsWeight)
      layer.weight = &linear.getWeightMutable();
    return;
  }
  Value output = layer.result;
  OpBuilder builder(layer.contraction);
  builder.setInsertionPointAfter(layer.contraction);
  auto sum = AddBiasOp::create(builder, layer.contraction->getLoc(), output, bias);
  output.replaceAllUsesExcept(sum.getResult(), sum);
}

LogicalResult AffineFolder::fold(LinearRefusal &refusal) {
  if (std::optional<std::string> reason = refuseNorm())
    return refusal.set(norm.op, *reason);
  if (failed(findReadingLayers(value, layers, refusal)))
    return failure();
  for (const LinearLayer &layer : layers)
    if (std::optional<std::string> reason = refuseLayer(layer))
      return refusal.set(layer.contraction, *reason);
  for (LinearLayer &layer : layers) {
    if (norm.parts.beta)
      foldBeta(layer);
    foldGamma(layer);
  }
  removeAffine(norm);
  return success();
}

namespace {
struct FoldNormAffine : resid::impl::FoldNormAffineBase<FoldNormAffine> {
  using FoldNormAffineBase::FoldNormAffineBase;

  void runOnOperation() override {
    for (func::FuncOp function : getFunctionsToPrepare(getOperation())) {
      Preparation preparation(function);
      FoldRecord record(function);
      for (NormSite &norm : collectNormSites(function))
        if (norm.parts.gamma)
          foldNorm(norm, preparation, record);
      record.finish();
      preparation.finish();
    }
  }

  void foldNorm(NormSite &norm, Preparation &preparation, FoldRecord &record) {
    Location loc = norm.op->getLoc();
    AffineFolder folder(norm, preparation);
    LinearRefusal refusal;
    NormSite before = norm;
    bool hasBeta = static_cast<bool>(norm.parts.beta);
    if (succeeded(folder.fold(refusal))) {
      record.addNormParameter(before, before.parts.gamma, /*staysInNorm=*/false);
      record.addNormParameter(before, before.parts.beta, /*staysInNorm=*/false);
      if (report)
        emitRemark(loc) << "folded (exact in real arithmetic): " << (hasBeta ? "gamma and beta" : "gamma") << " into "
                        << folder.getLayerCount() << (folder.getLayerCount() == 1 ? " linear layer" : " linear layers");
      return;
    }
    if (!report)
      return;
    InFlightDiagnostic remark = emitRemark(loc) << "not folded: " << refusal.reason;
    if (refusal.op && refusal.op != norm.op)
      remark.attachNote(refusal.op->getLoc()) << "found here";
  }
};
} // namespace
