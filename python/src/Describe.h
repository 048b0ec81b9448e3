// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler says of the functions that it made, for the Python package.

#ifndef RESID_PYTHON_DESCRIBE_H
#define RESID_PYTHON_DESCRIBE_H

#include "codegen/boundary/Signature.h"

namespace mlir::resid::python {

/// As JSON: an array with, for each function, `symbol`, `type` (in MLIR), `arguments` and `results` (`name` and `type` of
/// each, and for results `sizes`: numbers, names of sizes, or expressions of these), and `sizes`: `name`, `argument`,
/// `dimension`, and either `fixed`, the only value that is right, or `same_as`, the name of the first size that is equal.
std::string describeFunctions(llvm::ArrayRef<boundary::KernelSignature> signatures);

} // namespace mlir::resid::python

#endif // RESID_PYTHON_DESCRIBE_H
