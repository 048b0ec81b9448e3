// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices that are parts of a form. Looks at the program only.

#ifndef RESID_PASSES_RAISE_PRODUCTS_H
#define RESID_PASSES_RAISE_PRODUCTS_H

#include "dialect/Contraction.h"

namespace mlir::resid {

/// The product over one loop that makes `value`, a tensor.
std::optional<Contraction> getProduct(Value value);

/// Whether it starts from zeros, of either sign.
bool startsFromZeros(Contraction &product);

/// Whether what reads the value, or is computed from it, leads to `last` only. What is never read, and sizes, do not
/// count.
bool leadsOnlyTo(Value value, Operation *last);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_PRODUCTS_H
