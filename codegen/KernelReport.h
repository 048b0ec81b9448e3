// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What became of a program's row-wise ops: which share a kernel and why others do not, what each kernel reads and
// writes, how it is run. Collected from kernels between stages; changes nothing. Does not own what a kernel is (rows/)
// nor how a target runs it, which the target's plan says (kernels/PlanDescription.h).

#ifndef RESID_CODEGEN_KERNELREPORT_H
#define RESID_CODEGEN_KERNELREPORT_H

#include "codegen/kernels/Target.h"
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

/// Why no code was made.
struct ReportedProgramRefusal {
  std::string place; ///< line:column; empty where the program has none
  std::string reason;
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
  /// One per machine.
  std::vector<kernels::PlanDescription> plans;
  std::vector<ReportedRefusal> refusals;
};

/// Kernels that together connect two branches on several streams: a write, coefficients, a read and a norm. What only
/// they hand to each other is not compulsory.
struct ReportedTransition {
  std::vector<std::string> kernels;
  rows::ByteCount read, written, compulsory;
};

/// A function: what it runs beside kernels, its transitions in the order of the program, and refusals about ops of no
/// kernel.
struct ReportedFunction {
  std::string name;
  std::vector<ReportedTransition> transitions;
  SmallVector<rows::SourceOp> otherOps;
  std::vector<ReportedRefusal> refusals;
};

class KernelReport {
public:
  /// Lets the ops of a program say where they stand, before its first stage.
  void begin(ModuleOp program);
  /// Takes down what a program shows after one of its stages, and what the target plans for its kernels; up to
  /// runResidStages there need be none. For CompileOptions::afterStage, with CompileOptions::record.
  void collect(StringRef stage, ModuleOp module, const kernels::Target *target);

  /// Why the program is refused: one of its ops, with what is said of it.
  void addRefusal(Location place, StringRef reason);

  void printText(raw_ostream &stream) const;
  void printJSON(raw_ostream &stream) const;

private:
  /// What the fusion of add and norm refused, of a program after the passes from resid to resid.
  void collectChains(ModuleOp module);
  /// The kernels of functions on tensors with a signature.
  void collectKernels(ModuleOp module, const kernels::Target &target);
  /// Once the same kernels work on buffers, which of them run together by blocks of rows and why others do not.
  void collectRowBlocks(ModuleOp module, const kernels::Target &target);

  std::vector<ReportedFunction> functions;
  std::vector<ReportedKernel> kernels;
  /// Of the program as a whole.
  std::vector<ReportedProgramRefusal> programRefusals;
  /// By the function's location, which stays when it gets its C name.
  std::vector<std::pair<Location, ReportedRefusal>> chains;
};

} // namespace mlir::resid

#endif // RESID_CODEGEN_KERNELREPORT_H
