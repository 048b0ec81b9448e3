// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/RefineSizes.h"

#include "codegen/boundary/DimensionClasses.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// Whether the operation stays valid when its tensors, and those of its regions, get the sizes of their classes: all
/// that it requires of their sizes is in the classes.
static bool takesRefinedTypes(Operation *op) {
  if (isa<scf::YieldOp>(op))
    return takesRefinedTypes(op->getParentOp());
  if (isa<scf::ForOp, scf::ForallOp, scf::IfOp, tensor::DimOp, tensor::ExtractOp>(op) ||
      OpTrait::hasElementwiseMappableTraits(op))
    return true;
  if (isa_and_nonnull<ResidDialect>(op->getDialect()))
    return op->getNumRegions() == 0;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && llvm::all_of(structured.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation(/*allowZeroInResults=*/true);
         });
}

/// The value's type with the sizes of its classes; null where that is the type it has.
static RankedTensorType getRefinedType(Value value, DimensionClasses &classes) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dimension, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      size = classes.getStaticSize(value, dimension).value_or(ShapedType::kDynamic);
  return shape == type.getShape() ? RankedTensorType() : type.clone(shape);
}

using RefinedTypes = llvm::DenseMap<Value, RankedTensorType>;

/// Whether the op's own verifier accepts the refined types: that heads divide, or that keys fit into a cache, no class
/// knows. Where it does not, the op stays open, and refuses each call.
static bool verifiesRefined(Operation *op, const RefinedTypes &refined) {
  if (!isa<EqualSizesOpInterface>(op))
    return true;
  SmallVector<std::pair<Value, Type>> kept;
  auto refine = [&](Value value) {
    if (RankedTensorType type = refined.lookup(value)) {
      kept.push_back({value, value.getType()});
      value.setType(type);
    }
  };
  llvm::for_each(op->getOperands(), refine);
  llvm::for_each(op->getResults(), refine);
  ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
  bool verifies = succeeded(op->getName().verifyInvariants(op));
  // A value that occurs twice was changed twice, and gets back what it had first.
  for (auto [value, type] : llvm::reverse(kept))
    value.setType(type);
  return verifies;
}

static void castOperands(Operation *op, const RefinedTypes &refined) {
  // The terminator of scf.forall holds nothing but slices, of what the loop shares.
  auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(op);
  OpBuilder builder(slice ? op->getParentOp() : op);
  for (OpOperand &operand : op->getOpOperands())
    if (RankedTensorType type = refined.lookup(operand.get()); type && !(slice && &operand == &slice.getDestMutable()))
      operand.set(tensor::CastOp::create(builder, op->getLoc(), operand.get().getType(), operand.get()));
}

void mlir::resid::boundary::refineSizes(func::FuncOp function) {
  DimensionClasses classes(function);
  SmallVector<std::pair<Value, Operation *>> values; // and the operation that they, or their blocks, belong to
  RefinedTypes refined;
  SmallVector<Operation *> users;
  auto add = [&](Value value, Operation *owner) {
    if (RankedTensorType type = getRefinedType(value, classes)) {
      refined[value] = type;
      values.push_back({value, owner});
    }
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result, op);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        add(argument, op);
    if (op != function)
      users.push_back(op);
  });
  llvm::DenseSet<Operation *> open;
  for (Operation *user : users)
    if (!takesRefinedTypes(user) || !verifiesRefined(user, refined))
      open.insert(user);
  // Casts are made while the types still are what these operations want.
  for (Operation *user : users)
    if (open.contains(user))
      castOperands(user, refined);
  for (auto [value, owner] : values) {
    RankedTensorType type = refined.lookup(value);
    if (owner != function && !open.contains(owner)) {
      value.setType(type);
      continue;
    }
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    auto cast = tensor::CastOp::create(builder, value.getLoc(), type, value);
    value.replaceAllUsesExcept(cast, cast);
  }
}
