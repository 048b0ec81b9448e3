// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages in order; see Pipelines.h.

#include "codegen/Pipelines.h"

#include "codegen/PassDiagnostics.h"
#include "codegen/attention/Passes.h"
#include "codegen/boundary/Exports.h"
#include "codegen/boundary/Passes.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/Passes.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/attention/DescribeAttention.h"
#include "codegen/cpu/blocks/DescribeRowBlocks.h"
#include "codegen/cpu/choice/DescribePlan.h"
#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/contractions/DescribeContraction.h"
#include "codegen/cuda/DescribeRows.h"
#include "codegen/cuda/DeviceModule.h"
#include "codegen/cuda/Passes.h"
#include "codegen/cuda/ptx/Assemble.h"
#include "codegen/cuda/ptx/WritePTX.h"
#include "codegen/linalg/Passes.h"
#include "codegen/machine/CPUVariants.h"
#include "codegen/machine/Optimize.h"
#include "codegen/rows/Passes.h"
#include "dialect/ResidDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::resid;

void resid::registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<ResidDialect, attention::AttentionDialect, contraction::ContractionDialect, rows::RowsDialect,
                  affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, func::FuncDialect, index::IndexDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, ml_program::MLProgramDialect,
                  NVVM::NVVMDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);
  LLVM::registerInlinerInterface(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  linalg::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  attention::registerAttentionBufferization(registry);
  contraction::registerContractionBufferization(registry);
  rows::registerRowsBufferization(registry);
}

// With asserts on, a pass that leaves a broken module behind is named at once. Else the end of the stage shows it:
// verifying after each pass is a good part of the time of short ones.
#ifdef NDEBUG
static constexpr bool kVerifyEachPass = false;
#else
static constexpr bool kVerifyEachPass = true;
#endif

static TimingScope nestTiming(const CompileOptions &options, StringRef name) {
  return options.timing ? options.timing->nest(name) : TimingScope();
}

/// Runs the passes that `build` adds. A module that no longer verifies is a mistake of the stage, not of the user,
/// unless a constant has come to where the program may not have it, or a pass said why it gave up, and left its work
/// half done. `upstreamMeans` is what an error of upstream's passes among them means to users; empty where it speaks
/// for itself.
static std::optional<CompileFailure> runStage(ModuleOp module, const CompileOptions &options, StringRef name,
                                              CompileFailure reason, function_ref<void(OpPassManager &)> build,
                                              StringRef upstreamMeans = "") {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(kVerifyEachPass);
  TimingScope scope = nestTiming(options, name);
  manager.enableTiming(scope);
  manager.addInstrumentation(std::make_unique<PassDiagnostics>(module.getContext(), upstreamMeans));
  build(manager);
  bool hasRefused = false;
  auto notice = [&](Diagnostic &diagnostic) {
    hasRefused |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // it is for others to print
  };
  std::optional<ScopedDiagnosticHandler> handler(std::in_place, module.getContext(), notice);
  bool hasFailed = failed(manager.run(module));
  handler.reset();
  TimingScope verification = scope.nest("verify");
  if (!(hasFailed && hasRefused) && failed(verify(module))) {
    if (hasOriginOutOfRange(module))
      return CompileFailure::Program;
    module.emitError() << "the stage '" << name << "' left a program that does not verify";
    return CompileFailure::Internal;
  }
  verification.stop();
  if (hasFailed)
    return reason;
  if (options.afterStage)
    options.afterStage(name, module);
  return std::nullopt;
}

/// The conversion that is asked for. What became of the parameters stays in the module as its manifest.
static std::optional<CompileFailure> convertPlacement(ModuleOp module, const CompileOptions &options) {
  if (!options.conversion)
    return std::nullopt;
  return runStage(module, options, "placement", CompileFailure::Program, [&](OpPassManager &manager) {
    manager.addPass(createFormBlocks(FormBlocksOptions{/*report=*/false, /*complete=*/true}));
    manager.addPass(createConvertNormPlacement(*options.conversion));
  });
}

std::optional<CompileFailure> resid::checkProgram(ModuleOp module, const CompileOptions &options) {
  CompileOptions checkOptions;
  checkOptions.timing = options.timing; // the program stays as it is, so there is no stage to be looked at
  return runStage(module, checkOptions, "check", CompileFailure::Internal,
                  [](OpPassManager &manager) { manager.addPass(createCheckStream()); });
}

