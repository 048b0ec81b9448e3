// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass resid-form-kernels: groups, plans and builds kernels block by block, and checks that no op on whole tensors
// of the rows dialect is left.

#include "codegen/rows/ColumnSums.h"
#include "codegen/rows/KernelBuilder.h"
#include "codegen/rows/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::resid::rows {
#define GEN_PASS_DEF_FORMKERNELS
#include "codegen/rows/Passes.h.inc"
} // namespace mlir::resid::rows

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

namespace {
struct FormKernels : rows::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;
  void runOnOperation() override;
  LogicalResult formKernels(Block &block);
  LogicalResult formKernel(const RowGroup &group);
};
} // namespace

/// Named elementwise ops (linalg.add, linalg.map, …) become generic ones, so that one form is enough. Fills stay: what
/// reads one takes its scalar.
static LogicalResult generalizeElementwise(Operation *root) {
  SmallVector<linalg::LinalgOp> named;
  root->walk([&](linalg::LinalgOp op) {
    bool isNamed = !isa<linalg::GenericOp, linalg::FillOp>(op.getOperation());
    if (isNamed && op.hasPureTensorSemantics() && linalg::isElementwise(op))
      named.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitOpError("expected an elementwise op with a generic form");
  }
  return success();
}

static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Notes at the kernel what a report tells about it.
static void recordPlan(KernelOp kernel, StringRef program, ArrayRef<GroupRefusal> refusals) {
  Builder builder(kernel.getContext());
  kernel->setAttr(kProgramAttribute, builder.getStringAttr(program));
  SmallVector<Attribute> entries;
  for (const GroupRefusal &refusal : refusals)
    entries.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(kReasonKey, builder.getStringAttr(refusal.reason)),
         builder.getNamedAttr(kOpKey, refusal.op), builder.getNamedAttr(kOtherKey, refusal.other)}));
  kernel->setAttr(kRefusalsAttribute, builder.getArrayAttr(entries));
}

LogicalResult FormKernels::formKernel(const RowGroup &group) {
  Operation *last = group.members.back();
  RowProgram program(group, {localRowBytes, localRowPasses});
  if (!program.getOutputs().empty()) {
    if (printPrograms)
      program.print(llvm::errs());
    SmallVector<Location> locations;
    for (Operation *member : group.members)
      locations.push_back(member->getLoc());
    OpBuilder builder(last);
    FailureOr<KernelOp> kernel = KernelBuilder(program, builder, builder.getFusedLoc(locations)).build();
    if (failed(kernel))
      return failure();
    if (record) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      program.print(stream);
      recordPlan(*kernel, text, group.refusals);
    }
    for (auto [output, result] : llvm::zip_equal(program.getOutputs(), kernel->getResults()))
      Value(output.value).replaceUsesWithIf(result, [&](OpOperand &use) { return !program.isMember(use.getOwner()); });
  }
  for (Operation *member : llvm::reverse(group.members))
    member->erase();
  return success();
}

LogicalResult FormKernels::formKernels(Block &block) {
  eraseDeadOps(block);
  SmallVector<RowGroup> groups = groupRowWiseOps(block);
  // Consumers first: what they compute in place is then unused, and gets no kernel of its own.
  for (const RowGroup &group : llvm::reverse(groups))
    if (failed(formKernel(group)))
      return failure();
  eraseDeadOps(block);
  return success();
}

void FormKernels::runOnOperation() {
  if (failed(generalizeElementwise(getOperation())) || failed(normalizeColumnSums(getOperation())))
    return signalPassFailure();
  // Those that the program has already were planned by nobody here.
  if (record)
    getOperation()->walk([](KernelOp kernel) { recordPlan(kernel, "row program: as it is written\n", {}); });
  SmallVector<Block *> blocks;
  getOperation()->walk([&](Block *block) {
    if (!isa_and_present<linalg::LinalgOp, KernelOp, PhaseOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  for (Block *block : blocks)
    if (failed(formKernels(*block)))
      return signalPassFailure();
  WalkResult result = getOperation()->walk([](Operation *op) {
    bool isLeft = isStatistics(op) || isGenerated(op) || op->getName().getDialectNamespace() == "resid";
    if (!isLeft)
      return WalkResult::advance();
    op->emitOpError("expected to be part of a row kernel but was left over");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
