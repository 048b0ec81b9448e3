// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops on buffers may run their steps in any order and at the same time. Not: what runs them so.

#ifndef RESID_CODEGEN_KERNELS_INDEPENDENTLOOPS_H
#define RESID_CODEGEN_KERNELS_INDEPENDENTLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::resid::kernels {

/// On an scf.for whose steps read and write no element that another step writes, by how it was made.
inline constexpr StringLiteral kIndependentAttribute = "resid.independent";

/// Whether all that is in the loop computes, or loads and stores single elements. Temporaries of known size, which each
/// step has for itself, are allowed if `withTemporaries`.
bool hasElementsOnly(Operation *loop, bool withTemporaries = false);

/// Whether no step of `loop` reads or writes an element that another step writes, wherever in `loops` around it: each
/// buffer that is written there has a dimension along which all accesses are at the number of the step. `loops` has
/// elements only. `areArgumentsApart`: each argument of the function around them is another array, which is so for
/// loops of a program, before its results are said to be no argument.
bool isIndependent(scf::ForOp loop, Operation *loops, bool areArgumentsApart = false);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_INDEPENDENTLOOPS_H
