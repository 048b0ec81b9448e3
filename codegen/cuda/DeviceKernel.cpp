// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/DeviceKernel.h"

#include "codegen/cuda/Launch.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

void DeviceKernel::addFunction(StringRef suffix, TypeRange more, int64_t threads, int64_t registers,
                               EmitFunction emit) {
  func::FuncOp function = functions.outline(suffix, more, [&](OpBuilder &at, kernels::KernelBody &body) {
    Code code(at, getFirst().op->getLoc());
    emit(code, body);
  });
  numbers.push_back(count);
  markKernel(function, count++, threads, registers);
}

LogicalResult DeviceKernel::launchFunction(int64_t function, Operation *place, kernels::KernelUse &use, Value blocks,
                                           Value threads, ArrayRef<Value> arguments) {
  return launchKernel(place, use.enclosing, {numbers[function], blocks, threads, arguments});
}
