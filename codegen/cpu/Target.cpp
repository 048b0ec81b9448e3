// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors as a target: their plans in the words of reports, and scratch memory of each kind of kernel, whose layout
// stands in PanelMemory.h, AttentionMemory.h, BackwardMemory.h and rows/RowPartition.h. Not: the plans (choice/).

#include "codegen/cpu/Target.h"

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/attention/BackwardMemory.h"
#include "codegen/cpu/blocks/RowBlockCalls.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/KernelPlan.h"
#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/contractions/MicroKernelShape.h"
#include "codegen/cpu/contractions/PanelMemory.h"
#include "codegen/kernels/PlanDescription.h"
#include "codegen/kernels/Target.h"
#include "codegen/rows/RowPartition.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using kernels::Extent;
using kernels::PlanDecision;
using kernels::ScratchShape;
using machine::TargetDescription;

//===------------------------------------------- rows -------------------------------------------------------------===//

/// A decision whose text is `key=value`.
static PlanDecision decide(StringRef key, StringRef value) { return {key.str(), value, (key + "=" + value).str()}; }

static PlanDecision decide(StringRef key, StringRef value, StringRef reason) {
  return {key.str(), value, (key + "=" + value).str(), reason.str(), /*hasReason=*/true};
}

static PlanDecision describeVectors(const CPUTarget &target) {
  std::string text = "vectors of " + std::to_string(target.vectorBits) + " bits";
  return {"vector_bits", target.vectorBits, text, target.vectorBitsReason, /*hasReason=*/true};
}

static PlanDecision describeStores(const KernelPlan &plan, const CPUTarget &target) {
  bool isForced = target.schedule.stores == StoreKind::NonTemporal;
  return decide("stores", !plan.streamed ? "plain" : isForced ? "nontemporal" : "auto", plan.plainReason);
}

/// The version that writes past the cache decides, unless it is the other one alone that is batched.
static PlanDecision describeRows(const KernelPlan &plan) {
  if (plan.streamed && !plan.isPipelined() && plan.isBatched && !plan.isBatchedPastCache)
    return decide("rows", "batched", "single past the cache: " + plan.singleReason);
  return decide("rows",
                plan.isPipelined() ? "pipelined"
                : plan.isBatched   ? "batched"
                                   : "single",
                plan.isBatched ? "" : plan.singleReason);
}

/// Columns that fit into the rows on the stack which the version past the cache keeps; 0: it keeps none.
static PlanDecision describeScratch(const KernelPlan &plan) {
  int64_t columns = plan.streamed && !plan.streamed->getKept().empty() ? plan.streamed->getCapacity() : 0;
  std::string text = columns ? "rows of " + std::to_string(columns) + " columns on the stack" : "";
  return {"scratch_columns", columns, text};
}

static bool hasValue(const PlanDecision &decision, StringRef value) {
  std::optional<int64_t> number = decision.value.getAsInteger();
  return number ? std::to_string(*number) == value : decision.value.getAsString() == value;
}

/// Says who set what. Settings that are no decision of their own, such as thresholds, stand after those that are.
static void addSources(std::vector<PlanDecision> &decisions, const Schedule &schedule) {
  for (const Setting &setting : schedule.settings) {
    std::string key = setting.key;
    llvm::replace(key, '-', '_');
    auto found = llvm::find_if(decisions, [&](const PlanDecision &decision) { return decision.key == key; });
    int64_t number;
    if (found == decisions.end()) {
      bool isNumber = !StringRef(setting.value).getAsInteger(10, number);
      llvm::json::Value value = isNumber ? llvm::json::Value(number) : llvm::json::Value(setting.value);
      found = decisions.insert(found, {key, value, setting.key + "=" + setting.value});
    }
    found->source = setting.source;
    // With `auto` any decision is what was asked for.
    if (!hasValue(*found, setting.value) && setting.value != "auto")
      found->asked = setting.value;
  }
}

static void describe(rows::KernelOp kernel, const CPUTarget &target, kernels::PlanDescription &result) {
  KernelPlan plan = planKernel(kernel, target);
  result.decisions = {decide("path", plan.path == RowPath::Vector ? "vector" : "scalar"),
                      describeVectors(target),
                      describeStores(plan, target),
                      decide("prefetch", plan.prefetch ? "on" : "off"),
                      describeRows(plan),
                      describeScratch(plan)};
  addSources(result.decisions, target.schedule);
  if (plan.path == RowPath::Scalar)
    result.fallbackReason = plan.obstacle.empty() ? "the schedule says so" : plan.obstacle;
}

//===------------------------------------------- micro-kernels ----------------------------------------------------===//

