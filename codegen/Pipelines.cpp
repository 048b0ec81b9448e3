// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Pipelines.h"

#include "codegen/PassDiagnostics.h"
#include "codegen/attention/Passes.h"
#include "codegen/boundary/Exports.h"
#include "codegen/boundary/Passes.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/Passes.h"
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
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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
#include "passes/placement/Manifest.h"
#include "passes/weights/Prepare.h"
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
  buffers::registerKernelBufferization(registry);
}

// With asserts on, a pass that leaves a broken module after is named at once. Else the end of the stage shows it:
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

/// The conversions that are asked for. What became of the parameters stays in the module as its manifest.
static std::optional<CompileFailure> convertStacks(ModuleOp module, const CompileOptions &options) {
  auto run = [&](StringRef name, std::unique_ptr<Pass> conversion) {
    return runStage(module, options, name, CompileFailure::Program, [&](OpPassManager &manager) {
      manager.addPass(createFormBlocks(FormBlocksOptions{/*report=*/false, /*complete=*/true}));
      manager.addPass(std::move(conversion));
    });
  };
  if (options.conversion)
    if (auto failure = run("placement", createConvertNormPlacement(*options.conversion)))
      return failure;
  return options.widening ? run("streams", createWidenStream(*options.widening)) : std::nullopt;
}

std::optional<CompileFailure> resid::checkProgram(ModuleOp module, const CompileOptions &options) {
  CompileOptions checkOptions;
  checkOptions.timing = options.timing; // the program stays as it is, so there is no stage to be looked at
  return runStage(module, checkOptions, "check", CompileFailure::Internal,
                  [](OpPassManager &manager) { manager.addPass(createCheckStream()); });
}

