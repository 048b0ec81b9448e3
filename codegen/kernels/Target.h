// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stages ask a target: what it is called, what it has room for, how it plans kernels, and how it compiles
// them. Each target implements this in a folder of its own (docs/adding-a-target.md). Does not own the order of the
// stages (codegen/Pipelines.h).

#ifndef RESID_CODEGEN_KERNELS_TARGET_H
#define RESID_CODEGEN_KERNELS_TARGET_H

#include "codegen/kernels/KernelOpInterface.h"
#include "codegen/kernels/PlanDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::machine {
struct TargetDescription;
} // namespace mlir::resid::machine

namespace mlir::resid {

/// Why a compilation ended early. The reason was reported as a diagnostic, or stands in CompiledModule::failure where
/// it is about code, which has no place in a program.
enum class CompileFailure {
  Program,     // the program is wrong
  Unavailable, // valid, but not available on this target
  File,        // a temporary file cannot be written
  Internal,    // a stage broke its own rules
};

} // namespace mlir::resid

namespace mlir::resid::kernels {

/// Machines with a memory of their own, where arrays lie and kernels run.
struct Device {
  /// In LLVM's words, and the machines that there is code for as a comma list; F_info answers both.
  std::string triple, machines;
  /// What the functions of the runtime begin with that objects may import.
  std::string imports;
};

/// The kernels of one program as a device loads them.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;
  /// For the first machine.
  virtual StringRef getText() const = 0;
  /// Puts all of it into the module that launches the kernels.
  virtual void addTo(llvm::Module &host) const = 0;
};

/// How a target runs passes of its own.
struct Stages {
  /// A stage after which programs are refused as unavailable.
  function_ref<std::optional<CompileFailure>(ModuleOp module, StringRef name,
                                             function_ref<void(OpPassManager &)> build)>
      run;
  /// The time of what is no pass.
  function_ref<TimingScope(StringRef name)> time;
};

/// What a row program may have of local rows.
struct LocalRowLimits {
  /// The bytes that all local rows of a program may have; 0: there are none.
  int64_t bytes = 0;
  /// A value that is cheap to compute is kept only where so many later passes of every row need it.
  int64_t leastPasses = 1;
};

/// Scratch memory that a kernel takes.
struct ScratchShape {
  Type elementType;
  /// i64, constants as far as they are known; none: the kernel takes no memory.
  SmallVector<Value> sizes;
};

/// Scratch memory begins at multiples of so many bytes, and targets may cut it there.
inline constexpr int64_t kScratchAlignment = 64;

class Target {
public:
  virtual ~Target() = default;

  /// As messages say it: "is not available on CPU targets".
  virtual StringRef getName() const = 0;
  /// The processors that entries run on, and kernels too where there is no device. The most capable comes first.
  virtual ArrayRef<machine::TargetDescription> getProcessors() const = 0;
  /// Null where arrays lie in the memory of processors.
  virtual const Device *getDevice() const { return nullptr; }

  /// Whether kernels of products read weights of integers, and not only floats that are computed from them before.
  virtual bool takesIntegers() const { return false; }

  /// What row programs may have of local rows.
  virtual LocalRowLimits getLocalRowLimits() const { return {}; }

  /// Adds passes on functions on buffers that run before temporaries get their places in scratch memory.
  virtual void addBufferPasses(OpPassManager &manager) const {}

  /// What a kernel on buffers takes of scratch memory. Emits what computes open sizes at the builder's position.
  virtual FailureOr<ScratchShape> countScratch(OpBuilder &builder, KernelOpInterface kernel) const = 0;

  /// The plans for a kernel, of whatever kind: one per machine.
  virtual std::vector<PlanDescription> describe(Operation *kernel) const = 0;
  /// How each machine runs a kernel together with `others`, which are given by their names; empty where kernels run
  /// alone.
  virtual std::vector<PlanDecision> describeTogether(Operation *together, ArrayRef<std::string> others) const {
    return {};
  }

  /// Takes the kernels of a device out of `module`, which launches them from then on, and compiles them. Leaves
  /// `code` null where there is no device.
  virtual std::optional<CompileFailure> compileDevice(ModuleOp module, const Stages &stages,
                                                      std::unique_ptr<DeviceCode> &code) const {
    return std::nullopt;
  }
  /// The passes from functions on buffers to the LLVM dialect, for one of the processors.
  virtual void buildLowering(OpPassManager &manager, const machine::TargetDescription &processor) const = 0;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_TARGET_H
