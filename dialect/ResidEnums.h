// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The enumerations of the dialect, which TableGen writes without a guard. What they mean stands where they are defined.

#ifndef RESID_DIALECT_RESIDENUMS_H
#define RESID_DIALECT_RESIDENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include <optional>

#include "dialect/ResidEnums.h.inc"

#endif // RESID_DIALECT_RESIDENUMS_H
