// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients that are rounded to integers, many by the same divisor, without a division each: a product with the
// reciprocal and one correction (P. Markstein, "Computation of elementary functions on the IBM RISC System/6000
// processor", 1990).

#include "codegen/arithmetic/MathFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;

/// A scalar, or the one in all lanes of a vector; null where lanes may differ.
static Value getScalar(Value value) {
  if (!isa<VectorType>(value.getType()))
    return value;
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !isa<VectorType>(broadcast.getSourceType()) ? broadcast.getSource() : Value();
}

bool arithmetic::isSharedRoundedQuotient(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (!quotient || !op->hasAttr(kForIntegerAttribute) || !getElementTypeOrSelf(quotient.getType()).isF32())
    return false;
  Value divisor = getScalar(quotient.getRhs());
  return divisor && (divisor.getParentBlock() != op->getBlock() || !divisor.hasOneUse());
}

Value arithmetic::emitSharedRoundedQuotient(OpBuilder &builder, Operation *op) {
  auto quotient = cast<arith::DivFOp>(op);
  Value divisor = getScalar(quotient.getRhs()), factor, reciprocal;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(divisor);
    Code shared(builder, op->getLoc());
    // The rest below is exact, and the reciprocal no subnormal number, for divisors of these magnitudes. Others are
    // scaled with all they divide: what is too large or too small for that is so for the integer too.
    Value magnitude = shared.absolute(divisor);
    factor = shared.select(shared.isAbove(magnitude, 0x1p126), 0x1p-60, shared.constant(divisor.getType(), 1.0));
    factor = shared.select(shared.isBelow(magnitude, 0x1p-100), 0x1p64, factor);
    divisor = shared.multiply(divisor, factor);
    reciprocal = shared.divide(1.0, divisor);
  }
  Code code(builder, op->getLoc());
  Type type = quotient.getType();
  Value scaled = code.multiply(quotient.getLhs(), code.spread(factor, type));
  reciprocal = code.spread(reciprocal, type);
  Value near = code.multiply(scaled, reciprocal);
  Value rest = code.fma(code.negate(near), code.spread(divisor, type), scaled);
  return code.fma(rest, reciprocal, near);
}
