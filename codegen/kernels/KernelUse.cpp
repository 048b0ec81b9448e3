// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preparing and comparing kernels; see KernelUse.h.

#include "codegen/kernels/KernelUse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

Attribute kernels::getConstant(Value value) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) ? attribute : Attribute();
}

//===------------------------------------------- a kernel where it stands -----------------------------------------===//

/// Gives the number of each dropout site a constant of its own, so that it can become an argument alone.
static void separateSites(rows::KernelOp kernel) {
  OpBuilder builder(kernel);
  DenseMap<Value, Value> separate;
  kernel.walk([&](rows::RandomHalfOp half) {
    if (!getConstant(half.getSite()))
      return;
    Value &own = separate[half.getSite()];
    if (!own)
      own = builder.clone(*half.getSite().getDefiningOp())->getResult(0);
    half.getSiteMutable().assign(own);
  });
}

/// Leaves no rows to go through where rows have no columns and nothing is written once per row.
static void dropEmptyRows(OpBuilder &builder, rows::KernelOp kernel, KernelAddresses &addresses) {
  unsigned operands = addresses.operands.size();
  for (unsigned init = kernel.getInputs().size(); init < operands; ++init)
    if (!kernel.isAlongColumns(init))
      return;
  if (matchPattern(addresses.width, m_NonZero()))
    return;
  Location loc = kernel.getLoc();
  Value none = constantI64(builder, loc, 0);
  Value isEmpty = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, addresses.width, none);
  addresses.rows = builder.createOrFold<arith::SelectOp>(loc, isEmpty, none, addresses.rows);
}

static SmallVector<Value> collectOuterValues(rows::KernelOp kernel, KernelAddresses &addresses) {
  SmallVector<Value> values;
  addresses.forEachValue([&](Value &value) { values.push_back(value); });
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!kernel.getBodyRegion().isAncestor(operand.getParentRegion()))
        values.push_back(operand);
  });
  return values;
}

FailureOr<KernelUse> KernelUse::prepare(rows::KernelOp kernel) {
  KernelUse use{kernel, kernel->getParentOfType<func::FuncOp>(), {}, {}};
  if (!use.enclosing)
    return kernel.emitOpError("expected a function around the kernel");
  OpBuilder builder(kernel);
  FailureOr<KernelAddresses> addresses = computeKernelAddresses(builder, kernel);
  if (failed(addresses))
    return failure();
  use.addresses = *addresses;
  dropEmptyRows(builder, kernel, use.addresses);
  separateSites(kernel);
  use.outerValues = collectOuterValues(kernel, use.addresses);
  for (Value value : use.outerValues)
    if (!value.getType().isIntOrIndexOrFloat() && !isa<LLVM::LLVMPointerType>(value.getType()))
      return kernel.emitOpError("expected only scalars from above, but got ") << value.getType();
  return use;
}

//===------------------------------------------- which kernels are equal ------------------------------------------===//

/// Whether two kernels on operands of the same types do the same, whatever values they take from above.
static bool haveEqualBodies(rows::KernelOp a, rows::KernelOp b) {
  DenseMap<Value, Value> partners;
  auto check = [&](Value of, Value other) {
    bool isOuter = !a.getBodyRegion().isAncestor(of.getParentRegion());
    bool isOtherOuter = !b.getBodyRegion().isAncestor(other.getParentRegion());
    return success(isOuter ? isOtherOuter : partners.lookup(of) == other);
  };
  auto mark = [&](Value of, Value other) { partners[of] = other; };
  return OperationEquivalence::isEquivalentTo(a, b, check, mark, OperationEquivalence::IgnoreLocations);
}

/// Whether rows are found in the same way, whatever the strides are: that may hang on the buffer beside its type.
static bool areAddressedAlike(const KernelAddresses &a, const KernelAddresses &b) {
  return llvm::equal(a.operands, b.operands, [](const OperandAddress &one, const OperandAddress &other) {
    return !one.linearStride == !other.linearStride &&
           llvm::equal(llvm::make_first_range(one.strides), llvm::make_first_range(other.strides));
  });
}

/// Whether a constant is the number of a dropout site and nothing else (separateSites).
static bool isSite(Value constant) {
  return llvm::all_of(constant.getUses(), [](OpOperand &use) {
    auto half = dyn_cast<rows::RandomHalfOp>(use.getOwner());
    return half && &half.getSiteMutable() == &use;
  });
}

std::optional<SmallVector<unsigned>> kernels::findDifferingConstants(KernelUse &a, KernelUse &b) {
  ArrayRef<Value> own = a.outerValues, theirs = b.outerValues;
  if (own.size() != theirs.size() || !areAddressedAlike(a.addresses, b.addresses) ||
      !haveEqualBodies(a.kernel, b.kernel))
    return std::nullopt;
  SmallVector<unsigned> sites;
  DenseMap<Value, Value> partners;
  for (unsigned i = 0; i < own.size(); ++i) {
    Attribute constant = getConstant(own[i]), otherConstant = getConstant(theirs[i]);
    if (own[i].getType() != theirs[i].getType() || !constant != !otherConstant)
      return std::nullopt;
    bool canBeArgument = !constant || isSite(own[i]);
    if (!canBeArgument && constant != otherConstant)
      return std::nullopt;
    // What is one argument of the functions has to be one value everywhere.
    if (canBeArgument && partners.try_emplace(own[i], theirs[i]).first->second != theirs[i])
      return std::nullopt;
    if (constant != otherConstant)
      sites.push_back(i);
  }
  return sites;
}
