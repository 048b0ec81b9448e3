// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/attention/AttentionKernels.h"

#include "codegen/cuda/attention/ForwardWarp.h"
#include "codegen/cuda/attention/KeyGradients.h"
#include "codegen/cuda/attention/QueryGradients.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

bool AttentionKernel::isOne(Operation *op) { return isa<attention::KernelOp, attention::BackwardOp>(op); }

kernels::PlanDecision AttentionKernel::describe(Operation *kernel, bool relaxesProducts) {
  StringRef what = isa<attention::BackwardOp>(kernel) ? "a warp has some queries, then some keys"
                                                      : "a warp has some queries, and their chunks of keys in turn";
  auto forward = dyn_cast<attention::KernelOp>(kernel);
  Type element = getElementTypeOrSelf(kernel->getOperand(0).getType());
  bool mayUseMatrixUnits = relaxesProducts && forward && (element.isBF16() || element.isF16());
  StringRef units = mayUseMatrixUnits ? "; matrix units add up products where a warp has eight queries, as "
                                        "--relax-rounding=products allows"
                                      : "";
  return {"emitter", "attention", ("attention emitter: " + what + units).str()};
}

FailureOr<kernels::ScratchShape> AttentionKernel::countScratch(OpBuilder &builder, Operation *kernel) {
  auto backward = dyn_cast<attention::BackwardOp>(kernel);
  if (!backward)
    return kernels::ScratchShape();
  Location loc = kernel->getLoc();
  auto shape = AttentionShape::create(builder, backward);
  if (failed(shape))
    return failure();
  Extent bytes = kernels::makeExtent(builder, loc, shape->arithmetic.getWidth() / 8);
  for (Extent size : {shape->batches, shape->keyHeads, shape->group, shape->queries})
    bytes = kernels::multiply(builder, loc, bytes, size);
  return kernels::ScratchShape{builder.getI8Type(), {bytes.value}};
}

/// Of the functions, in their order.
static SmallVector<AttentionPlan> choosePlans(const AttentionShape &shape, bool relaxesProducts) {
  if (!shape.isBackward)
    return {AttentionPlan::chooseForward(shape, relaxesProducts)};
  return {AttentionPlan::chooseQueries(shape), AttentionPlan::chooseKeys(shape)};
}

void AttentionKernel::emit() {
  SmallVector<AttentionPlan> plans = choosePlans(getShape(), relaxesProducts);
  auto add = [&](StringRef suffix, const AttentionPlan &plan, EmitFunction emit) {
    addFunction(suffix, {}, plan.getThreads(), kMostThreadRegisters, emit);
  };
  if (!getShape().isBackward)
    return add("__attention", plans[0],
               [&](Code &code, kernels::KernelBody &body) { ForwardWarp(code, body, plans[0]).emit(); });
  add("__query_gradients", plans[0], [](Code &code, kernels::KernelBody &body) { QueryGradients(code, body).emit(); });
  add("__key_gradients", plans[1], [](Code &code, kernels::KernelBody &body) { KeyGradients(code, body).emit(); });
}

LogicalResult AttentionKernel::launch(kernels::KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  const auto &shape = use.as<AttentionShape>();
  SmallVector<Value> arguments = functions.getArguments(code, use);
  SmallVector<Value> rows = {code.multiply(shape.group.value, shape.queries.value), shape.keys.value};
  for (auto [i, plan] : llvm::enumerate(choosePlans(shape, relaxesProducts))) {
    Value units = AttentionWarp::countUnits(code, shape, rows[i], plan.getBlockRows());
    if (failed(launchFunction(i, use.op, use, units, code.constant(plan.getThreads()), arguments)))
      return failure();
  }
  return success();
}
