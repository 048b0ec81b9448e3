// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the reads of a group of row-wise ops can be those of a kernel.

#ifndef RESID_CODEGEN_ROWS_READSFIT_H
#define RESID_CODEGEN_ROWS_READSFIT_H

#include "codegen/rows/RowGroups.h"

namespace mlir::resid::rows {

/// Whether every read fits the space, and members' values are read where they are made, or are cheap to make at the
/// column where they are read.
bool readsFit(const RowGroup &group);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_READSFIT_H
