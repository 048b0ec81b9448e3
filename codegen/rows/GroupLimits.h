// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large a row kernel may become. Does not own what belongs together (RowGroups).

#ifndef RESID_CODEGEN_ROWS_GROUPLIMITS_H
#define RESID_CODEGEN_ROWS_GROUPLIMITS_H

#include "codegen/rows/RowGroups.h"

namespace mlir::resid::rows {

/// What a group has too much of for one kernel, as "expected at most …, but got …"; empty where it has not.
std::string findExcess(const RowGroup &group);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_GROUPLIMITS_H
