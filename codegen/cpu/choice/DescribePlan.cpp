// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions in the order of the report; see DescribePlan.h.

#include "codegen/cpu/choice/DescribePlan.h"

#include "codegen/cpu/choice/KernelPlan.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using kernels::PlanDecision;

/// A decision whose text is `key=value`.
static PlanDecision decide(StringRef key, StringRef value) { return {key.str(), value, (key + "=" + value).str()}; }

static PlanDecision decide(StringRef key, StringRef value, StringRef reason) {
  return {key.str(), value, (key + "=" + value).str(), reason.str(), /*hasReason=*/true};
}

static PlanDecision describeVectors(const CPUTarget &target) {
  std::string text = "vectors of " + std::to_string(target.vectorBits) + " bits";
  return {"vector_bits", target.vectorBits, text, target.vectorBitsReason, /*hasReason=*/true};
}

static PlanDecision describeStores(const KernelPlan &plan, const CPUTarget &target) {
  bool isForced = target.schedule.stores == StoreKind::NonTemporal;
  return decide("stores", !plan.streamed ? "plain" : isForced ? "nontemporal" : "auto", plan.plainReason);
}

/// The version that writes past the cache decides, unless it is the other one alone that is batched.
static PlanDecision describeRows(const KernelPlan &plan) {
  if (plan.streamed && !plan.isPipelined() && plan.isBatched && !plan.isBatchedPastCache)
    return decide("rows", "batched", "single past the cache: " + plan.singleReason);
  return decide("rows",
                plan.isPipelined() ? "pipelined"
                : plan.isBatched   ? "batched"
                                   : "single",
                plan.isBatched ? "" : plan.singleReason);
}

/// Columns that fit into the rows on the stack which the version past the cache keeps; 0: it keeps none.
static PlanDecision describeScratch(const KernelPlan &plan) {
  int64_t columns = plan.streamed && !plan.streamed->getKept().empty() ? plan.streamed->getCapacity() : 0;
  std::string text = columns ? "rows of " + std::to_string(columns) + " columns on the stack" : "";
  return {"scratch_columns", columns, text};
}

static bool hasValue(const PlanDecision &decision, StringRef value) {
  std::optional<int64_t> number = decision.value.getAsInteger();
  return number ? std::to_string(*number) == value : decision.value.getAsString() == value;
}

/// Says who set what. Settings that are no decision of their own, such as thresholds, stand behind those that are.
static void addSources(std::vector<PlanDecision> &decisions, const Schedule &schedule) {
  for (const Setting &setting : schedule.settings) {
    std::string key = setting.key;
    llvm::replace(key, '-', '_');
    auto found = llvm::find_if(decisions, [&](const PlanDecision &decision) { return decision.key == key; });
    int64_t number;
    if (found == decisions.end()) {
      bool isNumber = !StringRef(setting.value).getAsInteger(10, number);
      llvm::json::Value value = isNumber ? llvm::json::Value(number) : llvm::json::Value(setting.value);
      found = decisions.insert(found, {key, value, setting.key + "=" + setting.value});
    }
    found->source = setting.source;
    // With `auto` any decision is what was asked for.
    if (!hasValue(*found, setting.value) && setting.value != "auto")
      found->asked = setting.value;
  }
}

kernels::PlanDescription cpu::describePlan(rows::KernelOp kernel, StringRef name, const CPUTarget &target) {
  KernelPlan plan = planKernel(kernel, target);
  kernels::PlanDescription result{"cpu", name.str(), {}, "scalar path", {}};
  result.decisions = {decide("path", plan.path == RowPath::Vector ? "vector" : "scalar"),
                      describeVectors(target),
                      describeStores(plan, target),
                      decide("prefetch", plan.prefetch ? "on" : "off"),
                      describeRows(plan),
                      describeScratch(plan)};
  addSources(result.decisions, target.schedule);
  if (plan.path == RowPath::Scalar)
    result.fallbackReason = plan.obstacle.empty() ? "the schedule says so" : plan.obstacle;
  return result;
}
