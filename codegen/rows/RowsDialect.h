// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows dialect; see RowsOps.td. Internal to codegen.

#ifndef RESID_CODEGEN_ROWS_ROWSDIALECT_H
#define RESID_CODEGEN_ROWS_ROWSDIALECT_H

#include "codegen/kernels/KernelOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::resid {
class Code;
namespace rows {
class StatisticsPhases;
}
} // namespace mlir::resid

namespace mlir::resid::rows {
/// A unit attribute on an arith.select that keeps an index inside of its array, where a call with another one is
/// refused.
constexpr llvm::StringLiteral kKeptInsideAttribute = "rows.kept_inside";
} // namespace mlir::resid::rows

#include "codegen/rows/RowsDialect.h.inc"

#include "codegen/rows/RowsEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "codegen/rows/RowsTypes.h.inc"

#include "codegen/rows/StatisticsInterface.h.inc"

#define GET_OP_CLASSES
#include "codegen/rows/RowsOps.h.inc"

#endif // RESID_CODEGEN_ROWS_ROWSDIALECT_H
