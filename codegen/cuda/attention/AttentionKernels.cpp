// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#include "codegen/cuda/attention/AttentionKernels.h"

#include "codegen/cuda/Launch.h"
#include "codegen/cuda/attention/ForwardWarp.h"
#include "codegen/cuda/attention/KeyGradients.h"
#include "codegen/cuda/attention/QueryGradients.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

bool AttentionKernel::isOne(Operation *op) { return isa<attention::KernelOp, attention::BackwardOp>(op); }

kernels::PlanDecision AttentionKernel::describe(Operation *kernel) {
  StringRef what = isa<attention::BackwardOp>(kernel) ? "a warp has some queries, then some keys"
                                                      : "a warp has some queries, and their chunks of keys in turn";
  return {"emitter", "attention", ("attention emitter: " + what).str()};
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
static SmallVector<AttentionPlan> choosePlans(const AttentionShape &shape) {
  if (!shape.isBackward)
    return {AttentionPlan::chooseForward(shape)};
  return {AttentionPlan::chooseQueries(shape), AttentionPlan::chooseKeys(shape)};
}

bool AttentionKernel::takeIn(kernels::KernelUse &other) {
  return choosePlans(getShape()) == choosePlans(other.as<AttentionShape>()) && KernelCode::takeIn(other);
}

void AttentionKernel::addFunction(StringRef suffix, const AttentionPlan &plan,
                                  function_ref<void(Code &, kernels::KernelBody &)> emit) {
  func::FuncOp function = functions.outline(suffix, {}, [&](OpBuilder &at, kernels::KernelBody &body) {
    Code code(at, getFirst().op->getLoc());
    emit(code, body);
  });
  markKernel(function, count++, plan.getThreads());
}

void AttentionKernel::emit() {
  number = count;
  SmallVector<AttentionPlan> plans = choosePlans(getShape());
  if (!getShape().isBackward)
    return addFunction("__attention", plans[0],
                       [](Code &code, kernels::KernelBody &body) { ForwardWarp(code, body).emit(); });
  addFunction("__query_gradients", plans[0],
              [](Code &code, kernels::KernelBody &body) { QueryGradients(code, body).emit(); });
  addFunction("__key_gradients", plans[1],
              [](Code &code, kernels::KernelBody &body) { KeyGradients(code, body).emit(); });
}

LogicalResult AttentionKernel::launch(kernels::KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  const auto &shape = use.as<AttentionShape>();
  SmallVector<AttentionPlan> plans = choosePlans(shape);
  SmallVector<Value> arguments = functions.getArguments(code, use);
  SmallVector<Value> units = {AttentionWarp::countQueryUnits(code, shape, plans.front().getBlockRows())};
  if (shape.isBackward)
    units.push_back(KeyGradients::countUnits(code, shape, plans.back().getBlockRows()));
  for (auto [i, ofKernel] : llvm::enumerate(units)) {
    Launch launch{number + int64_t(i), ofKernel, code.constant(plans[i].getThreads()), /*sharedBytes=*/0, arguments};
    if (failed(launchKernel(use.op, use.enclosing, launch)))
      return failure();
  }
  return success();
}
