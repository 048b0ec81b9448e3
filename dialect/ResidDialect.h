// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The resid dialect: one include for all of its ops. Shapes, formulas and constraints stand in the .td file of each
// family.

#ifndef RESID_DIALECT_RESIDDIALECT_H
#define RESID_DIALECT_RESIDDIALECT_H

#include "dialect/ActivationKinds.h"
#include "dialect/DropoutScheme.h"
#include "dialect/NormKinds.h"
#include "dialect/QuantizedResult.h"
#include "dialect/Shapes.h"
#include "dialect/TextHooks.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/ResidDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/ResidAttrs.h.inc"

#include "dialect/EqualSizes.h.inc"
#include "dialect/NormInterface.h.inc"
#include "dialect/QuantizedResult.h.inc"

#define GET_OP_CLASSES
#include "dialect/ResidOps.h.inc"

#endif // RESID_DIALECT_RESIDDIALECT_H
