// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes linalg.softmax apart early enough for it to become a row kernel or, over another dimension or in narrow
// arithmetic, for its elementwise parts to.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Passes.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::resid {
#define GEN_PASS_DEF_DECOMPOSESOFTMAX
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// A row kernel: exp(x - max) by the sum of these, over the last dimension.
static Value lowerRows(Code &builder, linalg::SoftmaxOp op, FloatType element) {
  Value x = op.getInput();
  auto type = cast<RankedTensorType>(x.getType());
  Type perRow = getStatisticsType(type, 1);
  auto statistics = rows::SoftmaxStatisticsOp::create(builder, TypeRange{perRow, perRow}, x, Value(), 1);
  AffineMap row = getRowMap(builder.getContext(), type.getRank(), 1);
  auto body = [](Code &inner, ValueRange elements) {
    Value exponential = math::ExpOp::create(inner, inner.subtract(elements[0], elements[1]));
    return inner.divide(exponential, elements[2]);
  };
  return createElementwise(builder,
                           {{x, getIdentityMap(builder.getContext(), type.getRank())},
                            {statistics.getMax(), row},
                            {statistics.getSum(), row}},
                           getSizes(builder, x), op.getResult()[0].getType(), element, body);
}

namespace {

struct DecomposeSoftmax : public resid::impl::DecomposeSoftmaxBase<DecomposeSoftmax> {
  void runOnOperation() override {
    SmallVector<linalg::SoftmaxOp> found;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (op.hasPureTensorSemantics())
        found.push_back(op);
    });
    PatternRewriter rewriter(&getContext());
    for (linalg::SoftmaxOp op : found) {
      rewriter.setInsertionPoint(op);
      Type element = op.getInputOperandType().getElementType();
      bool isOverLast = int64_t(op.getDimension()) + 1 == op.getInputOperandRank();
      if (isOverLast && isa<Float32Type, Float64Type>(element) &&
          op.getOutputOperandType() == op.getInputOperandType()) {
        Code builder(rewriter, op.getLoc());
        rewriter.replaceOp(op, lowerRows(builder, op, cast<FloatType>(element)));
        continue;
      }
      FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
      assert(succeeded(parts) && "a softmax on tensors has parts");
      rewriter.replaceOp(op, *parts);
    }
  }
};

} // namespace