/// The columns of a product, if they are known and there are any: the last dimensions of its result that one factor
/// alone has.
static std::optional<int64_t> countColumns(contraction::KernelOp product) {
  AffineMap a = product.getMap(product.getAMutable()), b = product.getMap(product.getBMutable());
  ArrayRef<int64_t> shape = cast<ShapedType>(product.getInit().getType()).getShape();
  int64_t columns = 1;
  std::optional<bool> areOfA;
  for (auto [size, loop] : llvm::reverse(llvm::zip_equal(shape, product.getInitMap().getResults()))) {
    unsigned position = cast<AffineDimExpr>(loop).getPosition();
    bool isOfA = a.isFunctionOfDim(position);
    if (isOfA == b.isFunctionOfDim(position) || (areOfA && *areOfA != isOfA))
      break;
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    areOfA = isOfA;
    columns *= size;
  }
  return areOfA && columns != 0 ? std::optional(columns) : std::nullopt;
}

template <typename Kernel> static std::optional<int64_t> countColumns(Kernel) { return std::nullopt; }

/// The micro-kernel of a kernel.
template <typename Kernel> static MicroKernelShape chooseShape(Kernel kernel, const CPUTarget &target) {
  return chooseMicroKernelShape(target, kernel.getArithmeticType(), countColumns(kernel));
}

/// What all kernels around micro-kernels decide, and one decision more.
template <typename Kernel>
static void describe(Kernel kernel, PlanDecision own, const CPUTarget &target, kernels::PlanDescription &result) {
  Type arithmetic = kernel.getArithmeticType();
  MicroKernelShape shape = chooseShape(kernel, target);
  int64_t present = llvm::alignTo(countColumns(kernel).value_or(shape.getColumns()), kPanelColumns / 2);
  std::string micro = llvm::formatv("{0}x{1}", shape.rows, std::min(shape.getColumns(), present));
  std::string type;
  llvm::raw_string_ostream(type) << arithmetic;
  result.decisions = {{"micro_kernel", micro, "micro-kernels of " + micro + " sums in " + type},
                      std::move(own),
                      describeVectors(target)};
}

static PlanDecision describePanels(contraction::KernelOp kernel) {
  StringRef panels = kernel.getPackedColumns() ? "ahead" : "at each call";
  std::string columns = std::to_string(kernel.getPackedColumns().value_or(kPanelColumns));
  return {"panels", panels, ("b in panels of " + columns + " columns, packed " + panels).str()};
}

static PlanDecision describeChunks() {
  return {"chunk_keys", attention::kChunkKeys,
          "chunks of " + std::to_string(attention::kChunkKeys) + " keys, scores in the cache"};
}

static PlanDecision describeQueries() {
  return {"block_queries", kBackwardRows,
          "scores of " + std::to_string(kBackwardRows) + " queries at a time, a task for each head of keys"};
}

/// Plans a kernel of any kind, on tensors, for the CPU of that name.
static kernels::PlanDescription describeKernel(Operation *kernel, StringRef name, const CPUTarget &target) {
  kernels::PlanDescription result{"cpu", name.str(), {}, "scalar path", ""};
  llvm::TypeSwitch<Operation *>(kernel)
      .Case([&](rows::KernelOp op) { describe(op, target, result); })
      .Case([&](contraction::KernelOp op) { describe(op, describePanels(op), target, result); })
      .Case([&](attention::KernelOp op) { describe(op, describeChunks(), target, result); })
      .Case([&](attention::BackwardOp op) { describe(op, describeQueries(), target, result); });
  return result;
}

//===------------------------------------------- blocks of rows ---------------------------------------------------===//

/// The rows of a product, if they are known.
static std::optional<int64_t> countRows(contraction::KernelOp product) {
  auto type = cast<ShapedType>(product.getInit().getType());
  ArrayRef<int64_t> rows = type.getShape().drop_back();
  return ShapedType::isDynamicShape(rows) ? std::nullopt : std::optional(ShapedType::getNumElements(rows));
}

/// Whether the kernels of a contraction.row_blocks run by blocks of rows; `others` are the names of all but one.
static kernels::PlanDecision describeRowBlocks(contraction::RowBlocksOp blocks, ArrayRef<std::string> others,
                                               const CPUTarget &target) {
  contraction::KernelOp product = blocks.getProduct();
  int64_t blockRows = countBlockRows(product, chooseShape(product, target).rows),
          least = target.schedule.table.productRowBlocks * blockRows;
  std::optional<int64_t> rows = countRows(product);
  bool runs = least != 0 && (!rows || *rows >= least);
  kernels::PlanDecision decision{"row_blocks", llvm::json::Array(), "", "", /*hasReason=*/true};
  if (runs)
    for (const std::string &other : others)
      decision.value.getAsArray()->push_back(other);
  std::string names = llvm::join(others, ", ");
  decision.text = runs ? llvm::formatv("by blocks of {0} rows with {1}", blockRows, names).str()
                       : "not by blocks of rows with " + names;
  if (least == 0)
    decision.reason = "the schedule says so";
  else if (!runs)
    decision.reason = llvm::formatv("{0} rows, expected {1} at least", *rows, least);
  else if (!rows)
    decision.reason = llvm::formatv("from {0} rows on", least);
  if (const Setting *setting = target.schedule.findSetting("product-row-blocks"))
    decision.source = setting->source;
  return decision;
}

