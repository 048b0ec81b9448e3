// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/Target.h"

#include "codegen/buffers/Passes.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cuda/Passes.h"
#include "codegen/cuda/attention/AttentionKernels.h"
#include "codegen/cuda/products/ProductTile.h"
#include "codegen/cuda/ptx/Assemble.h"
#include "codegen/cuda/ptx/Images.h"
#include "codegen/cuda/ptx/WritePTX.h"
#include "codegen/cuda/rows/RowKernels.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "codegen/rows/RowPartition.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

//===------------------------------------------- plans ------------------------------------------------------------===//

static kernels::PlanDecision describe(StringRef key, int64_t number, StringRef unit, StringRef before = "") {
  return {key.str(), number, (before + Twine(number) + " " + unit).str()};
}

static kernels::PlanDecision describeCount(StringRef key, int64_t count, StringRef one) {
  return describe(key, count, (one + (count == 1 ? " kept" : "s kept")).str());
}

/// Of the last plan for any number of rows, which has the widest.
static void describeRegisters(kernels::PlanDescription &description, ArrayRef<RegisterPlan> plans) {
  const RegisterPlan &last = plans.back(), &plan = last.mostRows > 0 ? plans.drop_back().back() : last;
  description.decisions.push_back(
      describe("threads_per_row", plan.getRowThreads(), "threads per row", plan.isOpen() ? "up to " : ""));
  if (plan.isOpen())
    description.decisions.push_back({"most_columns", plan.width,
                                     "any width from " + std::to_string(plans.front().leastWidth) + " to " +
                                         std::to_string(plan.width) + " columns that suits"});
  else
    description.decisions.push_back(describe("rows_per_block", plan.blockRows, "rows per block"));
  if (last.mostRows > 0)
    description.decisions.push_back(describe("few_rows_threads", last.getRowThreads(),
                                             ("threads for each of up to " + Twine(last.mostRows) + " rows").str()));
  description.decisions.push_back(describe("lanes", plan.lanes, "columns per access"));
  description.decisions.push_back(describeCount("kept_rows", plan.keptRows, "row"));
  if (plan.keptWeights > 0)
    description.decisions.push_back(describeCount("kept_weights", plan.keptWeights, "shared row"));
  if (plan.sums > 0)
    description.decisions.push_back(describeCount("kept_sums", plan.sums, "sum"));
  description.decisions.push_back(describe("kept_registers", plan.keptRegisters, "registers per thread for them"));
}

/// What `ask` says of a copy of the kernel whose tensors are contiguous buffers, since reports come before buffers. The
/// copy, and what reads sizes, are needed for the question alone.
template <typename Ask> static auto askOnBuffers(Operation *kernel, Ask ask) {
  Operation *before = kernel->getPrevNode();
  OpBuilder builder(kernel);
  IRMapping buffers;
  for (Value operand : kernel->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType())) {
      auto buffer = MemRefType::get(type.getShape(), type.getElementType());
      buffers.map(operand, UnrealizedConversionCastOp::create(builder, kernel->getLoc(), buffer, operand).getResult(0));
    }
  Operation *copy = builder.clone(*kernel, buffers);
  builder.setInsertionPoint(copy);
  auto answer = ask(builder, copy);
  while (kernel->getPrevNode() != before)
    kernel->getPrevNode()->erase();
  return answer;
}

/// The tiles that launches of a product choose from, or the form that takes any product.
static kernels::PlanDecision describeProduct(contraction::KernelOp kernel, bool relaxesProducts) {
  kernels::PlanDecision any{"emitter", "products", "products emitter: up to eight elements a thread, read from memory"};
  Type arithmetic;
  SmallVector<ProductTile, 4> tiles = askOnBuffers(kernel, [&](OpBuilder &builder, Operation *copy) {
    FailureOr<contraction::KernelLoops> loops =
        contraction::KernelLoops::create(builder, cast<contraction::KernelOp>(copy));
    if (failed(loops))
      return SmallVector<ProductTile, 4>();
    arithmetic = loops->arithmetic;
    return ProductTile::choose(*loops, relaxesProducts);
  });
  if (tiles.empty())
    return any;
  int64_t elementBytes = arithmetic.getIntOrFloatBitWidth() / 8;
  bool usesMatrixUnits = tiles.back().usesMatrixUnits;
  auto describeTile = [&](const ProductTile &tile) {
    std::string registers =
        tile.registers ? ", at most " + std::to_string(tile.registers) + " registers per thread" : "";
    return std::to_string(tile.rows) + "x" + std::to_string(tile.columns) + " (" +
           std::to_string(tile.countShared(arithmetic) * elementBytes) + " bytes of shared memory" + registers + ")";
  };
  return {"emitter", usesMatrixUnits ? "matrices" : "tiles",
          (!usesMatrixUnits         ? "tiles emitter: "
           : arithmetic.isInteger() ? "matrices emitter: matrix units add up the integers; "
                                    : "matrices emitter: matrix units add up the products, as "
                                      "--relax-rounding=products allows; ") +
              std::string("tiles of ") + llvm::join(llvm::map_range(tiles, describeTile), " or ") +
              (tiles.size() > 1 ? ", by the size of the result" : "")};
}

