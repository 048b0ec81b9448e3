// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each kernel into a function that a GPU runs, loop nests too, and refuses what else touches memory. Copies
// and fills of whole arrays become calls of the driver, which needs no kernel for them.

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cuda/Launch.h"
#include "codegen/cuda/Passes.h"
#include "codegen/cuda/attention/AttentionKernels.h"
#include "codegen/cuda/points/LoopNests.h"
#include "codegen/cuda/points/MoveLoads.h"
#include "codegen/cuda/points/SerialLoops.h"
#include "codegen/cuda/points/TiledMoves.h"
#include "codegen/cuda/points/TiledSums.h"
#include "codegen/cuda/products/ProductKernels.h"
#include "codegen/cuda/rows/Guards.h"
#include "codegen/cuda/rows/RowKernels.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Iterators.h"

namespace mlir::resid::cuda {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cuda/Passes.h.inc"
} // namespace mlir::resid::cuda

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static bool isContiguous(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.getLayout().isIdentity() && isa<FloatType, IntegerType, IndexType>(type.getElementType());
}

/// Whether `op` is a memref.copy or a linalg.fill with a scalar, of arrays without gaps.
static bool isTransfer(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return isContiguous(copy.getSource()) && isContiguous(copy.getTarget());
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && isContiguous(fill.getOutputs().front()) && !isa<ShapedType>(fill.getInputs().front().getType());
}

/// Elements of a buffer, as i64.
static Value countElements(OpBuilder &builder, Location loc, Value buffer) {
  Value count = constantI64(builder, loc, 1);
  for (int64_t dimension = 0, rank = cast<MemRefType>(buffer.getType()).getRank(); dimension < rank; ++dimension) {
    Value size = castToI64(builder, loc, computeSize(builder, loc, buffer, dimension));
    count = builder.createOrFold<arith::MulIOp>(loc, count, size);
  }
  return count;
}

/// Puts a call of the runtime in the place of a transfer.
static LogicalResult lowerTransfer(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto host = op->getParentOfType<func::FuncOp>();
  LogicalResult result = failure();
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    Value count = countElements(builder, loc, copy.getTarget());
    int64_t elementBytes = kernels::getElementBytes(cast<MemRefType>(copy.getTarget().getType()).getElementType());
    Value bytes = arith::MulIOp::create(builder, loc, count, constantI64(builder, loc, elementBytes));
    result = copyMemory(op, host, computePointer(builder, loc, copy.getTarget()),
                        computePointer(builder, loc, copy.getSource()), bytes);
  } else {
    auto fill = cast<linalg::FillOp>(op);
    Value buffer = fill.getOutputs().front(), count = countElements(builder, loc, buffer);
    result = fillMemory(op, host, computePointer(builder, loc, buffer), fill.getInputs().front(), count);
  }
  if (succeeded(result))
    op->erase();
  return result;
}

/// Whether the host can run an op though arrays lie in the memory of a device: it computes with scalars, or where
/// arrays are.
static bool isForHost(Operation *op) {
  if (isa<memref::MemRefDialect>(op->getDialect()))
    return isa<memref::GlobalOp>(op) || (isMemoryEffectFree(op) && !isa<memref::GetGlobalOp>(op));
  StringRef dialect = op->getName().getDialectNamespace();
  return llvm::is_contained({"affine", "arith", "builtin", "cf", "func", "index", "llvm", "math", "rows", "scf", "ub"},
                            dialect);
}

/// What of the host needs a number, be it by way of other numbers.
static void collectConsumers(Operation *reader, llvm::SetVector<Operation *> &consumers) {
  for (Operation *user : reader->getUsers()) {
    bool computes = user->getNumRegions() == 0 && user->getNumResults() > 0 && isMemoryEffectFree(user) &&
                    !isa<memref::MemRefDialect>(user->getDialect());
    if (computes)
      collectConsumers(user, consumers);
    else
      consumers.insert(user);
  }
}

