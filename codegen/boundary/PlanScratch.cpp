// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporaries of a call into one block of scratch memory.

#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/Passes.h"
#include "codegen/boundary/SizeCode.h"
#include "codegen/kernels/StackBudget.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid::boundary {
#define GEN_PASS_DEF_PLANSCRATCH
#include "codegen/boundary/Passes.h.inc"
} // namespace mlir::resid::boundary

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// Static temporaries up to this many bytes each go to the stack, as long as its share has room.
static constexpr int64_t kStackBytesEach = 1024;
static constexpr int64_t kAlignment = 64;

static int64_t elementBytes(MemRefType type) { return KernelValue{"", type.getElementType(), {}}.getElementBytes(); }

namespace {

/// Makes index values anew at another place, from constants, arithmetic and the sizes of the function's buffers.
class SizeCloner {
public:
  /// `argumentSize` gives the size of a dimension of an argument (by number) at the new place.
  SizeCloner(OpBuilder &builder, function_ref<Value(BlockArgument, int64_t)> argumentSize)
      : builder(builder), argumentSize(argumentSize) {}

  /// Null where `value` does not follow from sizes.
  Value clone(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    Value result = op ? cloneResult(op) : Value();
    if (result)
      mapping.map(value, result);
    return result;
  }

private:
  Value cloneResult(Operation *op) {
    if (auto dim = dyn_cast<memref::DimOp>(op))
      return cloneDimension(dim);
    bool arithmetic = isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) && op->getNumResults() == 1 &&
                      op->getNumRegions() == 0 && isMemoryEffectFree(op);
    if (!arithmetic)
      return nullptr;
    for (Value operand : op->getOperands())
      if (!clone(operand))
        return nullptr;
    return builder.clone(*op, mapping)->getResult(0);
  }

  Value cloneDimension(memref::DimOp dim) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (!index || !type || *index < 0 || *index >= type.getRank())
      return nullptr;
    return cloneBufferSize(dim.getSource(), *index);
  }

  Value cloneBufferSize(Value buffer, int64_t index) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.isDynamicDim(index))
      return arith::ConstantIndexOp::create(builder, buffer.getLoc(), type.getDimSize(index));
    if (auto argument = dyn_cast<BlockArgument>(buffer))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? argumentSize(argument, index) : Value();
    return TypeSwitch<Operation *, Value>(buffer.getDefiningOp())
        .Case([&](memref::AllocOp op) { return clone(op.getDynamicSizes()[type.getDynamicDimIndex(index)]); })
        // What an earlier temporary has become: its sizes stand at the new place already.
        .Case([&](memref::ViewOp op) { return op.getSizes()[type.getDynamicDimIndex(index)]; })
        .Case([&](memref::CastOp op) {
          return isa<MemRefType>(op.getSource().getType()) ? cloneBufferSize(op.getSource(), index) : Value();
        })
        .Case([&](memref::ExpandShapeOp op) { return clone(op.getOutputShape()[type.getDynamicDimIndex(index)]); })
        .Case([&](memref::CollapseShapeOp op) { return cloneProduct(op, index); })
        .Case([&](memref::SubViewOp op) {
          SmallVector<OpFoldResult> sizes = op.getMixedSizes();
          llvm::SmallBitVector dropped = op.getDroppedDims();
          for (int64_t d = 0; d <= index; ++d)
            index += dropped.test(d);
          return clone(cast<Value>(sizes[index]));
        })
        .Default([](Operation *) { return Value(); });
  }

  /// The size of a collapsed dimension: the product of those that it was made of.
  Value cloneProduct(memref::CollapseShapeOp op, int64_t index) {
    Value product;
    ReassociationIndices sources = op.getReassociationIndices()[index];
    for (int64_t source : sources) {
      Value size = cloneBufferSize(op.getSrc(), source);
      if (!size)
        return nullptr;
      product = product ? arith::MulIOp::create(builder, op.getLoc(), product, size) : size;
    }
    return product;
  }

  OpBuilder &builder;
  function_ref<Value(BlockArgument, int64_t)> argumentSize;
  IRMapping mapping;
};

