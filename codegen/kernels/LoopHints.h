// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM is told about loops that kernels run. Not: vectorisation, which is the business of the CPU's lanes.

#ifndef RESID_CODEGEN_KERNELS_LOOPHINTS_H
#define RESID_CODEGEN_KERNELS_LOOPHINTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::resid::kernels {

/// Says how often the body of a loop stands in its code. Once: the loop stays as it is, also where LLVM knows how often
/// it runs.
void setUnrolling(scf::ForOp loop, int64_t count);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_LOOPHINTS_H
