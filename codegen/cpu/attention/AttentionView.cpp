// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of elements of attention.

#include "codegen/cpu/attention/AttentionView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

Value AttentionView::getRandomRow(Value rowsBefore) {
  if (extentLocal)
    rowsBefore = code.add(code.multiply(code.divide(rowsBefore, extentLocal), extentGlobal),
                          code.remainder(rowsBefore, extentLocal));
  return code.add(firstRandomRow, rowsBefore);
}

Value AttentionView::constantFloat(double value) {
  return arith::ConstantOp::create(code.builder, code.loc, code.builder.getFloatAttr(getArithmetic(), value));
}