std::optional<CompileFailure> resid::runResidStages(ModuleOp module, const CompileOptions &options) {
  if (options.report)
    rows::nameSourceOps(module);
  if (auto failure = runStage(module, options, "inline", CompileFailure::Program, [&](OpPassManager &manager) {
        manager.addPass(boundary::createInlineCalls());
        manager.addPass(createRaise(RaiseOptions{options.raise}));
      }))
    return failure;
  if (auto failure = convertPlacement(module, options))
    return failure;
  if (options.gradients)
    if (auto failure = runStage(module, options, "gradients", CompileFailure::Program,
                                [&](OpPassManager &manager) { manager.addPass(createGrad(*options.gradients)); }))
      return failure;
  auto failure = runStage(module, options, "resid", CompileFailure::Program, [&](OpPassManager &manager) {
    ResidPassOptions passOptions;
    passOptions.mode = options.mode;
    buildResidPassPipeline(manager, passOptions);
  });
  if (options.report && !failure) {
    rows::nameSourceOps(module);
    options.report->collectChains(module);
  }
  return failure;
}

std::optional<CompileFailure> resid::runDrawingStages(ModuleOp module, const CompileOptions &options) {
  if (auto failure = convertPlacement(module, options))
    return failure;
  return runStage(module, options, "drawing", CompileFailure::Program, [&](OpPassManager &manager) {
    if (options.mode == ProgramMode::Inference)
      manager.addPass(createInference());
    // What is no block, a wide sum say, is drawn as what it is.
    manager.addPass(createFormBlocks());
  });
}

static std::optional<CompileFailure> prepareEntries(ModuleOp module, const CompileOptions &options) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() &&
        (failed(boundary::verifyInterfaceTypes(function)) || failed(boundary::verifyResultSizes(function))))
      return CompileFailure::Unavailable;
  return runStage(module, options, "entries", CompileFailure::Program, [&](OpPassManager &manager) {
    boundary::PrepareEntriesOptions entryOptions;
    entryOptions.prefix = options.prefix;
    entryOptions.weightsStruct = options.weightsStruct;
    entryOptions.isForDevice = !options.chips.empty();
    manager.addPass(boundary::createPrepareEntries(entryOptions));
  });
}

/// The signatures that the functions carry as attributes, in the order of the module.
static std::vector<boundary::KernelSignature> collectSignatures(ModuleOp module) {
  std::vector<boundary::KernelSignature> signatures;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto attribute = function->getAttrOfType<DictionaryAttr>(boundary::kSignatureAttribute))
      signatures.push_back(boundary::KernelSignature::fromAttribute(attribute));
  return signatures;
}

/// How the entries tell the processors apart.
static boundary::BuildEntriesOptions describeProcessors(ArrayRef<machine::TargetDescription> targets) {
  boundary::BuildEntriesOptions options;
  options.isAArch64 = !targets.front().facts.isX86;
  if (targets.size() == 1)
    options.cpuFeatures = llvm::to_vector(targets.front().getRequiredFeatures());
  else
    for (const machine::TargetDescription &target : targets)
      options.variants.push_back(machine::CPUVariant{target.cpu, target.getRequiredFeatures()}.print());
  return options;
}

