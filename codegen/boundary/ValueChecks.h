// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which run-time conditions of an implementation (rows.require) its entry checks before anything is written. Does not
// own where conditions come from (codegen/linalg).

#ifndef RESID_CODEGEN_BOUNDARY_VALUECHECKS_H
#define RESID_CODEGEN_BOUNDARY_VALUECHECKS_H

#include "codegen/boundary/Signature.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::resid::boundary {

/// A condition that follows from scalar arguments and sizes by arithmetic.
struct EntryCheck {
  Value condition, value; // of the implementation; the value may be null
  Region *region;         // where it stood there
  int32_t status;
  unsigned number; // in KernelSignature::checks
};

class ValueChecks {
public:
  /// Checks beyond have no number of their own in a status cell.
  static constexpr size_t kMostNumbers = 0x7fff;

  /// Numbers the conditions of `implementation`, whose boundary is narrow, and fills signature.checks. What stays
  /// inside answers its number with its status; what the entry checks is taken away, and so is the status cell if
  /// nothing is left to be answered.
  ValueChecks(func::FuncOp implementation, KernelSignature &signature);

  ArrayRef<EntryCheck> getEntryChecks() const { return entryChecks; }

  /// The condition of an entry check, and its value (or null), at another place, where `mapping` has the
  /// implementation's arguments. A condition in a loop or a branch holds where that is not entered.
  static std::pair<Value, Value> emit(const EntryCheck &check, OpBuilder &builder, IRMapping &mapping);

private:
  SmallVector<EntryCheck> entryChecks;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_VALUECHECKS_H
