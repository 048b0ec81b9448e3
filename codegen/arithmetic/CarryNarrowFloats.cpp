// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 and f16 as the integers of their bits, wherever nothing is computed on them. Does not convert to other floats
// (ExpandNarrowFloats.cpp).

#include "codegen/arithmetic/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_CARRYNARROWFLOATS
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

bool isNarrow(Type element) { return element.isF16() || element.isBF16(); }

struct CarryNarrowFloats : public arithmetic::impl::CarryNarrowFloatsBase<CarryNarrowFloats> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    addReplacements(replacer);
    SmallVector<Operation *> ops, conversions;
    getOperation()->walk([&](Operation *op) {
      bool computes = isa<arith::ExtFOp, arith::TruncFOp, LLVM::CallIntrinsicOp>(op);
      (computes ? conversions : ops).push_back(op);
    });
    for (Operation *op : conversions)
      castOperands(op, replacer);
    for (Operation *op : conversions)
      castResults(op, replacer);
    for (Operation *op : ops)
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
    for (Operation *op : ops)
      if (auto cast = dyn_cast<arith::BitcastOp>(op); cast && cast.getIn().getType() == cast.getType()) {
        cast.replaceAllUsesWith(cast.getIn());
        cast.erase();
      }
  }

  void addReplacements(AttrTypeReplacer &replacer) {
    Type bits = IntegerType::get(&getContext(), 16);
    replacer.addReplacement(
        [=](FloatType type) -> std::optional<Type> { return isNarrow(type) ? std::optional(bits) : std::nullopt; });
    replacer.addReplacement([=](FloatAttr number) -> std::optional<Attribute> {
      if (!isNarrow(number.getType()))
        return std::nullopt;
      return IntegerAttr::get(bits, number.getValue().bitcastToAPInt());
    });
    replacer.addReplacement([=](DenseElementsAttr numbers) -> std::optional<Attribute> {
      if (!isNarrow(numbers.getElementType()))
        return std::nullopt;
      return numbers.bitcast(bits);
    });
  }

  // What computes on narrow floats, which the target then has instructions for, takes and gives them as they were.
  static void castOperands(Operation *op, AttrTypeReplacer &replacer) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = operand.get().getType(); replacer.replace(type) != type)
        operand.set(arith::BitcastOp::create(builder, op->getLoc(), type, operand.get()));
  }

  static void castResults(Operation *op, AttrTypeReplacer &replacer) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type bits = replacer.replace(result.getType());
      if (bits == result.getType())
        continue;
      auto cast = arith::BitcastOp::create(builder, op->getLoc(), bits, result);
      result.replaceAllUsesExcept(cast, cast);
    }
  }
};

} // namespace