//===------------------------------------------- scratch memory ---------------------------------------------------===//

static ScratchShape countBytes(OpBuilder &builder, Value bytes) { return {builder.getI8Type(), {bytes}}; }

/// What a contraction packs.
static FailureOr<ScratchShape> countPanels(OpBuilder &builder, contraction::KernelOp kernel) {
  Location loc = kernel.getLoc();
  auto loops = contraction::KernelLoops::create(builder, kernel);
  if (failed(loops))
    return failure();
  PanelMemory memory = PanelMemory::create(builder, loc, *loops);
  if (memory.aBytes.is(0) && memory.bBytes.is(0))
    return ScratchShape();
  return countBytes(builder, builder.createOrFold<arith::AddIOp>(loc, memory.aBytes.value, memory.bBytes.value));
}

/// A slot for each of the tasks that the units of attention make.
template <typename OpTy> static FailureOr<ScratchShape> countSlots(OpBuilder &builder, OpTy kernel) {
  Location loc = kernel.getLoc();
  auto shape = attention::AttentionShape::create(builder, kernel);
  if (failed(shape))
    return failure();
  Extent units, bytes;
  if (shape->isBackward) {
    units = BackwardMemory::countUnits(builder, loc, *shape);
    bytes = BackwardMemory(*shape).countBytes(builder, loc, *shape);
  } else {
    units = AttentionMemory::countUnits(builder, loc, *shape);
    bytes = kernels::makeExtent(builder, loc, AttentionMemory(*shape).bytes);
  }
  Value most = kernels::makeExtent(builder, loc, kMostTasks).value;
  Value tasks = builder.createOrFold<arith::MinSIOp>(loc, units.value, most);
  return countBytes(builder, builder.createOrFold<arith::MulIOp>(loc, tasks, bytes.value));
}

//===------------------------------------------- the target -------------------------------------------------------===//

namespace {

class CPU : public kernels::Target {
public:
  explicit CPU(std::vector<TargetDescription> processors) : processors(std::move(processors)) {}

  StringRef getName() const override { return "CPU"; }
  bool takesIntegers() const override { return true; }
  ArrayRef<TargetDescription> getProcessors() const override { return processors; }
  kernels::LocalRowLimits getLocalRowLimits() const override {
    return cpu::getLocalRowLimits(processors.front().facts.schedule);
  }
  FailureOr<ScratchShape> countScratch(OpBuilder &builder, kernels::KernelOpInterface kernel) const override {
    using Result = FailureOr<ScratchShape>;
    return TypeSwitch<Operation *, Result>(kernel)
        .Case([&](rows::KernelOp rows) -> Result { return rows::SumMemory::count(builder, rows); })
        .Case([&](contraction::KernelOp contraction) { return countPanels(builder, contraction); })
        .Case([&](attention::KernelOp attention) { return countSlots(builder, attention); })
        .Case([&](attention::BackwardOp backward) { return countSlots(builder, backward); });
  }
  std::vector<kernels::PlanDescription> describe(Operation *kernel) const override {
    std::vector<kernels::PlanDescription> plans;
    for (const TargetDescription &processor : processors)
      plans.push_back(describeKernel(kernel, processor.cpu, processor.facts));
    return plans;
  }
  std::vector<kernels::PlanDecision> describeTogether(Operation *together,
                                                      ArrayRef<std::string> others) const override {
    std::vector<kernels::PlanDecision> decisions;
    for (const TargetDescription &processor : processors)
      decisions.push_back(describeRowBlocks(cast<contraction::RowBlocksOp>(together), others, processor.facts));
    return decisions;
  }
  void buildLowering(OpPassManager &manager, const TargetDescription &processor) const override {
    cpu::buildCPULoweringPipeline(manager, processor.facts);
  }

private:
  std::vector<TargetDescription> processors;
};

} // namespace

std::shared_ptr<const kernels::Target> cpu::makeTarget(std::vector<TargetDescription> processors) {
  return std::make_shared<CPU>(std::move(processors));
}
