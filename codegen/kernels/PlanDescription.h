// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target's plan for a kernel as reports tell it, whatever the target is. Plain data. Not: what a plan decides, which
// the target knows, nor how a report is laid out (codegen/PrintKernelReport.cpp).

#ifndef RESID_CODEGEN_KERNELS_PLANDESCRIPTION_H
#define RESID_CODEGEN_KERNELS_PLANDESCRIPTION_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mlir::resid::kernels {

/// One decision.
struct PlanDecision {
  /// In JSON.
  std::string key;
  llvm::json::Value value;
  /// In text; empty where text is silent about it.
  std::string text;
  /// Why, in brackets after the text. Empty where nothing is to be said.
  std::string reason = {};
  /// Whether JSON has the reason as `key`_reason, null where it is empty.
  bool hasReason = false;
  /// Who decided: a flag, or a file with its line. Empty where the compiler did. JSON has it as `key`_source, "default"
  /// where it is empty.
  std::string source = {};
  /// What the source asks for, where that could not be followed; the reason says why. Empty where it was.
  std::string asked = {};
};

struct PlanDescription {
  /// What kind of machine the plan is for, as a key of JSON, and its name.
  std::string machineKind, machine;
  std::vector<PlanDecision> decisions;
  /// Why the kernel is run by slower code that can run every kernel; empty where it is not. In text it stands after
  /// `fallbackName`, in JSON it has that name with underscores.
  std::string fallbackName, fallbackReason;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_PLANDESCRIPTION_H
