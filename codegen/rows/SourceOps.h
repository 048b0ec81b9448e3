// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops of the program, as it is written, later ops come from: their names travel along in locations. For reports;
// no pass looks at them.

#ifndef RESID_CODEGEN_ROWS_SOURCEOPS_H
#define RESID_CODEGEN_ROWS_SOURCEOPS_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::resid::rows {

/// An op as its user knows it.
struct SourceOp {
  std::string name;
  std::string place; ///< line:column; empty where the program has none
  bool operator==(const SourceOp &other) const { return name == other.name && place == other.place; }
  std::string print() const { return place.empty() ? name : name + " at " + place; }
};

/// Notes names in the locations of all ops with tensors as results. Done again after a pass, what the pass has made of
/// other ops is named beside them, but for fused ops, which stay the ops they were.
void nameSourceOps(Operation *root);

/// The named ops of a location, each once, in the order of the program.
SmallVector<SourceOp> getSourceOps(Location location);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_SOURCEOPS_H