static kernels::PlanDecision describeAttention(Operation *kernel, bool relaxesProducts) {
  return askOnBuffers(kernel, [&](OpBuilder &builder, Operation *copy) {
    return AttentionKernel::describe(builder, copy, relaxesProducts);
  });
}

/// Of a kernel of any kind. What a GPU does not run is refused later, so that nothing is said of it.
static kernels::PlanDescription describeKernel(Operation *kernel, const Chip &chip, const Chips &how) {
  kernels::PlanDescription plan{"chip", chip.name, {}, /*fallbackName=*/"scalar path", /*fallbackReason=*/""};
  auto rows = dyn_cast<rows::KernelOp>(kernel);
  if (auto product = dyn_cast<contraction::KernelOp>(kernel))
    plan.decisions.push_back(describeProduct(product, how.relaxesProducts));
  if (AttentionKernel::isOne(kernel))
    plan.decisions.push_back(describeAttention(kernel, how.relaxesProducts));
  if (!rows)
    return plan;
  int64_t phases = 0;
  rows.walk([&](rows::PhaseOp) { ++phases; });
  SmallVector<RegisterPlan, 2> registers = RegisterPlan::choose(rows, how.schedule);
  bool isLooped = registers.empty();
  if (isLooped)
    plan.decisions.push_back({"emitter", "looped", "looped emitter: phases read memory again"});
  else
    plan.decisions.push_back({"emitter", "registers", "registers emitter: rows stay in registers"});
  if (isLooped) {
    plan.decisions.push_back(describe("threads_per_row", kWarpThreads, "threads per row"));
    plan.decisions.push_back(describe("rows_per_block", kBlockWarps, "rows per block"));
  } else {
    describeRegisters(plan, registers);
  }
  plan.decisions.push_back(describe("phases", phases, "phases"));
  return plan;
}

//===------------------------------------------- the module of the device -----------------------------------------===//

/// PTX has names of letters, digits and underscores. The number makes them different from each other.
static std::string makeName(StringRef name, int64_t number) {
  std::string made = name.str();
  for (char &c : made)
    c = llvm::isAlnum(c) ? c : '_';
  return made + "_" + std::to_string(number);
}

/// Constants that kernels read go with them.
static void moveConstants(ModuleOp module, ModuleOp device) {
  llvm::SmallPtrSet<Operation *, 4> taken;
  device.walk([&](memref::GetGlobalOp use) {
    auto constant = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(module, use.getNameAttr());
    if (constant && taken.insert(constant).second)
      OpBuilder::atBlockBegin(device.getBody()).clone(*constant);
  });
  for (Operation *constant : taken)
    if (SymbolTable::symbolKnownUseEmpty(constant, module))
      constant->erase();
}

/// Takes the kernels that LowerKernels marked out of `module`, into one of their own. `kernels` gets the names that
/// they have in PTX, by their numbers.
static OwningOpRef<ModuleOp> takeDeviceModule(ModuleOp module, std::vector<std::string> &kernels) {
  OwningOpRef<ModuleOp> device = ModuleOp::create(module.getLoc());
  for (auto global : llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
    if (global.getAddrSpace() == unsigned(NVVM::NVVMMemorySpace::Shared))
      global->moveBefore(device->getBody(), device->getBody()->end());
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    auto number = function->getAttrOfType<IntegerAttr>(kNumberAttribute);
    if (!number)
      continue;
    function->moveBefore(device->getBody(), device->getBody()->end());
    function.setName(makeName(function.getName(), number.getInt()));
    function.setPublic();
    kernels.resize(std::max<size_t>(kernels.size(), number.getInt() + 1));
    kernels[number.getInt()] = function.getName().str();
  }
  moveConstants(module, *device);
  return device;
}

