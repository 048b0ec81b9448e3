// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits a module; see DeviceModule.h.

#include "codegen/cuda/DeviceModule.h"

#include "codegen/cuda/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

/// PTX has names of letters, digits and underscores. The number makes them different from each other.
static std::string makeName(StringRef name, int64_t number) {
  std::string made = name.str();
  for (char &c : made)
    c = llvm::isAlnum(c) ? c : '_';
  return made + "_" + std::to_string(number);
}

DeviceModule cuda::takeDeviceModule(ModuleOp module) {
  DeviceModule device{ModuleOp::create(module.getLoc()), {}};
  for (auto global : llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
    if (global.getAddrSpace() == unsigned(NVVM::NVVMMemorySpace::Shared))
      global->moveBefore(device.module->getBody(), device.module->getBody()->end());
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    auto number = function->getAttrOfType<IntegerAttr>(kNumberAttribute);
    if (!number)
      continue;
    function->moveBefore(device.module->getBody(), device.module->getBody()->end());
    function.setName(makeName(function.getName(), number.getInt()));
    function.setPublic();
    device.kernels.resize(std::max<size_t>(device.kernels.size(), number.getInt() + 1));
    device.kernels[number.getInt()] = function.getName().str();
  }
  return device;
}
