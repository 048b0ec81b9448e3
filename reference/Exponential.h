// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp and tanh as the definition of attention has them, to the last bit. Own code, so that the lowering has a second
// opinion; it is no judge of `math.exp` and `math.tanh`, whose results are held to the exact functions.

#ifndef RESID_REFERENCE_EXPONENTIAL_H
#define RESID_REFERENCE_EXPONENTIAL_H

namespace mlir::resid::reference {

/// The polynomials of docs/numerics.md, in the type of their argument.
float exponential(float x);
double exponential(double x);
float hyperbolicTangent(float x);
double hyperbolicTangent(double x);

} // namespace mlir::resid::reference

#endif
