// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scratch memory for the kernels that take some. Not: how it is laid out, which their target decides.

#include "codegen/buffers/Passes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using kernels::KernelOpInterface;

/// A buffer of sizes (i64) that are known as far as they are constants.
static Value allocate(OpBuilder &builder, Location loc, const kernels::ScratchShape &scratch) {
  SmallVector<int64_t> shape;
  SmallVector<Value> open;
  for (Value size : scratch.sizes) {
    APInt known;
    bool isKnown = matchPattern(size, m_ConstantInt(&known));
    shape.push_back(isKnown ? known.getSExtValue() : ShapedType::kDynamic);
    if (!isKnown)
      open.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size));
  }
  return memref::AllocOp::create(builder, loc, MemRefType::get(shape, scratch.elementType), open);
}

static LogicalResult allocateScratch(KernelOpInterface kernel, const kernels::Target &target) {
  OpBuilder builder(kernel);
  FailureOr<kernels::ScratchShape> scratch = target.countScratch(builder, kernel);
  if (succeeded(scratch) && !scratch->sizes.empty())
    kernel.getScratchMutable().assign(allocate(builder, kernel->getLoc(), *scratch));
  return scratch;
}

namespace {

struct AllocateScratch : public PassWrapper<AllocateScratch, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AllocateScratch)
  explicit AllocateScratch(std::shared_ptr<const kernels::Target> target) : target(std::move(target)) {}

  StringRef getArgument() const override { return "resid-allocate-scratch"; }
  StringRef getDescription() const override { return "give kernels the scratch memory that their target asks for"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    SmallVector<KernelOpInterface> kernels;
    getOperation()->walk([&](KernelOpInterface kernel) {
      if (kernel.isOnBuffers() && kernel.getScratchMutable().empty())
        kernels.push_back(kernel);
    });
    for (KernelOpInterface kernel : kernels)
      if (failed(allocateScratch(kernel, *target)))
        return signalPassFailure();
  }

  std::shared_ptr<const kernels::Target> target;
};

} // namespace

std::unique_ptr<Pass> buffers::createAllocateScratch(std::shared_ptr<const kernels::Target> target) {
  return std::make_unique<AllocateScratch>(std::move(target));
}
