// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters of norms as values of a function: what they are called outside, new ones like those that are there, and
// moving their definitions. Knows nothing of placements.

#ifndef RESID_PASSES_PLACEMENT_NORMPARAMETERS_H
#define RESID_PASSES_PLACEMENT_NORMPARAMETERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/stream/NormParts.h"

namespace mlir::resid {

/// The name in the C header of the argument that `parameter` is, or that it is a slice, a reshape or a conversion of;
/// empty where it comes from elsewhere.
std::string getParameterName(Value parameter);

/// Reports whoever calls `function`, which is about to get new arguments.
LogicalResult refuseCallers(func::FuncOp function);

/// A new argument at the end of `function`, called `name`, with a number after it where that is taken.
Value addArgument(func::FuncOp function, Type type, const Twine &name);

/// A norm of the kind of `norm` with parameters of its own: new arguments at the end of `function`, called
/// `name`_alpha, `name`_gamma and `name`_beta, with a number after `name` where that is taken. For a norm that will
/// stand at `place` inside of a loop, whose parameters are slices by the iteration, the new arguments are stacked
/// likewise. Reports what stands in the way.
FailureOr<NormParts> addNormLike(func::FuncOp function, const NormParts &norm, Operation *place, StringRef name);

/// Makes the parameters of `norm` available before `place`, which lies in the block of `user`, the norm's present
/// place; definitions in between move up if nothing speaks against it. Reports what does at `user`.
LogicalResult defineParametersBefore(const NormParts &norm, Operation *place, Operation *user);

} // namespace mlir::resid

#endif // RESID_PASSES_PLACEMENT_NORMPARAMETERS_H
