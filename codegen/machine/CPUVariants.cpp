// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, declarations, and the split of a module into entries and implementations.

#include "codegen/machine/CPUVariants.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::machine;

CPUVariant CPUVariant::parse(StringRef text) {
  auto [name, features] = text.split(':');
  CPUVariant variant{name.str(), {}};
  for (StringRef feature : llvm::split(features, '+'))
    if (!feature.empty())
      variant.features.push_back(feature.str());
  return variant;
}

std::string CPUVariant::print() const { return name + ":" + llvm::join(features, "+"); }

std::string machine::getVariantName(StringRef function, StringRef cpu) { return (function + "." + cpu).str(); }

SmallVector<func::FuncOp> machine::declareVariants(func::FuncOp implementation, ArrayRef<CPUVariant> variants) {
  OpBuilder builder(implementation);
  SmallVector<func::FuncOp> declarations;
  for (const CPUVariant &variant : variants) {
    std::string name = getVariantName(implementation.getName(), variant.name);
    auto declaration = func::FuncOp::create(builder, implementation.getLoc(), name, implementation.getFunctionType());
    declaration.setPrivate();
    declaration->setAttr(cpu::kPerCPUAttribute, builder.getUnitAttr());
    declarations.push_back(declaration);
  }
  implementation->setAttr(cpu::kPerCPUAttribute, builder.getUnitAttr());
  return declarations;
}

OwningOpRef<ModuleOp> machine::takeImplementations(ModuleOp module) {
  OwningOpRef<ModuleOp> taken = ModuleOp::create(module.getLoc());
  (*taken)->setAttrs(module->getAttrDictionary());
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    auto function = dyn_cast<func::FuncOp>(op);
    bool isImplementation = function && !function.isExternal() && function->hasAttr(cpu::kPerCPUAttribute);
    if (!isImplementation && !isa<memref::GlobalOp>(op))
      continue;
    op.moveBefore(taken->getBody(), taken->getBody()->end());
    if (isImplementation)
      function.setPublic();
  }
  return taken;
}
