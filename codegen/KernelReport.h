// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What became of a program's row-wise ops: which share a kernel and why others do not, what each kernel reads and
// writes, how it is run. Collected from kernels between stages; changes nothing. Does not own what a kernel is (rows/)
// nor how its schedule is chosen (cpu/).

#ifndef RESID_CODEGEN_KERNELREPORT_H
#define RESID_CODEGEN_KERNELREPORT_H

#include "codegen/machine/Target.h"
#include "codegen/rows/KernelTraffic.h"
#include "codegen/rows/SourceOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/stream/AddNormChain.h"

namespace mlir::resid {

/// Why ops are apart that could have been one.
struct ReportedRefusal {
  rows::SourceOp op;
  std::string reason;
};

/// A kernel on one CPU.
struct ReportedSchedule {
  std::string cpu;
  std::string path, stores, storesReason, prefetch, rows, rowsReason;
  unsigned vectorBits = 0;
  /// Columns that fit into the rows on the stack which the version past the cache keeps; 0: it keeps none.
  int64_t scratchColumns = 0;
};

struct ReportedOperand {
  std::string name;
  std::string type;
  rows::OperandTraffic traffic;
};

struct ReportedKernel {
  std::string function, name;
  SmallVector<rows::SourceOp> fused;
  std::string program;
  std::vector<ReportedOperand> operands;
  rows::ByteCount read, written, compulsory;
  std::vector<ReportedSchedule> schedules;
  std::vector<ReportedRefusal> refusals;
  std::string scalarPath; ///< why, empty where no CPU takes it
};

/// A function: what it runs beside kernels, and refusals about ops of no kernel.
struct ReportedFunction {
  std::string name;
  SmallVector<rows::SourceOp> otherOps;
  std::vector<ReportedRefusal> refusals;
};

class KernelReport {
public:
  /// Takes down what the fusion of add and norm refused, of a program after the passes from resid to resid.
  void collectChains(ModuleOp module);
  /// Takes down the kernels of functions on tensors with a signature.
  void collectKernels(ModuleOp module, ArrayRef<machine::TargetDescription> targets);

  void printText(raw_ostream &stream) const;
  void printJSON(raw_ostream &stream) const;

  ArrayRef<ReportedFunction> getFunctions() const { return functions; }
  ArrayRef<ReportedKernel> getKernels() const { return kernels; }

private:
  std::vector<ReportedFunction> functions;
  std::vector<ReportedKernel> kernels;
  /// By the function's location, which stays when it gets its C name.
  std::vector<std::pair<Location, ReportedRefusal>> chains;
};

} // namespace mlir::resid

#endif // RESID_CODEGEN_KERNELREPORT_H
