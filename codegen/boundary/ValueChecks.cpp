// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/ValueChecks.h"

#include "codegen/boundary/Boundary.h"
#include "codegen/boundary/RefusalText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// As many operations as an entry may take for one condition.
static constexpr unsigned kMostOperations = 64;
/// Whether an unsigned division cannot end the program: what it divides by is a positive number at least.
static bool dividesByPositive(Operation *op) {
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op))
    return false;
  auto divisor = op->getOperand(1).getDefiningOp<arith::MaxSIOp>();
  APInt least;
  return divisor && matchPattern(divisor.getRhs(), m_ConstantInt(&least)) && least.isStrictlyPositive();
}

/// Entries are compiled for the baseline of the architecture, which computes f32 and f64 as every processor does;
/// narrow floats would need conversions from a library there, and so would the remainder of floats.
static bool isPlain(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || !isMemoryEffectFree(op) || isa<arith::RemFOp>(op))
    return false;
  if (!isSpeculatable(op) && !dividesByPositive(op))
    return false;
  auto isPlainType = [](Type type) { return type.isIntOrIndex() || type.isF32() || type.isF64(); };
  auto isNarrow = [](Type type) { return !type.isInteger() || type.getIntOrFloatBitWidth() <= 64; };
  return llvm::all_of(
      llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())),
      [&](Type type) { return isPlainType(type) && isNarrow(type); });
}

/// Whether `value` follows from the function's scalar arguments by plain operations, of which `budget` are left.
static bool isPlain(Value value, unsigned &budget) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp()) && !isa<MemRefType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (budget == 0 || !isPlain(op))
    return false;
  --budget;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isPlain(operand, budget); });
}

/// Whether the conditions on which the loops and branches around `op` are entered are plain.
static bool areParentsPlain(Operation *op, unsigned &budget) {
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent); parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (!isPlain(loop.getLowerBound(), budget) || !isPlain(loop.getUpperBound(), budget))
        return false;
    } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      if (!isPlain(branch.getCondition(), budget))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

/// The text of a check; where its value is an argument itself, with that argument's name.
static std::string describe(rows::RequireOp require, const KernelSignature &signature) {
  Value value = require.getValue();
  while (value && isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    unsigned number = 1; // after the context
    for (const KernelValue &candidate : signature.arguments) {
      if (number == argument.getArgNumber())
        return "argument '" + candidate.name + "': " + require.getText().str();
      number += candidate.isStrided() ? 2 : 1;
    }
  }
  return require.getText().str();
}

static void dropStatusCell(func::FuncOp implementation) {
  if (!answersStatus(implementation) || !implementation.getArguments().back().use_empty())
    return;
  LogicalResult erased = implementation.eraseArgument(implementation.getNumArguments() - 1);
  assert(succeeded(erased) && "nothing is known of the cell but its type");
  (void)erased;
}

ValueChecks::ValueChecks(func::FuncOp implementation, KernelSignature &signature) {
  SmallVector<rows::RequireOp> requirements;
  implementation.walk([&](rows::RequireOp require) { requirements.push_back(require); });
  bool isAnyInside = false;
  for (rows::RequireOp require : requirements) {
    Value condition = require.getCondition(), value = require.getValue();
    Region *region = require->getParentRegion();
    bool isKnown = llvm::any_of(entryChecks, [&](const EntryCheck &check) {
      return check.condition == condition && check.value == value && check.region == region;
    });
    if (isKnown || matchPattern(condition, m_One())) {
      require.erase();
      continue;
    }
    unsigned budget = kMostOperations, number = std::min(signature.checks.size(), kMostNumbers);
    bool isInside =
        !isPlain(condition, budget) || !areParentsPlain(require, budget) || (value && !isPlain(value, budget));
    signature.checks.push_back({describe(require, signature), int32_t(require.getStatus()), isInside});
    isAnyInside |= isInside;
    if (isInside) {
      require.setStatus(packRefusal(require.getStatus(), FailedCheck, number));
      continue;
    }
    entryChecks.push_back({condition, value, region, int32_t(require.getStatus()), number});
    require.erase();
  }
  if (!isAnyInside && !signature.isForDevice)
    dropStatusCell(implementation);
}

static Value cloneValue(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneValue(operand, builder, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

std::pair<Value, Value> ValueChecks::emit(const EntryCheck &check, OpBuilder &builder, IRMapping &mapping) {
  Location loc = check.condition.getLoc();
  Value condition = cloneValue(check.condition, builder, mapping);
  auto negate = [&](Value value) -> Value {
    return arith::XOrIOp::create(builder, loc, value, arith::ConstantIntOp::create(builder, loc, 1, 1));
  };
  auto holdsUnless = [&](Value isEntered) {
    condition = arith::OrIOp::create(builder, loc, condition, negate(isEntered));
  };
  for (Region *region = check.region; !isa<func::FuncOp>(region->getParentOp()); region = region->getParentRegion()) {
    if (auto loop = dyn_cast<scf::ForOp>(region->getParentOp())) {
      auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
      holdsUnless(arith::CmpIOp::create(builder, loc, predicate, cloneValue(loop.getLowerBound(), builder, mapping),
                                        cloneValue(loop.getUpperBound(), builder, mapping)));
      continue;
    }
    auto branch = cast<scf::IfOp>(region->getParentOp());
    Value isThen = cloneValue(branch.getCondition(), builder, mapping);
    holdsUnless(region == &branch.getThenRegion() ? isThen : negate(isThen));
  }
  return {condition, check.value ? cloneValue(check.value, builder, mapping) : Value()};
}