/// What is not available, and what is expected.
static std::pair<std::string, StringRef> describeNeed(Operation *consumer) {
  std::string name = "'" + consumer->getName().getStringRef().str() + "' op with ";
  if (isa<scf::ForOp, scf::ParallelOp, scf::ForallOp>(consumer))
    return {name + "bounds that are numbers in an array is", "bounds from arguments and sizes"};
  if (isa<scf::IfOp, scf::IndexSwitchOp>(consumer))
    return {name + "a condition that is a number in an array is",
            "a condition from arguments and sizes, or arith.select"};
  if (isa<rows::RequireOp>(consumer))
    return {"'cf.assert' op about numbers in an array is", "assertions about arguments and sizes"};
  return {"a number in an array, where the host needs it, is", "sizes and places from arguments and sizes"};
}

/// A program is refused in the words of who wrote it, not of stages, and with all that is to be changed.
static void refuse(ArrayRef<Operation *> ops) {
  llvm::MapVector<Operation *, Operation *> consumers; // with the first number that each needs
  std::vector<std::pair<Location, std::string>> said;
  for (Operation *op : ops) {
    if (isa<memref::LoadOp>(op)) {
      llvm::SetVector<Operation *> found;
      collectConsumers(op, found);
      for (Operation *consumer : found)
        consumers.try_emplace(consumer, op);
      continue;
    }
    std::string what = "'" + op->getName().getStringRef().str() + "' op is";
    StringRef expected = "an op on tensors, loops over elements, or kernels of resid";
    if (isa<memref::GetGlobalOp>(op))
      what = "an array of constants is", expected = "constants that linalg ops read";
    if (isa<memref::ReshapeOp>(op))
      what = "a shape in an array is", expected = "a shape of arguments and sizes, or one open size";
    op->emitError(what) << " not available on CUDA targets: expected " << expected;
  }
  for (auto [consumer, number] : consumers) {
    auto [what, expected] = describeNeed(consumer);
    // Inlined functions and copies of one op have one place.
    if (!llvm::is_contained(said, std::pair(consumer->getLoc(), what)))
      (consumer->emitError(what) << " not available on CUDA targets: expected " << expected
                                 << ", since a call returns before the device is done")
              .attachNote(number->getLoc())
          << "the number is read here";
    said.emplace_back(consumer->getLoc(), what);
  }
}

/// Whether only loop nests read a constant, which have it in their code.
static bool isForNests(Operation *op) {
  return (isa<memref::GetGlobalOp>(op) || kernels::isReshape(op)) && llvm::all_of(op->getUsers(), [](Operation *user) {
           bool isInNest = isa<linalg::GenericOp>(user) || user->getParentOfType<linalg::GenericOp>();
           return isInNest || (kernels::isReshape(user) && isForNests(user));
         });
}

/// A scalar of a kernel in a memref of rank 0, which the kernel loads itself; null where it is something else.
static memref::LoadOp findOwnNumber(Value scalar, Operation *kernel) {
  auto load = scalar.getDefiningOp<memref::LoadOp>();
  bool isOwn = load && load.getMemRefType().getRank() == 0 && isContiguous(load.getMemRef()) && isSameAt(load, kernel);
  return isOwn ? load : memref::LoadOp();
}

/// Whether kernels alone need a number in memory, and load it themselves.
static bool isForKernels(Operation *op) {
  return isa<memref::LoadOp>(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           while (user && !isa<kernels::KernelOpInterface>(user))
             user = user->getParentOp();
           return user && findOwnNumber(op->getResult(0), user);
         });
}

static void passPointers(kernels::KernelUse &use) {
  OpBuilder builder(use.op);
  for (unsigned place = use.firstOuter; place < use.values.size(); ++place)
    if (memref::LoadOp load = findOwnNumber(use.values[place], use.op))
      use.pointers[place] = computePointer(builder, load.getLoc(), load.getMemRef());
}

/// Other linalg ops than transfers become generic ones.
static LogicalResult generalize(ModuleOp module) {
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op.getOperation()) && op.hasPureBufferSemantics() && !isTransfer(op))
      named.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  bool isOther = false;
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (succeeded(linalg::generalizeNamedOp(rewriter, op)))
      continue;
    op->emitOpError("is not available on CUDA targets: expected a linalg op that linalg.generic can say");
    isOther = true;
  }
  return failure(isOther);
}

/// Views and constants of the host that only kernels needed, which make them anew.
static void eraseDeadOps(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(cuda::kNumberAttribute))
      continue;
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
}

namespace {

/// The ops of a module that become kernels, transfers, and neither.
struct DeviceOps {
  explicit DeviceOps(ModuleOp module);

