// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who reads a matrix, and whether all of them would rather read its panels. Looks at the program only.

#ifndef RESID_PASSES_WEIGHTS_PANELUSES_H
#define RESID_PASSES_WEIGHTS_PANELUSES_H

#include "mlir/IR/Value.h"
#include <string>

namespace mlir::resid {

/// Where panels of a matrix cannot be read, and why ("expected … but got …").
struct PanelRefusal {
  Operation *op = nullptr;
  std::string reason;
};

/// The dimension of `matrix`, 0 or 1, that counts columns for all its readers: each is a contraction that sums over the
/// other dimension, and has this one as the last of its result. Transposes, broadcasts and casts to a wider type may
/// stand between. Fails where that is not so, or where nothing reads the matrix.
FailureOr<int64_t> findColumns(Value matrix, PanelRefusal &refusal);

} // namespace mlir::resid

#endif // RESID_PASSES_WEIGHTS_PANELUSES_H