/// A float that processors do not compute with, among the types of the op's operands and results.
static Type findUnavailableFloat(Operation *op) {
  for (Type type : llvm::concat<Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
      if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
        return element;
  return Type();
}

/// The upstream pass would say that an op was not bufferized, and not which.
static LogicalResult checkBufferizable(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (Type element = findUnavailableFloat(op)) {
      op->emitOpError("is not available on CPU targets: expected floats of f16, bf16, f32 or f64, but got ") << element;
      return WalkResult::interrupt();
    }
    if (!bufferization::hasTensorSemantics(op) || isa<bufferization::BufferizableOpInterface>(op))
      return WalkResult::advance();
    op->emitOpError("is not available on CPU targets: expected an op on tensors that has a form in memory");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Once each op has a form in memory, what is left for the upstream passes to refuse are values without places that do
/// not clash. They speak of that in terms of their own.
static std::optional<CompileFailure> bufferize(ModuleOp module, const CompileOptions &options) {
  if (failed(checkBufferizable(module)))
    return CompileFailure::Unavailable;
  buffers::BufferizationOptions bufferization{options.report != nullptr, /*isForDevice=*/!options.chips.empty()};
  auto build = [&](OpPassManager &manager) { buffers::buildBufferizationPipeline(manager, bufferization); };
  return runStage(module, options, "buffers", CompileFailure::Unavailable, build,
                  "not available on CPU targets: no places in memory were found for the values here, mostly because "
                  "an array would be written while its old values are still read");
}

/// What plans kernels for each target; it refers to the targets.
static std::vector<kernels::DescribePlan> describePlans(ArrayRef<machine::TargetDescription> targets) {
  std::vector<kernels::DescribePlan> machines;
  for (const machine::TargetDescription &target : targets)
    machines.push_back([&target](Operation *op) {
      if (auto product = dyn_cast<contraction::KernelOp>(op))
        return cpu::describeContraction(product, target.cpu, target.facts);
      if (auto kernel = dyn_cast<attention::KernelOp>(op))
        return cpu::describeAttention(kernel, target.cpu, target.facts);
      if (auto kernel = dyn_cast<attention::BackwardOp>(op))
        return cpu::describeAttention(kernel, target.cpu, target.facts);
      return cpu::describePlan(cast<rows::KernelOp>(op), target.cpu, target.facts);
    });
  return machines;
}

/// The same for a kernel that runs on GPUs.
static std::vector<kernels::DescribePlan> describePlans(ArrayRef<cuda::Chip> chips, const cuda::RowSchedule &schedule) {
  std::vector<kernels::DescribePlan> machines;
  for (const cuda::Chip &chip : chips)
    machines.push_back([&](Operation *op) { return cuda::describeKernel(op, chip, schedule); });
  return machines;
}

/// The same for kernels that run together.
static std::vector<kernels::DescribeTogether> describeRowBlocks(ArrayRef<machine::TargetDescription> targets) {
  std::vector<kernels::DescribeTogether> machines;
  for (const machine::TargetDescription &target : targets)
    machines.push_back([&target](Operation *together, ArrayRef<std::string> others) {
      return cpu::describeRowBlocks(cast<contraction::RowBlocksOp>(together), others, target.facts);
    });
  return machines;
}

/// From functions with destinations to functions on buffers with C entries around them.
static std::optional<CompileFailure> lowerToBuffers(ModuleOp module, const CompileOptions &options,
                                                    ArrayRef<machine::TargetDescription> targets) {
  auto unavailable = CompileFailure::Unavailable;
  if (auto failure = runStage(module, options, "imported-ops", unavailable,
                              [](OpPassManager &manager) { manager.addPass(createLowerImportedOps()); }))
    return failure;
  if (auto failure = prepareEntries(module, options))
    return failure;
  // One schedule holds for all CPUs, and so does one row program.
  rows::FormKernelsOptions form;
  form.record = options.report != nullptr;
  rows::LocalRowLimits limits;
  if (options.chips.empty())
    limits = cpu::getLocalRowLimits(targets.front().facts.schedule);
  form.localRowBytes = limits.bytes;
  form.localRowPasses = limits.leastPasses;
  auto formKernels = [&](OpPassManager &manager) { buildRowKernelPipeline(manager, form); };
  if (auto failure = runStage(module, options, "row-kernels", unavailable, formKernels))
    return failure;
  if (options.report)
    options.report->collectKernels(
        module, options.chips.empty() ? describePlans(targets) : describePlans(options.chips, options.deviceSchedule));
  if (auto failure = bufferize(module, options))
    return failure;
  if (options.report)
    options.report->collectRowBlocks(module, describeRowBlocks(targets));
  return runStage(module, options, "scratch-and-checks", unavailable, [&](OpPassManager &manager) {
    manager.addPass(boundary::createPlanScratch());
    manager.addPass(boundary::createBuildEntries(describeProcessors(targets)));
  });
}

static std::optional<CompileFailure> lowerToLLVMDialect(ModuleOp module, const CompileOptions &options, StringRef name,
                                                        const cpu::CPUTarget &facts) {
  return runStage(module, options, name, CompileFailure::Unavailable,
                  [&](OpPassManager &manager) { cpu::buildCPULoweringPipeline(manager, facts); });
}

/// Takes the kernels out of `module`, which launches them from then on, and compiles them for each chip.
static std::optional<CompileFailure> compileDeviceKernels(ModuleOp module, const CompileOptions &options,
                                                          CompiledModule &result) {
  auto unavailable = CompileFailure::Unavailable;
  const cuda::RowSchedule &schedule = options.deviceSchedule;
  cuda::LowerKernelsOptions rows{schedule.lanes, schedule.blockRows, schedule.weights == cuda::WeightKind::Registers};
  if (auto failure = runStage(module, options, "cuda-kernels", unavailable,
                              [&](OpPassManager &manager) { manager.addPass(cuda::createLowerKernels(rows)); }))
    return failure;
  cuda::DeviceModule device = cuda::takeDeviceModule(module);
  result.kernels = std::move(device.kernels);
  if (auto failure = runStage(*device.module, options, "nvvm-dialect", unavailable, cuda::buildDeviceLoweringPipeline))
    return failure;
  TimingScope scope = nestTiming(options, "ptx");
  for (const cuda::Chip &chip : options.chips) {
    std::string text = cuda::writePTX(*device.module, chip);
    if (text.empty())
      return CompileFailure::Internal;
    result.images.push_back({chip.number, cuda::Image::PTX, text});
    if (options.deviceAssembler.empty())
      continue;
    llvm::Expected<std::string> code = cuda::assemble(options.deviceAssembler, text, chip);
    if (!code) {
      std::error_code kind = llvm::inconvertibleErrorCode();
      llvm::Error failure = llvm::handleErrors(code.takeError(), [&](std::unique_ptr<llvm::StringError> error) {
        kind = error->convertToErrorCode();
        return llvm::Error(std::move(error));
      });
      module.emitError("--cubin: ") << llvm::toString(std::move(failure));
      // Only files have an error of the system.
      return kind == llvm::inconvertibleErrorCode() ? unavailable : CompileFailure::File;
    }
    result.images.push_back({chip.number, cuda::Image::Cubin, std::move(*code)});
  }
  return std::nullopt;
}

/// The implementations for each of several CPUs, in modules of their own; `module` keeps the entries.
static std::optional<CompileFailure> lowerVariants(ModuleOp module, const CompileOptions &options,
                                                   ArrayRef<machine::TargetDescription> targets,
                                                   SmallVectorImpl<OwningOpRef<ModuleOp>> &variants) {
  OwningOpRef<ModuleOp> implementations = machine::takeImplementations(module);
  for (const machine::TargetDescription &target : targets) {
    variants.push_back(implementations->clone());
    if (auto failure = lowerToLLVMDialect(*variants.back(), options, "llvm-dialect-" + target.cpu, target.facts))
      return failure;
  }
  return std::nullopt;
}

std::optional<CompileFailure> resid::compileSignatures(ModuleOp module, const CompileOptions &options,
                                                       ArrayRef<machine::TargetDescription> targets,
                                                       std::vector<boundary::KernelSignature> &signatures) {
  if (auto failure = lowerToBuffers(module, options, targets))
    return failure;
  signatures = collectSignatures(module);
  return std::nullopt;
}

static std::string joinNames(ArrayRef<cuda::Chip> chips) {
  return llvm::join(llvm::map_range(chips, [](const cuda::Chip &chip) { return chip.name; }), ",");
}

std::optional<CompileFailure> resid::compileToCode(ModuleOp module, const CompileOptions &options,
                                                   ArrayRef<machine::TargetDescription> targets,
                                                   CompiledModule &result) {
  if (auto failure = compileSignatures(module, options, targets, result.signatures))
    return failure;
  if (!options.chips.empty())
    if (auto failure = compileDeviceKernels(module, options, result))
      return failure;
  SmallVector<OwningOpRef<ModuleOp>> variants;
  if (targets.size() > 1)
    if (auto failure = lowerVariants(module, options, targets, variants))
      return failure;
  // Entries that are left alone hold no kernel: any facts will do.
  if (auto failure = lowerToLLVMDialect(module, options, "llvm-dialect", targets.front().facts))
    return failure;
  TimingScope translation = nestTiming(options, "translate");
  result.context = std::make_unique<llvm::LLVMContext>();
  result.code = machine::translate(module, variants, targets, *result.context);
  if (result.code && !options.chips.empty())
    cuda::addImages(*result.code, result.images, result.kernels);
  if (result.code)
    boundary::finishExports(*result.code, targets, result.signatures, options.packedEntries, joinNames(options.chips));
  translation.stop();
  if (!result.code)
    return CompileFailure::Internal;
  TimingScope optimization = nestTiming(options, "optimize");
  machine::optimize(*result.code, *targets.front().machine);
  return std::nullopt;
}

std::optional<CompileFailure> resid::writeCompiled(CompiledModule &compiled,
                                                   ArrayRef<machine::TargetDescription> targets, machine::CodeKind kind,
                                                   SmallVectorImpl<char> &bytes) {
  // Which calls LLVM makes shows in an object only, so one is made for the other kinds too.
  SmallVector<char> object;
  std::unique_ptr<llvm::Module> copy;
  if (kind != machine::CodeKind::Object)
    copy = llvm::CloneModule(*compiled.code);
  if (failed(machine::writeCode(copy ? *copy : *compiled.code, targets, machine::CodeKind::Object, object)))
    return CompileFailure::Internal;
  if (!copy)
    bytes.assign(object.begin(), object.end());
  else if (failed(machine::writeCode(*compiled.code, targets, kind, bytes)))
    return CompileFailure::Internal;
  llvm::Expected<std::vector<std::string>> imports = machine::findForbiddenImports(object, !compiled.images.empty());
  if (!imports) {
    compiled.failure = llvm::toString(imports.takeError());
    return CompileFailure::Internal;
  }
  if (imports->empty())
    return std::nullopt;
  compiled.failure = std::string("expected code that needs no library, but on the CPU") +
                     (targets.size() > 1 ? "s '" : " '") + llvm::join(machine::getCPUNames(targets), ",") +
                     "' it calls " + llvm::join(*imports, ", ");
  return CompileFailure::Unavailable;
}
