// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/attention/AttentionKernels.h"

#include "codegen/cuda/attention/ForwardWarp.h"
#include "codegen/cuda/attention/KeyGradients.h"
#include "codegen/cuda/attention/QueryGradients.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

bool AttentionKernel::isOne(Operation *op) { return isa<attention::KernelOp, attention::BackwardOp>(op); }

/// Of the functions, in their order.
static SmallVector<AttentionPlan> choosePlans(const AttentionShape &shape, bool relaxesProducts) {
  if (shape.isBackward)
    return {AttentionPlan::chooseQueries(shape, relaxesProducts), AttentionPlan::chooseKeys(shape, relaxesProducts)};
  SmallVector<AttentionPlan> plans = {AttentionPlan::chooseForward(shape, relaxesProducts)};
  if (mayHaveFewQueries(shape))
    plans.append({AttentionPlan::chooseChunks(shape), AttentionPlan::chooseJoin()});
  return plans;
}

static FailureOr<AttentionShape> createShape(OpBuilder &builder, Operation *kernel) {
  if (auto backward = dyn_cast<attention::BackwardOp>(kernel))
    return AttentionShape::create(builder, backward);
  return AttentionShape::create(builder, cast<attention::KernelOp>(kernel));
}

kernels::PlanDecision AttentionKernel::describe(OpBuilder &builder, Operation *kernel, bool relaxesProducts) {
  FailureOr<AttentionShape> shape = createShape(builder, kernel);
  SmallVector<AttentionPlan> plans;
  if (succeeded(shape))
    plans = choosePlans(*shape, relaxesProducts);
  bool isBackward = isa<attention::BackwardOp>(kernel);
  StringRef what = isBackward ? "a warp has some queries, then some keys"
                              : "a warp has some queries, and their chunks of keys in turn; of few queries, one chunk";
  SmallVector<StringRef> uses{"but of few queries"}, relaxed;
  if (isBackward)
    uses = {"for the gradients of queries", "for those of keys and values"};
  for (auto [plan, use] : llvm::zip(plans, uses))
    if (plan.usesMatrixUnits)
      relaxed.push_back(use);
  std::string units;
  if (!relaxed.empty())
    units = "; matrix units add up the products, as --relax-rounding=products allows, " + llvm::join(relaxed, " and ");
  return {"emitter", "attention", ("attention emitter: " + what + units).str()};
}

FailureOr<kernels::ScratchShape> AttentionKernel::countScratch(OpBuilder &builder, Operation *kernel) {
  auto backward = dyn_cast<attention::BackwardOp>(kernel);
  Location loc = kernel->getLoc();
  FailureOr<AttentionShape> shape = createShape(builder, kernel);
  if (failed(shape))
    return failure();
  if (!backward && !mayHaveFewQueries(*shape))
    return kernels::ScratchShape();
  Extent bytes = kernels::makeExtent(builder, loc, shape->arithmetic.getWidth() / 8);
  for (Extent size : {shape->batches, shape->keyHeads, shape->group, shape->queries})
    bytes = kernels::multiply(builder, loc, bytes, size);
  if (backward)
    return kernels::ScratchShape{builder.getI8Type(), {bytes.value}};
  Code code(builder, loc);
  Value ofRow = code.multiply(countChunks(code, *shape), 2 + shape->getValueSize());
  Value all = code.multiply(bytes.value, ofRow);
  return kernels::ScratchShape{builder.getI8Type(), {code.select(hasFewQueries(code, *shape), all, 0)}};
}

void AttentionKernel::emit() {
  SmallVector<AttentionPlan> plans = choosePlans(getShape(), relaxesProducts);
  auto add = [&](StringRef suffix, const AttentionPlan &plan, EmitFunction emit) {
    addFunction(suffix, {}, plan.getThreads(), kMostThreadRegisters, emit);
  };
  if (!getShape().isBackward) {
    add("__attention", plans[0],
        [&](Code &code, kernels::KernelBody &body) { ForwardWarp(code, body, plans[0]).emit(); });
    if (plans.size() == 1)
      return;
    add("__chunks", plans[1],
        [&](Code &code, kernels::KernelBody &body) { ForwardWarp(code, body, plans[1]).emitOneChunk(); });
    return add("__join", plans[2],
               [&](Code &code, kernels::KernelBody &body) { ForwardWarp(code, body, plans[2]).emitJoin(); });
  }
  add("__query_gradients", plans[0],
      [&](Code &code, kernels::KernelBody &body) { QueryGradients(code, body, plans[0]).emit(); });
  add("__key_gradients", plans[1],
      [&](Code &code, kernels::KernelBody &body) { KeyGradients(code, body, plans[1]).emit(); });
}

LogicalResult AttentionKernel::launch(kernels::KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  const auto &shape = use.as<AttentionShape>();
  SmallVector<Value> arguments = functions.getArguments(code, use);
  SmallVector<AttentionPlan> plans = choosePlans(shape, relaxesProducts);
  Value rows = code.multiply(shape.group.value, shape.queries.value);
  auto launch = [&](int64_t function, Operation *place, Value ofHead, Value times) {
    Code at(OpBuilder(place), use.op->getLoc());
    const AttentionPlan &plan = plans[function];
    Value units = at.multiply(AttentionWarp::countUnits(at, shape, ofHead, plan.getBlockRows()), times);
    return launchFunction(function, place, use, units, at.constant(plan.getThreads()), arguments);
  };
  Value once = code.constant(1);
  if (shape.isBackward)
    return success(succeeded(launch(0, use.op, rows, once)) && succeeded(launch(1, use.op, shape.keys.value, once)));
  if (plans.size() == 1)
    return launch(0, use.op, rows, once);
  Value chunks = countChunks(code, shape);
  auto either = code.create<scf::IfOp>(hasFewQueries(code, shape), /*withElseRegion=*/true);
  return success(succeeded(launch(1, either.thenYield(), rows, chunks)) &&
                 succeeded(launch(2, either.thenYield(), rows, once)) &&
                 succeeded(launch(0, either.elseYield(), rows, once)));
}
