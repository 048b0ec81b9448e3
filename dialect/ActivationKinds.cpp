// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/ActivationKinds.h"

using namespace mlir;
using namespace mlir::resid;

// clang-format off
static constexpr ActivationRule rules[] = {
    {ActivationKind::ReLU,      ActivationFunction::ReLU,     /*isGated=*/false},
    {ActivationKind::GELU,      ActivationFunction::GELU,     /*isGated=*/false},
    {ActivationKind::GELUTanh,  ActivationFunction::GELUTanh, /*isGated=*/false},
    {ActivationKind::SiLU,      ActivationFunction::SiLU,     /*isGated=*/false},
    {ActivationKind::SwiGLU,    ActivationFunction::SiLU,     /*isGated=*/true, /*mayHaveLimit=*/true},
    {ActivationKind::GeGLU,     ActivationFunction::GELU,     /*isGated=*/true},
    {ActivationKind::GeGLUTanh, ActivationFunction::GELUTanh, /*isGated=*/true},
    {ActivationKind::Sigmoid,   ActivationFunction::Sigmoid,  /*isGated=*/false},
    {ActivationKind::ReLU2,     ActivationFunction::ReLU2,    /*isGated=*/false},
    {ActivationKind::SwiGLUOAI, ActivationFunction::SiLU,     /*isGated=*/true, /*mayHaveLimit=*/true, /*isClamped=*/true},
};
// clang-format on

static_assert(std::size(rules) == getMaxEnumValForActivationKind() + 1, "every kind has a line");

const ActivationRule &resid::getActivationRule(ActivationKind kind) {
  const ActivationRule &rule = rules[static_cast<unsigned>(kind)];
  assert(rule.kind == kind && "the lines stand in the order of the kinds");
  return rule;
}

std::optional<ActivationKind> resid::getGatedKind(ActivationKind kind) {
  for (const ActivationRule &rule : rules)
    if (rule.isGated && rule.function == getActivationRule(kind).function)
      return rule.kind;
  return std::nullopt;
}
