// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/choice/Obstacles.h"

#include "codegen/cpu/choice/StepShape.h"
#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/rows/Segments.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

bool cpu::isColumnNumber(Operation *op) {
  auto number = dyn_cast<arith::IndexCastOp>(op);
  auto phase = dyn_cast_if_present<rows::PhaseOp>(op->getParentOp());
  return number && phase && number.getIn() == phase.getBody().getArgument(0) && number.getType().isInteger(32);
}

/// A random number is made for whole vectors of columns: only the column may change along the row.
static bool isRowInvariant(rows::RandomHalfOp half) {
  Region *phase = half->getParentRegion();
  return llvm::all_of(half.getRowWords(), [&](Value value) { return !phase->isAncestor(value.getParentRegion()); });
}

/// Upstream takes remainders, and the quotient that rounds down, for ops that may run on anything: those of 0 end the
/// program.
static bool mayRunAnywhere(Operation *op) {
  return isSpeculatable(op) && !isa<arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp>(op);
}

std::optional<std::string> cpu::findVectorObstacle(rows::KernelOp kernel) {
  std::optional<std::string> obstacle;
  kernel.walk([&](rows::PhaseOp phase) {
    for (Operation &op : phase.getBody().front().without_terminator()) {
      if (isa<rows::LoadOp, rows::StoreOp, rows::AccumulateOp>(op))
        continue;
      auto half = dyn_cast<rows::RandomHalfOp>(op);
      if (isColumnNumber(&op))
        continue;
      if (half && !isRowInvariant(half))
        obstacle = "the generator's row, site, step or seed changes along the columns";
      else if (llvm::is_contained(op.getOperands(), phase.getBody().getArgument(0)) && !half)
        obstacle = "the body computes with the column itself";
      else if (!half && !OpTrait::hasElementwiseMappableTraits(&op) && !op.hasTrait<OpTrait::ConstantLike>())
        obstacle = "'" + op.getName().getStringRef().str() + "' has no form on vectors";
      else if (!mayRunAnywhere(&op))
        obstacle = "'" + op.getName().getStringRef().str() + "' must not run for columns that are absent";
    }
  });
  return obstacle;
}

std::optional<std::string> cpu::findBatchObstacle(rows::KernelOp kernel, int64_t columns) {
  auto phases = kernel.getBody().front().getOps<rows::PhaseOp>();
  if (llvm::range_size(phases) < 2)
    return "rows have one phase only";
  std::optional<int64_t> width = getStaticWidth(kernel);
  if (width && int64_t(llvm::alignTo(*width, rows::kLanes)) > columns / 2)
    return "rows are too wide for batches";
  return std::nullopt;
}

/// The operations of a phase's body at most that are emitted eight times.
static constexpr int64_t kMostChainOperations = 48;

rows::PhaseOp cpu::findChainPhase(rows::KernelOp kernel) {
  rows::PhaseOp only;
  unsigned count = 0;
  kernel.walk([&](rows::PhaseOp phase) {
    only = phase;
    ++count;
  });
  bool isFit = kernel.hasAccumulated() && count == 1 && only->getParentOp() == kernel && only.getReduced().empty() &&
               int64_t(only.getBody().front().getOperations().size()) <= kMostChainOperations;
  return isFit ? only : nullptr;
}

static bool hasPhase(Operation &op) {
  return op.walk([](rows::PhaseOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

std::optional<std::string> cpu::findPipelineObstacle(rows::KernelOp kernel, const CPUTarget &target) {
  std::optional<rows::EndPhases> phases = rows::EndPhases::find(kernel);
  if (!phases || phases->first.getReduced().empty() || !phases->last.getReduced().empty())
    return "no phase with sums comes before one without";
  if (llvm::any_of(phases->getEnd(), hasPhase))
    return "the last phase depends on a condition";
  auto isWide = [&](rows::PhaseOp phase) {
    return target.vectorBits >= 512 && chooseStepShape(phase, target).getColumns() == rows::kLanes;
  };
  if (!isWide(phases->first) || !isWide(phases->last))
    return "registers are too narrow for 64 columns at a time";
  // Where rows do not begin at cache lines, the result of the last phase would stay there until its row is complete.
  if (phases->storeToOneRow())
    return "the first and the last phase share a row on the stack";
  return std::nullopt;
}