/// Plans one implementation.
class ScratchPlanner {
public:
  explicit ScratchPlanner(func::FuncOp function)
      : function(function),
        signature(KernelSignature::fromAttribute(function->getAttrOfType<DictionaryAttr>(kSignatureAttribute))) {}

  LogicalResult run();

private:
  LogicalResult collect();
  LogicalResult buildSizeFunction();
  LogicalResult replaceAllocations();
  /// The total of all temporaries, or RESID_BAD_SHAPE.
  FailureOr<Value> emitTotal(OpBuilder &builder, Location loc, SizeCloner &cloner, SizeCode &code);
  LogicalResult reportSize(memref::AllocOp alloc) {
    return alloc.emitError("the size of a temporary does not follow from the sizes of the arguments");
  }

  func::FuncOp function;
  KernelSignature signature;
  SmallVector<memref::AllocOp> allocations;
};

} // namespace

/// Whether a buffer made in a loop is carried into the next iteration; it then cannot be one fixed place.
static bool isCarriedByLoop(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return isa<LoopLikeOpInterface>(user->getParentOp());
    if (isa<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(), isCarriedByLoop);
    return false;
  });
}

LogicalResult ScratchPlanner::collect() {
  SmallVector<memref::AllocOp> all;
  SmallVector<memref::DeallocOp> deallocations;
  function.walk([&](memref::AllocOp alloc) { all.push_back(alloc); });
  function.walk([&](memref::DeallocOp dealloc) { deallocations.push_back(dealloc); });
  for (memref::DeallocOp dealloc : deallocations)
    dealloc.erase();
  int64_t onStack = 0;
  for (memref::AllocOp alloc : all) {
    MemRefType type = alloc.getType();
    auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
    if (!type.getLayout().isIdentity())
      return alloc.emitError() << "a temporary of type " << tensor << " is not available: expected a contiguous layout";
    if (!resid::fitsByteLimit(tensor))
      return alloc.emitError() << "expected a temporary of at most 2^47 bytes, but got " << tensor;
    if (isCarriedByLoop(alloc))
      return alloc.emitError("a temporary that a loop carries to its next iteration is not available");
    int64_t bytes = type.hasStaticShape() ? type.getNumElements() * elementBytes(type) : kByteLimit;
    if (bytes > kStackBytesEach || onStack + bytes > kernels::kTemporaryStackBytes) {
      allocations.push_back(alloc);
      continue;
    }
    onStack += bytes;
    // The block may begin with this allocation.
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    auto alloca = memref::AllocaOp::create(builder, alloc.getLoc(), type, builder.getI64IntegerAttr(kAlignment));
    alloc.getResult().replaceAllUsesWith(alloca);
    alloc.erase();
  }
  return success();
}

FailureOr<Value> ScratchPlanner::emitTotal(OpBuilder &builder, Location loc, SizeCloner &cloner, SizeCode &code) {
  Value fault = code.faults();
  Value total = code.constant(0);
  for (memref::AllocOp alloc : allocations) {
    MemRefType type = alloc.getType();
    int64_t fixed = elementBytes(type);
    for (int64_t size : type.getShape())
      if (!ShapedType::isDynamic(size))
        fixed *= size;
    Value bytes = code.constant(fixed);
    for (Value size : alloc.getDynamicSizes()) {
      Value cloned = cloner.clone(size);
      if (!cloned)
        return reportSize(alloc);
      Value number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), cloned);
      fault = code.either(fault, code.compare(arith::CmpIPredicate::slt, number, code.constant(0)));
      bytes = code.multiplyChecked(bytes, number, fault);
    }
    Value raised = arith::AddIOp::create(builder, loc, bytes, code.constant(kAlignment - 1));
    Value rounded = arith::AndIOp::create(builder, loc, raised, code.constant(-kAlignment));
    total = arith::AddIOp::create(builder, loc, total, rounded);
  }
  return Value(arith::SelectOp::create(builder, loc, fault, code.constant(BadShape), total));
}

