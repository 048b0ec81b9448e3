// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention dialect; see AttentionOps.td. Internal to codegen.

#ifndef RESID_CODEGEN_ATTENTION_ATTENTIONDIALECT_H
#define RESID_CODEGEN_ATTENTION_ATTENTIONDIALECT_H

#include "codegen/kernels/KernelOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "codegen/attention/AttentionDialect.h.inc"

#define GET_OP_CLASSES
#include "codegen/attention/AttentionOps.h.inc"

namespace mlir::resid::attention {

/// The dimensions of the maps of a kernel.
enum Loop : unsigned { kBatch, kHead, kQuery, kKey, kColumn, kLoops };

} // namespace mlir::resid::attention

#endif // RESID_CODEGEN_ATTENTION_ATTENTIONDIALECT_H
