// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/weights/FoldRecord.h"

#include "passes/placement/NormParameters.h"

using namespace mlir;
using namespace mlir::resid;

/// The placement of all blocks in `function`; empty where there are several or none.
static std::string getPlacement(func::FuncOp function) {
  std::optional<Placement> common;
  bool differs = false;
  function.walk([&](BlockOp block) {
    differs |= common.value_or(block.getPlacement()) != block.getPlacement();
    common = block.getPlacement();
  });
  return common && !differs ? stringifyPlacement(*common).str() : "";
}

FoldRecord::FoldRecord(func::FuncOp function) : function(function) {
  std::string placement = getPlacement(function);
  conversion = {function.getName().str(), placement, placement, RewriteClass::Exact, {}};
  for (auto [number, norm] : llvm::enumerate(collectNormSites(function)))
    numbers.try_emplace(norm.op, number);
}

std::string FoldRecord::getNormName(const NormSite &norm) const {
  return "norm " + std::to_string(numbers.lookup(norm.op) + norm.index);
}

void FoldRecord::addNormParameter(const NormSite &norm, Value parameter, bool staysInNorm) {
  if (!parameter)
    return;
  std::string name = getNormName(norm);
  conversion.parameters.push_back(
      {getParameterName(parameter), ParameterAction::Fold, name, staysInNorm ? name : std::string()});
}

void FoldRecord::addParameter(Value parameter) {
  if (parameter)
    conversion.parameters.push_back({getParameterName(parameter), ParameterAction::Fold, "", ""});
}

void FoldRecord::finish() {
  if (!conversion.parameters.empty())
    recordConversion(function->getParentOfType<ModuleOp>(), conversion);
}
