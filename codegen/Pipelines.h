// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of all stages from a parsed module to code: the one place that knows it. Does not own any stage, nor flags
// and files (tools/).

#ifndef RESID_CODEGEN_PIPELINES_H
#define RESID_CODEGEN_PIPELINES_H

#include "codegen/KernelReport.h"
#include "codegen/boundary/Signature.h"
#include "codegen/cuda/ptx/Chip.h"
#include "codegen/cuda/ptx/Images.h"
#include "codegen/cuda/rows/RowSchedule.h"
#include "codegen/machine/Object.h"
#include "codegen/machine/Target.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/Timing.h"
#include "passes/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include <functional>

namespace mlir::resid {

struct CompileOptions {
  ProgramMode mode = ProgramMode::Training;
  /// What of the program becomes ops of resid first.
  RaiseLevel raise = RaiseLevel::Exact;
  /// Gives the stacks of the program another norm placement first, if set; blocks are formed for that of what is flat.
  std::optional<ConvertNormPlacementOptions> conversion;
  /// Makes the functions that compute gradients, after the conversion, if set.
  std::optional<GradOptions> gradients;
  /// Prepended literally to every exported name.
  std::string prefix;
  /// Functions take their weights in one struct (PrepareEntries).
  bool weightsStruct = false;
  /// Each exported F also gets `void F__packed(void **args)`: args[i] points at the i-th C argument, the last one at a
  /// resid_status that receives the answer. For callers that learn a signature at run time.
  bool packedEntries = false;
  /// The GPUs that kernels are compiled for; empty: kernels run on the CPU.
  std::vector<cuda::Chip> chips;
  /// How they run rows there.
  cuda::RowSchedule deviceSchedule;
  /// NVIDIA's ptxas, which makes machine code beside the PTX of each chip; empty: PTX alone.
  std::string deviceAssembler;
  /// Called after each stage with its name, if set.
  std::function<void(llvm::StringRef stage, ModuleOp module)> afterStage;
  /// Gets what becomes of the program's row-wise ops, if set: in runResidStages and what comes after it.
  KernelReport *report = nullptr;
  /// Where time goes, if set.
  TimingScope *timing = nullptr;
};

/// Why a compilation ended early. The reason was reported as a diagnostic, or stands in CompiledModule::failure where
/// it is about code, which has no place in a program.
enum class CompileFailure {
  Program,     // the program is wrong
  Unavailable, // valid, but not available on this target
  File,        // a temporary file cannot be written
  Internal,    // a stage broke its own rules
};

/// Code of one module, optimised, in LLVM IR. The context outlives the module it owns.
struct CompiledModule {
  std::vector<boundary::KernelSignature> signatures;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> code;
  /// The kernels, where they run on GPUs: one image per chip, and their names.
  std::vector<cuda::Image> images;
  std::vector<std::string> kernels;
  /// What is wrong with the code, where that was no diagnostic.
  std::string failure;
};

/// The dialects of programs and of every stage, with the interfaces the stages need.
void registerCompilerDialects(DialectRegistry &registry);

/// Warns about mistakes around the residual stream (resid-check-stream) in a program as it is written.
std::optional<CompileFailure> checkProgram(ModuleOp module, const CompileOptions &options);

/// The passes from resid to resid, in place, a conversion first. Nothing if all went well.
std::optional<CompileFailure> runResidStages(ModuleOp module, const CompileOptions &options);

/// What comes before a drawing of the program, in place and instead of runResidStages: a conversion, in inference
/// dropout goes, flat and fused sub-layers become blocks where they can. Calls stay as they are written.
std::optional<CompileFailure> runDrawingStages(ModuleOp module, const CompileOptions &options);

/// Signatures of the public functions, after runResidStages; for headers without code. `module` is lowered on the way.
std::optional<CompileFailure> compileSignatures(ModuleOp module, const CompileOptions &options,
                                                llvm::ArrayRef<machine::TargetDescription> targets,
                                                std::vector<boundary::KernelSignature> &signatures);

/// Everything after runResidStages (compileSignatures included): `module` ends in the LLVM dialect, `result` holds its
/// code. For several targets what depends on the CPU is made once for each, and the functions choose at run time.
std::optional<CompileFailure> compileToCode(ModuleOp module, const CompileOptions &options,
                                            llvm::ArrayRef<machine::TargetDescription> targets, CompiledModule &result);

/// Code as bytes; an object that would need a library is refused as unavailable. `compiled` is used up: code generation
/// changes it.
std::optional<CompileFailure> writeCompiled(CompiledModule &compiled,
                                            llvm::ArrayRef<machine::TargetDescription> targets, machine::CodeKind kind,
                                            llvm::SmallVectorImpl<char> &bytes);

} // namespace mlir::resid

#endif // RESID_CODEGEN_PIPELINES_H
