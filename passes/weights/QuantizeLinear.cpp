// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives linear layers integers of 8 bits: their weights once, in @F_prepare, and their rows where they are multiplied.

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "passes/weights/Prepare.h"

namespace mlir::resid {
#define GEN_PASS_DEF_QUANTIZELINEAR
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// Why a weight stays as it is; nothing where all that reads it are layers that may have integers.
static std::optional<std::string> refuse(BlockArgument weight) {
  std::string reason;
  llvm::raw_string_ostream out(reason);
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  bool isFloat = type && isa<Float16Type, BFloat16Type, Float32Type>(type.getElementType());
  if (!isFloat || type.getRank() != 2 || !type.hasStaticShape()) {
    out << "expected a weight of f16, bf16 or f32 with two static dimensions, but got '" << weight.getType() << "'";
    return reason;
  }
  if (weight.use_empty())
    return "expected a linear layer that reads the weight, but got none";
  for (OpOperand &use : weight.getUses()) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (!linear || &use != &linear.getWeightMutable()) {
      out << "expected linear layers as the only readers, but got '" << use.getOwner()->getName() << "'";
      return reason;
    }
    if (linear.getTransposed())
      return "expected a weight of [out, in], but got one of [in, out]";
    if (linear.getArithmeticType().isF64())
      return "expected layers without f64, but got one with it";
    if (type.getDimSize(1) > kMostIntegerTerms) {
      out << "expected at most " << kMostIntegerTerms << " input features, but got " << type.getDimSize(1);
      return reason;
    }
  }
  return std::nullopt;
}

static QuantizeOp quantizeRows(OpBuilder &builder, Location loc, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  Type scales = RankedTensorType::get(type.getShape().drop_back(), builder.getF32Type());
  return QuantizeOp::create(builder, loc, TypeRange{type.clone(builder.getI8Type()), scales}, x,
                            /*static_scale=*/Value(), Granularity::Row, /*group=*/IntegerAttr());
}

namespace {
struct QuantizeLinear : resid::impl::QuantizeLinearBase<QuantizeLinear> {
  using QuantizeLinearBase::QuantizeLinearBase;

  void runOnOperation() override {
    for (func::FuncOp function : getFunctionsToPrepare(getOperation())) {
      Preparation preparation(function);
      rows.clear();
      for (unsigned index = 0; index != function.getNumArguments(); ++index)
        if (getWeightName(function, index) || function.getArgAttr(index, kPreparedAttribute))
          visit(function, function.getArgument(index), preparation);
      preparation.finish();
    }
  }

  void visit(func::FuncOp function, BlockArgument weight, Preparation &preparation) {
    Location loc = getArgumentLocation(function, weight.getArgNumber());
    std::string name = Preparation::getName(weight, "weight");
    std::optional<std::string> reason =
        llvm::is_contained(keep, name) ? std::optional<std::string>("it is kept") : refuse(weight);
    if (!reason)
      reason = preparation.refuse({weight});
    if (reason) {
      if (report)
        emitRemark(loc) << "not quantised: " << *reason;
      return;
    }
    SmallVector<LinearOp> layers;
    for (Operation *user : weight.getUsers())
      layers.push_back(cast<LinearOp>(user));
    Value scale;
    Value integers = preparation.convert(weight, [&](OpBuilder &builder) -> Value {
      QuantizeOp quantize = quantizeRows(builder, function.getLoc(), weight);
      scale = quantize.getScale();
      return quantize.getQ();
    });
    preparation.append(scale, name + "_scale");
    for (LinearOp layer : layers)
      replace(layer, integers, scale);
    if (report)
      emitRemark(loc) << "quantised (other values): " << layers.size() << " layers of " << weight.getType();
  }

  void replace(LinearOp layer, Value integers, Value scale) {
    OpBuilder builder(layer);
    QuantizeOp &x = rows[layer.getX()];
    if (!x) {
      builder.setInsertionPointAfterValue(layer.getX());
      x = quantizeRows(builder, layer.getLoc(), layer.getX());
      builder.setInsertionPoint(layer);
    }
    auto quantized = LinearOp::create(builder, layer.getLoc(), layer.getType(), x.getQ(), integers, x.getScale(), scale,
                                      /*weight_zero=*/Value(), /*weight_offset=*/Value(), layer.getBias(),
                                      /*transposed=*/false, /*group=*/IntegerAttr());
    layer.replaceAllUsesWith(quantized.getResult());
    layer.erase();
  }

  /// The rows that layers read, as integers.
  DenseMap<Value, QuantizeOp> rows;
};
} // namespace
