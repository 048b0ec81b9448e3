// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function of doubles an op of arith or math is, and how near to it compiled code comes.

#ifndef RESID_REFERENCE_FLOATFUNCTIONS_H
#define RESID_REFERENCE_FLOATFUNCTIONS_H

#include "mlir/IR/Operation.h"
#include "reference/Numbers.h"

namespace mlir::resid::reference {

/// IEEE's: a NaN is what comes out, and -0 is below +0.
double maximum(double a, double b);
double minimum(double a, double b);

/// At most one of the functions is set; none for ops that are no functions of one or two floats.
struct FloatFunction {
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
  /// By how many units in the last place a compiled result may be off; 0 where it is the same to the last bit.
  double units = 0.0;
};
FloatFunction getFloatFunction(Operation *op, FloatKind kind);

} // namespace mlir::resid::reference

#endif