//===------------------------------------------- the target -------------------------------------------------------===//

namespace {

class GPU : public kernels::Target, Chips {
public:
  GPU(Chips given, std::shared_ptr<const kernels::Target> host) : Chips(std::move(given)), host(std::move(host)) {
    device.machines = llvm::join(llvm::map_range(chips, [](const Chip &chip) { return chip.name; }), ",");
  }

  StringRef getName() const override { return "CUDA"; }
  ArrayRef<machine::TargetDescription> getProcessors() const override { return host->getProcessors(); }
  const kernels::Device *getDevice() const override { return &device; }
  /// What a GPU does not run is refused later.
  FailureOr<kernels::ScratchShape> countScratch(OpBuilder &builder, kernels::KernelOpInterface kernel) const override {
    if (AttentionKernel::isOne(kernel))
      return AttentionKernel::countScratch(builder, kernel);
    auto rows = dyn_cast<rows::KernelOp>(*kernel);
    return rows ? rows::UnitMemory::count(builder, rows) : kernels::ScratchShape();
  }
  std::vector<kernels::PlanDescription> describe(Operation *kernel) const override {
    std::vector<kernels::PlanDescription> plans;
    for (const Chip &chip : chips)
      plans.push_back(describeKernel(kernel, chip, *this));
    return plans;
  }
  void addBufferPasses(OpPassManager &manager) const override { manager.addPass(createPlaceNumbers()); }
  std::optional<CompileFailure> compileDevice(ModuleOp module, const kernels::Stages &stages,
                                              std::unique_ptr<kernels::DeviceCode> &code) const override;
  void buildLowering(OpPassManager &manager, const machine::TargetDescription &processor) const override {
    host->buildLowering(manager, processor);
  }

private:
  std::optional<CompileFailure> addImages(ModuleOp module, const Chip &chip, std::vector<Image> &images) const;

  std::shared_ptr<const kernels::Target> host;
  kernels::Device device = {"nvptx64-nvidia-cuda", "", "resid_cuda_"};
};

} // namespace

/// The code of the device's module for one chip.
std::optional<CompileFailure> GPU::addImages(ModuleOp module, const Chip &chip, std::vector<Image> &images) const {
  std::string text = writePTX(module, chip);
  if (text.empty())
    return CompileFailure::Internal;
  images.push_back({chip.number, Image::PTX, text});
  if (assembler.empty())
    return std::nullopt;
  llvm::Expected<std::string> code = assemble(assembler, text, chip);
  if (code) {
    images.push_back({chip.number, Image::Cubin, std::move(*code)});
    return std::nullopt;
  }
  // Only files have an error of the system.
  CompileFailure failure = CompileFailure::Unavailable;
  llvm::handleAllErrors(code.takeError(), [&](const llvm::StringError &error) {
    if (error.convertToErrorCode() != llvm::inconvertibleErrorCode())
      failure = CompileFailure::File;
    module.emitError("--cubin: ") << error.getMessage();
  });
  return failure;
}

std::optional<CompileFailure> GPU::compileDevice(ModuleOp module, const kernels::Stages &stages,
                                                 std::unique_ptr<kernels::DeviceCode> &code) const {
  LowerKernelsOptions rows{schedule.lanes, schedule.blockRows, schedule.weights == WeightKind::Registers,
                           relaxesProducts};
  auto lower = [&](OpPassManager &manager) {
    manager.addPass(buffers::createLowerCopies());
    manager.addPass(createLowerKernels(rows));
  };
  if (auto failure = stages.run(module, "cuda-kernels", lower))
    return failure;
  std::vector<std::string> kernels;
  OwningOpRef<ModuleOp> device = takeDeviceModule(module, kernels);
  if (auto failure = stages.run(*device, "nvvm-dialect", buildDeviceLoweringPipeline))
    return failure;
  TimingScope scope = stages.time("ptx");
  std::vector<Image> images;
  for (const Chip &chip : chips)
    if (auto failure = addImages(*device, chip, images))
      return failure;
  code = std::make_unique<Images>(std::move(images), std::move(kernels));
  return std::nullopt;
}

std::shared_ptr<const kernels::Target> cuda::makeTarget(Chips chips, std::shared_ptr<const kernels::Target> host) {
  return std::make_shared<GPU>(std::move(chips), std::move(host));
}
