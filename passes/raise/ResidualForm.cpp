// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/ResidualForm.h"

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/stream/BranchSlice.h"

using namespace mlir;
using namespace mlir::resid;

/// What the op multiplies, if it is a product of matrices. What a product starts from, a bias and a mask are none of
/// it.
static SmallVector<Value, 3> getFactors(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return {linear.getX(), linear.getWeight()};
  if (auto attention = dyn_cast<AttentionOp>(op))
    return {attention.getQ(), attention.getK(), attention.getV()};
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  std::optional<Contraction> product = structured ? matchContraction(structured) : std::nullopt;
  return product ? SmallVector<Value, 3>{product->a->get(), product->b->get()} : SmallVector<Value, 3>();
}

/// Whether a product, itself or in a region, multiplies what is computed from the stream.
static bool multipliesStream(Operation *op, const BranchSlice &slice, Value stream) {
  auto isOfStream = [&](Value factor) {
    return factor == stream || slice.ops.contains(factor.getDefiningOp()) ||
           op->isAncestor(factor.getParentBlock()->getParentOp());
  };
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(getFactors(nested), isOfStream) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether products lead from the stream to the branch.
static bool isBranchOf(Block *block, Value branch, Value stream) {
  BranchSlice slice = findBranchSlice(block, stream, branch);
  return slice.isDependent &&
         llvm::any_of(slice.ops, [&](Operation *op) { return multipliesStream(op, slice, stream); });
}

/// The tensor whose elements the node adds, before they are widened to the sum's type.
static Value getBranch(const ElementNode *node) {
  bool isWidened = !node->whole && isa_and_present<arith::ExtFOp>(node->op);
  return (isWidened ? node->operands.front() : node)->whole;
}

static bool haveOneShape(Value first, Value second) {
  return cast<RankedTensorType>(first.getType()).getShape() == cast<RankedTensorType>(second.getType()).getShape();
}

std::optional<ResidualForm> resid::matchResidual(const ElementExpression &expression) {
  const ElementNode *root = expression.getRoot();
  if (!isa_and_present<arith::AddFOp>(root->op))
    return std::nullopt;
  Block *block = root->whole.getDefiningOp()->getBlock();
  for (unsigned i : {0, 1}) {
    ResidualForm form{root->operands[i]->whole, getBranch(root->operands[1 - i])};
    if (form.stream && form.branch && form.stream != form.branch && form.stream.getType() == root->whole.getType() &&
        haveOneShape(form.stream, form.branch) && isBranchOf(block, form.branch, form.stream))
      return form;
  }
  return std::nullopt;
}

Value resid::buildResidual(OpBuilder &builder, Location location, const ResidualForm &form) {
  Value branch = form.branch;
  if (branch.getType() != form.stream.getType())
    branch = arith::ExtFOp::create(builder, location, form.stream.getType(), branch);
  return AddOp::create(builder, location, form.stream, branch);
}
