// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp as the definition of attention has it, to the last bit. Own code, so that the lowering has a second opinion; it
// is no judge of `math.exp`, whose results are held to the exact exponential.

#ifndef RESID_REFERENCE_EXPONENTIAL_H
#define RESID_REFERENCE_EXPONENTIAL_H

namespace mlir::resid::reference {

/// The polynomial of docs/numerics.md, in the type of its argument.
float exponential(float x);
double exponential(double x);

} // namespace mlir::resid::reference

#endif
