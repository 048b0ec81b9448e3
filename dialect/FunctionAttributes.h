// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attributes of the dialect that arguments and results of functions may have: their names. The dialect verifies
// them; what they mean to C is codegen/boundary's, what to transformed weights passes/weights/Prepare's.

#ifndef RESID_DIALECT_FUNCTIONATTRIBUTES_H
#define RESID_DIALECT_FUNCTIONATTRIBUTES_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::resid {

/// On an argument: its name in C, a string.
constexpr llvm::StringLiteral kArgumentNameAttribute = "resid.name";

/// On an argument (in programs also on a result): its rows, all dimensions but the last flattened, lie evenly apart, as
/// far as the caller says. Has no value.
constexpr llvm::StringLiteral kStridedAttribute = "resid.strided";

/// On an argument: it is a weight, which checkpoints hold. The value is its name there, a string; without a value it is
/// the argument's name.
constexpr llvm::StringLiteral kWeightAttribute = "resid.weight";

/// On an argument that @F_prepare makes, or takes as well: which of its results or arguments it is, an i64.
constexpr llvm::StringLiteral kPreparedAttribute = "resid.prepared";
constexpr llvm::StringLiteral kPrepareInputAttribute = "resid.prepare_input";

/// Where the argument is written; where the function is, if that is not known.
Location getArgumentLocation(Operation *function, unsigned index);

/// The name in checkpoints of an argument that is marked as a weight; nothing of another one.
std::optional<std::string> getWeightName(FunctionOpInterface function, unsigned index);

} // namespace mlir::resid

#endif // RESID_DIALECT_FUNCTIONATTRIBUTES_H
