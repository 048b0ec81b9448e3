// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/Guards.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// On a kernel whose last input guards it.
static constexpr StringLiteral kGuardedAttribute = "rows.guarded";

/// The number that has to be other than 0 for the condition to hold; null where it hangs on something else.
static memref::LoadOp findNumber(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::UNE ||
      !matchPattern(compare.getRhs(), m_AnyZeroFloat()))
    return {};
  auto number = compare.getLhs().getDefiningOp<memref::LoadOp>();
  bool isOwn = number && number.getMemRefType().getRank() == 0 && number.getMemRefType().getLayout().isIdentity();
  return isOwn ? number : memref::LoadOp();
}

static bool guardsKernelsAlone(scf::IfOp condition) {
  return condition.getNumResults() == 0 && !condition.elseBlock() &&
         llvm::all_of(condition.thenBlock()->without_terminator(), [](Operation &op) {
           return isa<rows::KernelOp>(op) || (isMemoryEffectFree(&op) && op.getNumRegions() == 0);
         });
}

static void guard(rows::KernelOp kernel, Value number) {
  Builder builder(kernel.getContext());
  unsigned place = kernel.getInputs().size();
  AffineMap map = AffineMap::get(kernel.getRowDims().size() + kernel.getColumnDims().size(), 0, kernel.getContext());
  SmallVector<Attribute> maps = llvm::to_vector(kernel.getIndexingMaps());
  maps.insert(maps.begin() + place, AffineMapAttr::get(map));
  kernel.getInputsMutable().append(number);
  kernel.setIndexingMapsAttr(builder.getArrayAttr(maps));
  Type element = cast<MemRefType>(number.getType()).getElementType();
  kernel.getBody().insertArgument(1 + place, rows::RowType::get(kernel.getContext(), element), kernel.getLoc());
  kernel->setAttr(kGuardedAttribute, builder.getUnitAttr());
}

void cuda::guardKernels(ModuleOp module) {
  SmallVector<std::pair<scf::IfOp, memref::LoadOp>> conditions;
  module.walk([&](scf::IfOp condition) {
    memref::LoadOp number = findNumber(condition.getCondition());
    if (number && guardsKernelsAlone(condition))
      conditions.push_back({condition, number});
  });
  for (auto [condition, number] : conditions) {
    for (Operation &op : llvm::make_early_inc_range(condition.thenBlock()->without_terminator())) {
      op.moveBefore(condition);
      if (auto kernel = dyn_cast<rows::KernelOp>(op))
        guard(kernel, number.getMemRef());
    }
    Operation *compare = condition.getCondition().getDefiningOp();
    condition.erase();
    if (!compare->use_empty())
      continue;
    compare->erase();
    if (number->use_empty())
      number.erase();
  }
}

void cuda::emitGuarded(Code &builder, const KernelBody &body, rows::KernelOp kernel, function_ref<void()> emit) {
  if (!kernel->hasAttr(kGuardedAttribute))
    return emit();
  const OperandAddress &guard = body.as<KernelAddresses>().operands[kernel.getInputs().size() - 1];
  Value number =
      loadElement(builder, kernel.getLoc(), guard.elementType, guard.pointer, builder.constant(0), Alignment::Element);
  builder.choose(builder.compare(arith::CmpFPredicate::UNE, number, 0), emit);
}
