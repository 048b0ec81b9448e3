// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans in words; see DescribeRows.h.

#include "codegen/cuda/DescribeRows.h"

#include "codegen/cuda/rows/RowKernels.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

static kernels::PlanDecision describe(StringRef key, int64_t number, StringRef unit) {
  return {key.str(), number, (Twine(number) + " " + unit).str()};
}

kernels::PlanDescription cuda::describeKernel(Operation *kernel, const Chip &chip) {
  kernels::PlanDescription plan{"chip", chip.name, {}, /*fallbackName=*/"scalar path", /*fallbackReason=*/""};
  auto rows = dyn_cast<rows::KernelOp>(kernel);
  if (!rows)
    return plan;
  int64_t phases = 0;
  rows.walk([&](rows::PhaseOp) { ++phases; });
  std::optional<RegisterPlan> registers = RegisterPlan::choose(rows);
  if (registers)
    plan.decisions.push_back({"emitter", "registers", "registers emitter: rows stay in registers"});
  else
    plan.decisions.push_back({"emitter", "looped", "looped emitter: phases read memory again"});
  plan.decisions.push_back(
      describe("threads_per_row", registers ? registers->getRowThreads() : kWarpThreads, "threads per row"));
  plan.decisions.push_back(
      describe("rows_per_block", registers ? registers->getBlockRows() : kBlockWarps, "rows per block"));
  if (registers) {
    plan.decisions.push_back(describe("lanes", registers->lanes, "columns per access"));
    plan.decisions.push_back(
        describe("kept_rows", registers->keptRows, registers->keptRows == 1 ? "row kept" : "rows kept"));
    if (registers->sums > 0)
      plan.decisions.push_back(describe("kept_sums", registers->sums, registers->sums == 1 ? "sum kept" : "sums kept"));
    plan.decisions.push_back(describe("kept_registers", registers->keptRegisters, "registers per thread for them"));
  }
  plan.decisions.push_back(describe("phases", phases, "phases"));
  return plan;
}
