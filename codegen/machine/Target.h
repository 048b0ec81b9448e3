// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which machine is compiled for: triple and CPU name to LLVM's description of it. Does not own what the lowering asks
// about a CPU (codegen/cpu/choice/CPUTarget.h); it fills that in.

#ifndef RESID_CODEGEN_MACHINE_TARGET_H
#define RESID_CODEGEN_MACHINE_TARGET_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::resid::machine {

/// A machine, resolved: `native` has become a name and a list of features.
struct TargetDescription {
  std::string triple;
  std::string cpu;
  std::string features;
  cpu::CPUTarget facts;
  std::unique_ptr<llvm::TargetMachine> machine;

  /// Whether the CPU has a feature by LLVM's name, such as "avx512f".
  bool hasFeature(llvm::StringRef feature) const;
  /// The features that code for this CPU may use and that are asked for at run time (codegen/machine/CPUFeatures.h).
  std::vector<std::string> getRequiredFeatures() const;
};

/// LLVM's name of a CPU that stands with features that it has beside, as in "x86-64-v4+avx512vnni".
inline llvm::StringRef getBaseCPU(llvm::StringRef cpu) { return cpu.split('+').first; }

/// Resolves `mcpu` ("native", or a name LLVM knows with features after it that begin with a plus) for `triple` (empty:
/// this machine's). The error text names what is valid where `mcpu` or `triple` is not.
llvm::Expected<TargetDescription> resolveTarget(llvm::StringRef triple, llvm::StringRef mcpu);

/// resolveTarget() for a comma list of CPUs, which get one object; for x86-64 only. The most capable comes first: the
/// one with the widest vector registers. Between equals, the one that asks for more features, then the list decides.
llvm::Expected<std::vector<TargetDescription>> resolveTargets(llvm::StringRef triple, llvm::StringRef mcpus);

/// The names of all CPUs that code may be compiled for, `native` first.
llvm::Expected<std::vector<std::string>> listCPUs(llvm::StringRef triple);

/// Says which machine and CPUs code is compiled for: a line for the triple, and one per CPU.
void printTargets(llvm::ArrayRef<TargetDescription> targets, llvm::raw_ostream &stream);

std::vector<std::string> getCPUNames(llvm::ArrayRef<TargetDescription> targets);

} // namespace mlir::resid::machine

#endif // RESID_CODEGEN_MACHINE_TARGET_H
