// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans in words; see DescribeRows.h.

#include "codegen/cuda/DescribeRows.h"

#include "codegen/cuda/rows/RowKernels.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

static kernels::PlanDecision describe(StringRef key, int64_t number, StringRef unit, StringRef before = "") {
  return {key.str(), number, (before + Twine(number) + " " + unit).str()};
}

static kernels::PlanDecision describeCount(StringRef key, int64_t count, StringRef one) {
  return describe(key, count, (one + (count == 1 ? " kept" : "s kept")).str());
}

/// Of the last plan, which has the widest rows.
static void describeRegisters(kernels::PlanDescription &description, ArrayRef<RegisterPlan> plans) {
  const RegisterPlan &plan = plans.back();
  description.decisions.push_back(
      describe("threads_per_row", plan.getRowThreads(), "threads per row", plan.isOpen() ? "up to " : ""));
  if (plan.isOpen())
    description.decisions.push_back({"most_columns", plan.width,
                                     "any width from " + std::to_string(plans.front().leastWidth) + " to " +
                                         std::to_string(plan.width) + " columns that suits"});
  else
    description.decisions.push_back(describe("rows_per_block", plan.blockRows, "rows per block"));
  description.decisions.push_back(describe("lanes", plan.lanes, "columns per access"));
  description.decisions.push_back(describeCount("kept_rows", plan.keptRows, "row"));
  if (plan.keptWeights > 0)
    description.decisions.push_back(describeCount("kept_weights", plan.keptWeights, "shared row"));
  if (plan.sums > 0)
    description.decisions.push_back(describeCount("kept_sums", plan.sums, "sum"));
  description.decisions.push_back(describe("kept_registers", plan.keptRegisters, "registers per thread for them"));
}

kernels::PlanDescription cuda::describeKernel(Operation *kernel, const Chip &chip, const RowSchedule &schedule) {
  kernels::PlanDescription plan{"chip", chip.name, {}, /*fallbackName=*/"scalar path", /*fallbackReason=*/""};
  auto rows = dyn_cast<rows::KernelOp>(kernel);
  if (!rows)
    return plan;
  int64_t phases = 0;
  rows.walk([&](rows::PhaseOp) { ++phases; });
  SmallVector<RegisterPlan, 2> registers = RegisterPlan::choose(rows, schedule);
  bool isLooped = registers.empty();
  if (isLooped)
    plan.decisions.push_back({"emitter", "looped", "looped emitter: phases read memory again"});
  else
    plan.decisions.push_back({"emitter", "registers", "registers emitter: rows stay in registers"});
  if (isLooped) {
    plan.decisions.push_back(describe("threads_per_row", kWarpThreads, "threads per row"));
    plan.decisions.push_back(describe("rows_per_block", kBlockWarps, "rows per block"));
  } else {
    describeRegisters(plan, registers);
  }
  plan.decisions.push_back(describe("phases", phases, "phases"));
  return plan;
}
