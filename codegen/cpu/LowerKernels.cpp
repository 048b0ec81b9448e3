// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each rows.kernel into functions over a range of rows, and calls what this call of the kernel needs.

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/rows/RowCalls.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {

struct LowerKernels : public cpu::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  /// A schedule that is none is a wrong flag, which is said before any program is read.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(Pass::initializeOptions(options, errorHandler)))
      return failure();
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    return parsed ? success() : errorHandler(llvm::toString(parsed.takeError()));
  }

  void runOnOperation() override {
    CPUTarget facts;
#define RESID_KERNEL_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) facts.MEMBER = MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
    FailureOr<CPUTarget> target = useSchedule(getOperation(), facts, schedule);
    if (failed(target) || failed(lower(*target)))
      return signalPassFailure();
  }

  LogicalResult lower(const CPUTarget &target) {
    SmallVector<rows::KernelOp> kernels;
    getOperation().walk([&](rows::KernelOp kernel) {
      if (!isa<contraction::RowBlocksOp>(kernel->getParentOp()))
        kernels.push_back(kernel);
    });
    SymbolTable symbols(getOperation());
    RowKernels lowering(symbols, target);
    std::vector<RowCall> calls;
    for (rows::KernelOp kernel : kernels) {
      FailureOr<RowCall> call = lowering.add(kernel);
      if (failed(call))
        return failure();
      calls.push_back(std::move(*call));
    }
    lowering.outline();
    for (RowCall &call : calls)
      lowering.emitCalls(call);
    for (rows::KernelOp kernel : kernels)
      kernel.erase();
    return success();
  }
};

} // namespace