LogicalResult ScratchPlanner::buildSizeFunction() {
  OpBuilder builder(function);
  Location loc = function.getLoc();
  SmallVector<Type> types(signature.sizes.size(), builder.getI64Type());
  auto sizeFunction = func::FuncOp::create(builder, loc, signature.symbol + kScratchSuffix.str(),
                                           builder.getFunctionType(types, {builder.getI64Type()}));
  sizeFunction.setPrivate();
  function->setAttr(kScratchAttribute, FlatSymbolRefAttr::get(sizeFunction));
  Block *entry = sizeFunction.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  SizeCode code(builder, loc, signature, entry->getArguments());
  auto argumentSize = [&](BlockArgument argument, int64_t dimension) -> Value {
    unsigned index = argument.getArgNumber() - 1;
    const KernelValue &value = index < signature.arguments.size()
                                   ? signature.arguments[index]
                                   : signature.results[index - signature.arguments.size()];
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), code.dimension(value.shape[dimension]));
  };
  SizeCloner cloner(builder, argumentSize);
  FailureOr<Value> total = emitTotal(builder, loc, cloner, code);
  if (failed(total)) {
    sizeFunction.erase();
    return failure();
  }
  func::ReturnOp::create(builder, loc, *total);
  return success();
}

LogicalResult ScratchPlanner::replaceAllocations() {
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = function.getLoc();
  auto scratchType = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  unsigned position = entry.getNumArguments() - 1; // the status cell stays last
  if (failed(function.insertArgument(position, scratchType, {}, loc)))
    return failure();
  Value scratch = entry.getArgument(position);

  auto argumentSize = [&](BlockArgument argument, int64_t dimension) -> Value {
    return memref::DimOp::create(builder, loc, argument, dimension);
  };
  SizeCloner cloner(builder, argumentSize);
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value offset = constant(0);
  for (memref::AllocOp alloc : allocations) {
    MemRefType type = alloc.getType();
    Value bytes = constant(elementBytes(type));
    for (int64_t size : type.getShape())
      if (!ShapedType::isDynamic(size))
        bytes = arith::MulIOp::create(builder, loc, bytes, constant(size));
    SmallVector<Value> sizes;
    for (Value size : alloc.getDynamicSizes()) {
      sizes.push_back(cloner.clone(size));
      bytes = arith::MulIOp::create(builder, loc, bytes, sizes.back());
    }
    Value view = memref::ViewOp::create(builder, alloc.getLoc(), type, scratch, offset, sizes);
    Value raised = arith::AddIOp::create(builder, loc, bytes, constant(kAlignment - 1));
    Value rounded = arith::AndIOp::create(builder, loc, raised, constant(-kAlignment));
    offset = arith::AddIOp::create(builder, loc, offset, rounded);
    // Kept until all sizes are cloned: later temporaries may ask for this one's.
    alloc.getResult().replaceUsesWithIf(view, [](OpOperand &use) { return !isa<memref::DimOp>(use.getOwner()); });
  }
  for (memref::AllocOp alloc : allocations) {
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers())) {
      auto dim = cast<memref::DimOp>(user);
      Value size = cloner.clone(dim.getResult());
      if (!size)
        return reportSize(alloc);
      dim.getResult().replaceAllUsesWith(size);
      dim.erase();
    }
    alloc.erase();
  }
  return success();
}

LogicalResult ScratchPlanner::run() {
  if (failed(collect()))
    return failure();
  if (allocations.empty())
    return success();
  if (failed(buildSizeFunction()))
    return failure();
  return replaceAllocations();
}

namespace {
struct PlanScratch : resid::boundary::impl::PlanScratchBase<PlanScratch> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kSignatureAttribute))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(ScratchPlanner(function).run()))
        return signalPassFailure();
  }
};
} // namespace
