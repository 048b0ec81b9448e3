// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all passes have that emit kernels: their options are a target. Not: the options themselves (Passes.td).

#ifndef RESID_CODEGEN_CPU_KERNELPASS_H
#define RESID_CODEGEN_CPU_KERNELPASS_H

#include "codegen/cpu/Passes.h"

namespace mlir::resid::cpu {

/// `Base` is the class that is generated of a KernelPass in Passes.td.
template <typename Base> struct KernelPass : Base {
  using Base::Base;

  /// A schedule that is none is a wrong flag, which is said before any program is read.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(Base::initializeOptions(options, errorHandler)))
      return failure();
    llvm::Expected<Schedule> parsed = parseSchedule(this->schedule);
    return parsed ? success() : errorHandler(llvm::toString(parsed.takeError()));
  }

  void runOnOperation() override {
    CPUTarget target;
#define RESID_KERNEL_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) target.MEMBER = this->MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
    llvm::Expected<Schedule> parsed = parseSchedule(this->schedule);
    if (llvm::Error error = parsed ? target.use(*parsed) : parsed.takeError()) {
      this->getOperation().emitError(llvm::toString(std::move(error)));
      return this->signalPassFailure();
    }
    if (failed(lower(target)))
      this->signalPassFailure();
  }

  /// Lowers the kernels of the module for the target.
  virtual LogicalResult lower(const CPUTarget &target) = 0;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_KERNELPASS_H
