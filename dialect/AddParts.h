// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a residual add does beside x + f, whether it is an op of its own, in an add_norm or in a block. The one place
// that says so: verifiers, passes, lowerings and the evaluator ask here.

#ifndef RESID_DIALECT_ADDPARTS_H
#define RESID_DIALECT_ADDPARTS_H

#include "dialect/ResidDialect.h"

namespace mlir::resid {

/// The clauses of an add, y = also_scale·also + (skip·x + branch_scale·(gate ⊙ f)); operands that it does not have are
/// null.
struct AddParts {
  Value gate, skip, also, alsoScale;
  FloatAttr skipScale, branchScale;

  bool scalesBranch() const { return gate || !branchScale.getValue().isExactlyValue(1.0); }
  bool scalesSkip() const { return skip || !skipScale.getValue().isExactlyValue(1.0); }
  /// Whether this is y = x + f, whose operands may change places without changing a bit.
  bool isPlain() const { return !scalesBranch() && !scalesSkip() && !also; }
  /// These parts with other operands: each operand that is in `from` becomes its counterpart in `to`.
  AddParts withOperands(ValueRange from, ValueRange to) const;
};

/// An operand of AddParts that broadcasts to x.
struct AddFactor {
  Value AddParts::*value;
  /// The name in messages.
  StringLiteral name;
};

/// All of them, in the order of operands.
inline constexpr AddFactor addFactors[] = {
    {&AddParts::gate, "gate"}, {&AddParts::skip, "skip"}, {&AddParts::alsoScale, "scale of also"}};

/// The parts of a resid.add, resid.add_norm or resid.block.
template <typename SumOp> AddParts getAddParts(SumOp op) {
  return {op.getGate(), op.getSkip(), op.getAlso(), op.getAlsoScale(), op.getSkipScaleAttr(), op.getBranchScaleAttr()};
}

AddOp createAdd(OpBuilder &builder, Location loc, Type type, Value x, Value f, const AddParts &parts);

/// add.C4, add.C5, add.C6, add.C7 and add.C8 for an add whose rows are of type `x`.
LogicalResult verifyAddParts(Operation *op, RankedTensorType x, const AddParts &parts);

} // namespace mlir::resid

#endif // RESID_DIALECT_ADDPARTS_H
