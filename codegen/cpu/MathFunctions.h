// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp, tanh and erf as straight-line arithmetic: no calls, no branches, the same bits on scalars and vectors.

#ifndef RESID_CODEGEN_CPU_MATHFUNCTIONS_H
#define RESID_CODEGEN_CPU_MATHFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::cpu {

/// Each takes an f32 or f64 (or a vector of them) and gives the same type. Relative errors in f32 and f64: exp below
/// 2e-7 and 5e-16, tanh below 4e-7 and 1e-15, erf below 2e-7 and 1e-15. NaN gives NaN; infinities the limits.
Value emitExp(OpBuilder &builder, Location loc, Value x);
Value emitTanh(OpBuilder &builder, Location loc, Value x);
Value emitErf(OpBuilder &builder, Location loc, Value x);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_MATHFUNCTIONS_H