  SmallVector<Operation *> kernels, transfers, others;
  llvm::DenseMap<Operation *, cuda::LoopNest> nests;
  llvm::DenseMap<Operation *, cuda::SerialLoops> loops;
};

class Lowering : public kernels::KernelLowering {
public:
  Lowering(ModuleOp module, const DeviceOps &ops, const cuda::RowSchedule &schedule, bool relaxProducts)
      : KernelLowering(module), ops(ops), schedule(schedule), relaxProducts(relaxProducts) {}

  SmallVector<Operation *> findKernels(ModuleOp) override { return ops.kernels; }
  FailureOr<kernels::KernelUse> prepare(Operation *op) override {
    if (auto nest = ops.nests.find(op); nest != ops.nests.end())
      return nest->second.createUse();
    if (auto loops = ops.loops.find(op); loops != ops.loops.end())
      return loops->second.createUse();
    FailureOr<kernels::KernelUse> use = KernelLowering::prepare(op);
    if (succeeded(use))
      passPointers(*use);
    return use;
  }
  FailureOr<std::unique_ptr<kernels::KernelCode>> createCode(kernels::KernelUse use) override {
    if (isa<rows::KernelOp>(use.op))
      return create<cuda::RowKernel>(use, symbols, schedule, functions);
    if (isa<contraction::KernelOp>(use.op))
      return create<cuda::ProductKernel>(use, symbols, functions, relaxProducts);
    if (cuda::AttentionKernel::isOne(use.op))
      return create<cuda::AttentionKernel>(use, symbols, functions, relaxProducts);
    if (isa<scf::ForOp>(use.op))
      return create<cuda::SerialLoopsKernel>(ops.loops.at(use.op), use, symbols, functions);
    const cuda::LoopNest &nest = ops.nests.at(use.op);
    if (std::optional<cuda::TiledMove> move = cuda::TiledMove::find(use.get<linalg::GenericOp>()))
      return create<cuda::TiledMoveKernel>(nest, *move, use, symbols, functions);
    if (std::optional<cuda::TiledSum> sum = cuda::TiledSum::find(use.get<linalg::GenericOp>()))
      return create<cuda::TiledSumKernel>(nest, *sum, use, symbols, functions);
    return create<cuda::LoopNestKernel>(nest, use, symbols, functions);
  }

private:
  const DeviceOps &ops;
  const cuda::RowSchedule &schedule;
  const bool relaxProducts;
  /// How many there are so far.
  int64_t functions = 0;
};

struct LowerKernels : cuda::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    if (failed(lower()))
      signalPassFailure();
  }

  LogicalResult lower() {
    ModuleOp module = getOperation();
    cuda::guardKernels(module);
    if (failed(generalize(module)))
      return failure();
    cuda::takeSlicesApart(module);
    eraseDeadOps(module);
    DeviceOps ops(module);
    refuse(ops.others);
    if (!ops.others.empty())
      return failure();
    for (Operation *transfer : ops.transfers)
      if (failed(lowerTransfer(transfer)))
        return failure();
    auto weights = keepWeights ? cuda::WeightKind::Registers : cuda::WeightKind::Reload;
    cuda::RowSchedule schedule{lanes, blockRows, weights};
    Lowering lowering(module, ops, schedule, relaxProducts);
    if (failed(kernels::lowerKernels(module, lowering)))
      return failure();
    eraseDeadOps(module);
    return success();
  }
};

} // namespace

DeviceOps::DeviceOps(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<contraction::KernelOp, rows::KernelOp>(op) || cuda::AttentionKernel::isOne(op)) {
      kernels.push_back(op);
      return WalkResult::skip();
    }
    if (std::optional<cuda::SerialLoops> serial = cuda::SerialLoops::find(op)) {
      loops.insert({op, *serial});
      kernels.push_back(op);
      return WalkResult::skip();
    }
    if (isForHost(op) || isForNests(op) || isForKernels(op))
      return WalkResult::advance();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    std::optional<cuda::LoopNest> nest =
        generic && generic.hasPureBufferSemantics() ? cuda::LoopNest::find(generic) : std::nullopt;
    if (nest) {
      nests.insert({op, *nest});
      kernels.push_back(op);
    } else {
      (isTransfer(op) ? transfers : others).push_back(op);
    }
    return WalkResult::skip();
  });
}
