// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contraction dialect; see ContractionOps.td. Internal to codegen.

#ifndef RESID_CODEGEN_CONTRACTIONS_CONTRACTIONDIALECT_H
#define RESID_CODEGEN_CONTRACTIONS_CONTRACTIONDIALECT_H

#include "codegen/kernels/KernelOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "codegen/contractions/ContractionDialect.h.inc"

#define GET_OP_CLASSES
#include "codegen/contractions/ContractionOps.h.inc"

namespace mlir::resid::contraction {

/// Of so many columns at most, a product of long rows has all at once.
inline constexpr int64_t kFewColumns = 64;

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_CONTRACTIONDIALECT_H
