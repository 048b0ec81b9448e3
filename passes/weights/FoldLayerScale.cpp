// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-fold-layer-scale: gate and branch_scale of a residual add become part of the projection that ends the branch.

#include "passes/Passes.h"
#include "passes/stream/Stacks.h"
#include "passes/stream/Sums.h"
#include "passes/weights/FoldRecord.h"
#include "passes/weights/LinearLayers.h"
#include "passes/weights/Prepare.h"

namespace mlir::resid {
#define GEN_PASS_DEF_FOLDLAYERSCALE
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// What the branch hands out before dropout: of resid.add, and of resid.block.
static Value getBranchOutput(AddOp add) {
  auto dropout = add.getF().getDefiningOp<DropoutOp>();
  return dropout && getReaders(dropout.getResult()).size() == 1 ? dropout.getX() : add.getF();
}
static Value getBranchOutput(BlockOp block) {
  return cast<YieldOp>(block.getBranch().front().getTerminator()).getBranch();
}

/// Whether a norm stands between the branch and the gate.
static bool hasNormAfterBranch(AddOp) { return false; }
static bool hasNormAfterBranch(BlockOp block) { return getNormSiteAt(block, NormPosition::AfterBranch).has_value(); }

/// The gate as a factor of something whose output features have the index `feature`; `rank` is the first index that is
/// free. Null where the gate is none of one number or of the features.
static std::optional<WeightFactor> getGateFactor(Value gate, RankedTensorType x, int64_t feature, int64_t rank) {
  WeightFactor factor{gate, {}};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(gate.getType()).getShape();
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool isLast = axis + 1 == shape.size();
    if (isLast && (size != 1 || x.getShape().back() == 1))
      factor.indices.push_back(feature);
    else if (size == 1)
      factor.indices.push_back(rank++); // a sum over one element
    else
      return std::nullopt;
  }
  return factor;
}

namespace {
/// Folds what stands between one branch and its residual add, `SumOp` being resid.add or resid.block.
template <typename SumOp> class LayerScaleFolder {
public:
  LayerScaleFolder(SumOp sum, Preparation &preparation) : sum(sum), preparation(preparation) {}

  LogicalResult fold(LinearRefusal &refusal);

private:
  RankedTensorType getStream() { return sum.getX().getType(); }
  LogicalResult find(LinearRefusal &refusal);
  /// The weight or bias that `operand` reads, with gate and branch_scale; `feature` is its axis of output features.
  void scale(OpOperand &operand, int64_t feature, StringRef name);

  SumOp sum;
  Preparation &preparation;
  LinearLayer layer;
};
} // namespace

template <typename SumOp> LogicalResult LayerScaleFolder<SumOp>::find(LinearRefusal &refusal) {
  if (sum.getGate() && !getGateFactor(sum.getGate(), getStream(), 0, 1))
    return refusal.set(sum, "expected a gate of one number, or of one per feature, but got one per row or element");
  if (hasNormAfterBranch(sum))
    return refusal.set(sum, "expected a linear layer right before the gate, but got a norm");
  FailureOr<LinearLayer> found = findWritingLayer(getBranchOutput(sum), refusal);
  if (failed(found))
    return failure();
  layer = *found;
  SmallVector<Value> weights = {sum.getGate(), layer.weight->get()};
  for (OpOperand *bias : layer.biases)
    weights.push_back(bias->get());
  if (std::optional<std::string> reason = preparation.refuse(weights))
    return refusal.set(layer.contraction, *reason);
  return success();
}

template <typename SumOp> void LayerScaleFolder<SumOp>::scale(OpOperand &operand, int64_t feature, StringRef name) {
  Value weight = operand.get();
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t rank = type.getRank();
  WeightTerm product{{{weight, llvm::to_vector(llvm::seq(rank))}}, sum.getBranchScale().convertToDouble()};
  if (Value gate = sum.getGate())
    product.factors.push_back(*getGateFactor(gate, getStream(), feature, rank));
  operand.set(preparation.compute({{product}, rank, cast<FloatType>(type.getElementType())}, weight,
                                  Preparation::getName(weight, name)));
}

template <typename SumOp> LogicalResult LayerScaleFolder<SumOp>::fold(LinearRefusal &refusal) {
  if (failed(find(refusal)))
    return failure();
  scale(*layer.weight, layer.outputAxes.front(), "weight");
  for (OpOperand *bias : layer.biases)
    scale(*bias, 0, "bias");
  sum.getGateMutable().clear();
  sum.setBranchScale(APFloat(1.0));
  return success();
}

namespace {
struct FoldLayerScale : resid::impl::FoldLayerScaleBase<FoldLayerScale> {
  using FoldLayerScaleBase::FoldLayerScaleBase;

  void runOnOperation() override {
    for (func::FuncOp function : getFunctionsToPrepare(getOperation())) {
      Preparation preparation(function);
      FoldRecord record(function);
      forEachSum(function, [&](auto sum) { foldSum(sum, preparation, record); });
      record.finish();
      preparation.finish();
    }
  }

  template <typename SumOp> void foldSum(SumOp sum, Preparation &preparation, FoldRecord &record) {
    bool hasGate = static_cast<bool>(sum.getGate()), hasScale = sum.getBranchScale().convertToDouble() != 1.0;
    if (!hasGate && !hasScale)
      return;
    LinearRefusal refusal;
    Value gate = sum.getGate();
    if (succeeded(LayerScaleFolder<SumOp>(sum, preparation).fold(refusal))) {
      record.addParameter(gate);
      if (report)
        sum.emitRemark() << "folded (exact in real arithmetic): "
                         << (hasGate && hasScale ? "gate and branch_scale"
                             : hasGate           ? "gate"
                                                 : "branch_scale")
                         << " into the linear layer before it";
      return;
    }
    if (!report)
      return;
    InFlightDiagnostic remark = sum.emitRemark() << "not folded: " << refusal.reason;
    if (refusal.op && refusal.op != sum.getOperation())
      remark.attachNote(refusal.op->getLoc()) << "found here";
  }
};
} // namespace
