// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of all stages from a parsed module to code: the one place that knows it. Does not own any stage, nor flags
// and files (tools/).

#ifndef RESID_CODEGEN_PIPELINES_H
#define RESID_CODEGEN_PIPELINES_H

#include "codegen/boundary/Signature.h"
#include "codegen/kernels/Target.h"
#include "codegen/machine/Object.h"
#include "codegen/machine/Target.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/Timing.h"
#include "passes/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include <functional>

namespace mlir::resid {

/// The stages that a KernelReport looks at.
namespace stages {
inline constexpr llvm::StringLiteral kResid = "resid", kRowKernels = "row-kernels", kBuffers = "buffers";
} // namespace stages

struct CompileOptions {
  ProgramMode mode = ProgramMode::Training;
  /// What of the program becomes ops of resid first.
  RaiseLevel raise = RaiseLevel::Exact;
  /// Gives the stacks of the program another norm placement first, if set; blocks are formed for that of what is flat.
  std::optional<ConvertNormPlacementOptions> conversion;
  /// Gives them several residual streams after that, or one again, if set; blocks are formed for that too.
  std::optional<WidenStreamOptions> widening;
  /// Makes the functions that compute gradients, after the conversion, if set.
  std::optional<GradOptions> gradients;
  /// Prepended literally to every exported name.
  std::string prefix;
  /// Functions take their weights in one struct (PrepareEntries).
  bool weightsStruct = false;
  /// Functions take the weights of contractions in panels, which @F_prepare makes (resid-pack-weights).
  bool packWeights = false;
  /// Each exported F also gets `void F__packed(void **args)`: args[i] points at the i-th C argument, the last one at a
  /// resid_status that receives the answer. For callers that learn a signature at run time.
  bool packedEntries = false;
  /// What the program is compiled for; none is needed up to runResidStages.
  std::shared_ptr<const kernels::Target> target;
  /// Called after each stage with its name, if set.
  std::function<void(llvm::StringRef stage, ModuleOp module)> afterStage;
  /// Kernels note for a KernelReport what became of the ops around them.
  bool record = false;
  /// Where time goes, if set.
  TimingScope *timing = nullptr;
};

/// Code of one module, optimised, in LLVM IR. The context outlives the module it owns.
struct CompiledModule {
  std::shared_ptr<const kernels::Target> target;
  std::vector<boundary::KernelSignature> signatures;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> code;
  /// The kernels, where a device runs them.
  std::unique_ptr<kernels::DeviceCode> device;
  /// What is wrong with the code, where that was no diagnostic.
  std::string failure;
};

/// The dialects of programs and of every stage, with the interfaces the stages need.
void registerCompilerDialects(DialectRegistry &registry);

/// Warns about mistakes around the residual stream (resid-check-stream) in a program as it is written.
std::optional<CompileFailure> checkProgram(ModuleOp module, const CompileOptions &options);

/// The passes from resid to resid, in place, a conversion first. Nothing if all went well.
std::optional<CompileFailure> runResidStages(ModuleOp module, const CompileOptions &options);

/// What comes before a drawing of the program, in place and instead of runResidStages: what is written out becomes ops
/// of resid as `options.raise` says, then a conversion, in inference dropout goes, flat and fused sub-layers become
/// blocks where they can. Calls stay as they are written.
std::optional<CompileFailure> runDrawingStages(ModuleOp module, const CompileOptions &options);

/// Signatures of the public functions, after runResidStages; for headers without code. `module` is lowered on the way.
std::optional<CompileFailure> compileSignatures(ModuleOp module, const CompileOptions &options,
                                                std::vector<boundary::KernelSignature> &signatures);

/// Everything after runResidStages (compileSignatures included): `module` ends in the LLVM dialect, `result` holds its
/// code. For several processors what depends on them is made once for each, and the functions choose at run time.
std::optional<CompileFailure> compileToCode(ModuleOp module, const CompileOptions &options, CompiledModule &result);

/// Code as bytes; an object that would need a library is refused as unavailable. `compiled` is used up: code generation
/// changes it.
std::optional<CompileFailure> writeCompiled(CompiledModule &compiled, machine::CodeKind kind,
                                            llvm::SmallVectorImpl<char> &bytes);

} // namespace mlir::resid

#endif // RESID_CODEGEN_PIPELINES_H
