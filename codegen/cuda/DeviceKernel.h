// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of a GPU that a kernel of any kind is outlined into, and their launches. Not: what a function does, nor
// which of them a call needs.

#ifndef RESID_CODEGEN_CUDA_DEVICEKERNEL_H
#define RESID_CODEGEN_CUDA_DEVICEKERNEL_H

#include "codegen/builder/Code.h"
#include "codegen/kernels/KernelLowering.h"

namespace mlir::resid::cuda {

/// Registers that a thread may have on every chip.
inline constexpr int64_t kMostThreadRegisters = 255;
/// Blocks with which nearly each processor of a device has one: Ampere, Hopper and Blackwell have 108 to 148.
inline constexpr int64_t kFewestBlocks = 96;

class DeviceKernel : public kernels::KernelCode {
public:
  /// `count`: how many functions the module's kernels have so far; each function gets a number.
  DeviceKernel(kernels::KernelUse first, SymbolTable &symbols, int64_t &count)
      : KernelCode(std::move(first), symbols), count(count) {}

protected:
  using EmitFunction = function_ref<void(Code &code, kernels::KernelBody &body)>;
  /// A function with the kernel's arguments and those of `more` types after them. `threads`: of a block. `registers`:
  /// what a thread may have at most; 0: the driver's compiler decides.
  void addFunction(StringRef suffix, TypeRange more, int64_t threads, int64_t registers, EmitFunction emit);
  int64_t countFunctions() const { return int64_t(numbers.size()); }
  /// Launches the function that was added as number `function`, counted from 0, before `place`. `blocks`, `threads` of
  /// a block: i64.
  LogicalResult launchFunction(int64_t function, Operation *place, kernels::KernelUse &use, Value blocks, Value threads,
                               ArrayRef<Value> arguments);

private:
  int64_t &count;
  /// Of the functions, in the object.
  SmallVector<int64_t, 2> numbers;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_DEVICEKERNEL_H