/// Stages note on ops what they have found, and later ones believe it. Only transformations, whose results are programs
/// again, leave such attributes in programs.
static LogicalResult refuseNotesOfStages(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (StringRef name = attribute.getName(); isa_and_present<ResidDialect>(attribute.getNameDialect()) &&
                                                name != kPreparesAttribute && name != kManifestAttribute)
        return op->emitOpError("expected no attribute of resid in a program, but got '") << name << "'";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

std::optional<CompileFailure> resid::runResidStages(ModuleOp module, const CompileOptions &options) {
  if (failed(refuseNotesOfStages(module)))
    return CompileFailure::Program;
  if (auto failure = runStage(module, options, "inline", CompileFailure::Program, [&](OpPassManager &manager) {
        manager.addPass(boundary::createInlineCalls());
        manager.addPass(createRaise(RaiseOptions{options.raise}));
      }))
    return failure;
  if (auto failure = convertStacks(module, options))
    return failure;
  if (options.gradients)
    if (auto failure = runStage(module, options, "gradients", CompileFailure::Program,
                                [&](OpPassManager &manager) { manager.addPass(createGrad(*options.gradients)); }))
      return failure;
  return runStage(module, options, stages::kResid, CompileFailure::Program, [&](OpPassManager &manager) {
    ResidPassOptions passOptions;
    passOptions.mode = options.mode;
    buildResidPassPipeline(manager, passOptions);
    if (options.packWeights)
      manager.addPass(createPackWeights());
  });
}

std::optional<CompileFailure> resid::runDrawingStages(ModuleOp module, const CompileOptions &options) {
  if (auto failure = runStage(module, options, "raise", CompileFailure::Program, [&](OpPassManager &manager) {
        manager.addPass(createRaise(RaiseOptions{options.raise}));
      }))
    return failure;
  if (auto failure = convertStacks(module, options))
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
    entryOptions.isForDevice = options.target->getDevice() != nullptr;
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

/// The upstream pass would say that an op was not bufferized, and not which. All are named.
static LogicalResult checkBufferizable(ModuleOp module, const std::string &unavailable) {
  bool isRefused = false;
  module.walk([&](Operation *op) {
    Type element = findUnavailableFloat(op);
    if (element)
      op->emitOpError("is ") << unavailable << ": expected floats of f16, bf16, f32 or f64, but got " << element;
    bool hasForm = !bufferization::hasTensorSemantics(op) || isa<bufferization::BufferizableOpInterface>(op);
    if (!element && !hasForm)
      op->emitOpError("is ") << unavailable << ": expected an op on tensors that has a form in memory";
    isRefused |= element || !hasForm;
  });
  return failure(isRefused);
}

/// Once each op has a form in memory, what is left for the upstream passes to refuse are values without places that do
/// not clash. They speak of that in terms of their own.
static std::optional<CompileFailure> bufferize(ModuleOp module, const CompileOptions &options) {
  std::string unavailable = "not available on " + options.target->getName().str() + " targets";
  if (failed(checkBufferizable(module, unavailable)))
    return CompileFailure::Unavailable;
  buffers::BufferizationOptions bufferization{options.record};
  auto build = [&](OpPassManager &manager) {
    buffers::buildBufferizationPipeline(manager, options.target, bufferization);
  };
  return runStage(module, options, stages::kBuffers, CompileFailure::Unavailable, build,
                  unavailable + ": the values here cannot be placed in memory, mostly because an array would be "
                                "written while its old values are still read");
}

/// From functions with destinations to functions on buffers with C entries around them.
static std::optional<CompileFailure> lowerToBuffers(ModuleOp module, const CompileOptions &options) {
  auto unavailable = CompileFailure::Unavailable;
  if (auto failure = runStage(module, options, "imported-ops", unavailable,
                              [](OpPassManager &manager) { manager.addPass(createLowerImportedOps()); }))
    return failure;
  if (auto failure = prepareEntries(module, options))
    return failure;
  kernels::LocalRowLimits limits = options.target->getLocalRowLimits();
  rows::FormKernelsOptions form;
  form.record = options.record;
  form.localRowBytes = limits.bytes;
  form.localRowPasses = limits.leastPasses;
  contraction::FormContractionsOptions contractions{options.target->takesIntegers()};
  auto formKernels = [&](OpPassManager &manager) { buildRowKernelPipeline(manager, form, contractions); };
  if (auto failure = runStage(module, options, stages::kRowKernels, unavailable, formKernels))
    return failure;
  if (auto failure = bufferize(module, options))
    return failure;
  return runStage(module, options, "scratch-and-checks", unavailable, [&](OpPassManager &manager) {
    manager.addPass(boundary::createPlanScratch());
    manager.addPass(boundary::createBuildEntries(describeProcessors(options.target->getProcessors())));
  });
}

static std::optional<CompileFailure> lowerToLLVMDialect(ModuleOp module, const CompileOptions &options, StringRef name,
                                                        const machine::TargetDescription &processor) {
  return runStage(module, options, name, CompileFailure::Unavailable,
                  [&](OpPassManager &manager) { options.target->buildLowering(manager, processor); });
}

/// The target compiles the kernels that a device runs.
static std::optional<CompileFailure> compileDeviceKernels(ModuleOp module, const CompileOptions &options,
                                                          CompiledModule &result) {
  auto run = [&](ModuleOp part, StringRef name, function_ref<void(OpPassManager &)> build) {
    return runStage(part, options, name, CompileFailure::Unavailable, build);
  };
  auto time = [&](StringRef name) { return nestTiming(options, name); };
  return options.target->compileDevice(module, {run, time}, result.device);
}

/// The implementations for each of several CPUs, in modules of their own; `module` keeps the entries.
static std::optional<CompileFailure> lowerVariants(ModuleOp module, const CompileOptions &options,
                                                   SmallVectorImpl<OwningOpRef<ModuleOp>> &variants) {
  OwningOpRef<ModuleOp> implementations = machine::takeImplementations(module);
  for (const machine::TargetDescription &processor : options.target->getProcessors()) {
    variants.push_back(implementations->clone());
    if (auto failure = lowerToLLVMDialect(*variants.back(), options, "llvm-dialect-" + processor.cpu, processor))
      return failure;
  }
  return std::nullopt;
}

std::optional<CompileFailure> resid::compileSignatures(ModuleOp module, const CompileOptions &options,
                                                       std::vector<boundary::KernelSignature> &signatures) {
  if (auto failure = lowerToBuffers(module, options))
    return failure;
  signatures = collectSignatures(module);
  return std::nullopt;
}

std::optional<CompileFailure> resid::compileToCode(ModuleOp module, const CompileOptions &options,
                                                   CompiledModule &result) {
  result.target = options.target;
  ArrayRef<machine::TargetDescription> processors = options.target->getProcessors();
  if (auto failure = compileSignatures(module, options, result.signatures))
    return failure;
  if (auto failure = compileDeviceKernels(module, options, result))
    return failure;
  SmallVector<OwningOpRef<ModuleOp>> variants;
  if (processors.size() > 1)
    if (auto failure = lowerVariants(module, options, variants))
      return failure;
  // Entries that are left alone hold no kernel: any processor will do.
  if (auto failure = lowerToLLVMDialect(module, options, "llvm-dialect", processors.front()))
    return failure;
  TimingScope translation = nestTiming(options, "translate");
  result.context = std::make_unique<llvm::LLVMContext>();
  result.code = machine::translate(module, variants, processors, *result.context);
  if (!result.code)
    return CompileFailure::Internal;
  if (result.device)
    result.device->addTo(*result.code);
  boundary::finishExports(*result.code, *options.target, result.signatures, options.packedEntries);
  translation.stop();
  TimingScope optimization = nestTiming(options, "optimize");
  machine::optimize(*result.code, *processors.front().machine);
  return std::nullopt;
}

std::optional<CompileFailure> resid::writeCompiled(CompiledModule &compiled, machine::CodeKind kind,
                                                   SmallVectorImpl<char> &bytes) {
  ArrayRef<machine::TargetDescription> processors = compiled.target->getProcessors();
  // Which calls LLVM makes shows in an object only, so one is made for the other kinds too.
  SmallVector<char> object;
  std::unique_ptr<llvm::Module> copy;
  if (kind != machine::CodeKind::Object)
    copy = llvm::CloneModule(*compiled.code);
  if (failed(machine::writeCode(copy ? *copy : *compiled.code, processors, machine::CodeKind::Object, object)))
    return CompileFailure::Internal;
  if (!copy)
    bytes.assign(object.begin(), object.end());
  else if (failed(machine::writeCode(*compiled.code, processors, kind, bytes)))
    return CompileFailure::Internal;
  const kernels::Device *device = compiled.target->getDevice();
  llvm::Expected<std::vector<std::string>> imports =
      machine::findForbiddenImports(object, device ? device->imports : "");
  if (!imports) {
    compiled.failure = llvm::toString(imports.takeError());
    return CompileFailure::Internal;
  }
  if (imports->empty())
    return std::nullopt;
  compiled.failure = std::string("expected code that needs no library, but on the CPU") +
                     (processors.size() > 1 ? "s '" : " '") + llvm::join(machine::getCPUNames(processors), ",") +
                     "' it calls " + llvm::join(*imports, ", ");
  return CompileFailure::Unavailable;
}
