// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporaries of a call into one block of scratch memory. Does not own which of them share it (ScratchSlots.h).

#include "codegen/boundary/ArraySizes.h"
#include "codegen/boundary/BufferSizes.h"
#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/Passes.h"
#include "codegen/boundary/ScratchSlots.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/StackBudget.h"
#include "dialect/Shapes.h"

namespace mlir::resid::boundary {
#define GEN_PASS_DEF_PLANSCRATCH
#include "codegen/boundary/Passes.h.inc"
} // namespace mlir::resid::boundary

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// Static temporaries up to this many bytes each go to the stack, as long as its share has room.
static constexpr int64_t kStackBytesEach = 1024;

/// The bytes of a buffer, the sizes that are not known left out.
static int64_t getFixedBytes(MemRefType type) {
  int64_t bytes = KernelValue{"", type.getElementType(), {}}.getElementBytes();
  for (int64_t size : type.getShape())
    bytes *= ShapedType::isDynamic(size) ? 1 : size;
  return bytes;
}

namespace {

/// Plans one implementation.
class ScratchPlanner {
public:
  explicit ScratchPlanner(func::FuncOp function)
      : function(function),
        signature(KernelSignature::fromAttribute(function->getAttrOfType<DictionaryAttr>(kSignatureAttribute))),
        sizes(signature, function.getContext()) {}

  LogicalResult run();

private:
  /// What tells the bytes of a unit: `multiplier` times the open sizes of a temporary, by `divisor`, without remainder.
  struct Measure {
    memref::AllocOp alloc;
    int64_t multiplier, divisor;
  };
  using SizeValues = llvm::DenseMap<SizeExpr, Value>;

  LogicalResult collect();
  LogicalResult verifyTemporary(memref::AllocOp alloc, const BufferLifetimes &lifetimes);
  void moveToStack(memref::AllocOp alloc);
  void layOut(const BufferLifetimes &lifetimes);
  LogicalResult buildSizeFunction();
  LogicalResult emitSizes(Code &builder, SizeCloner &cloner, ArraySizes &code, Value &fault, SizeValues &values);
  /// The total of all areas, or RESID_BAD_SHAPE.
  FailureOr<Value> emitTotal(Code &builder, SizeCloner &cloner, ArraySizes &code);
  SmallVector<std::pair<Value, Value>> emitAreas(OpBuilder &builder, SizeCloner &cloner);
  /// The value, an index, made anew in the implementation; null where it does not follow from sizes.
  Value emitSizeInside(OpBuilder &builder, SizeCloner &cloner, Value size);
  LogicalResult replaceAllocations();
  LogicalResult reportSize(memref::AllocOp alloc) {
    return alloc.emitError("the size of a temporary does not follow from the sizes of the arguments");
  }

  func::FuncOp function;
  KernelSignature signature;
  BufferSizes sizes;
  SmallVector<memref::AllocOp> allocations;
  ScratchLayout layout;
  llvm::DenseMap<SizeExpr, Measure> measures;
  SizeValues sizesInside;
};

} // namespace

LogicalResult ScratchPlanner::verifyTemporary(memref::AllocOp alloc, const BufferLifetimes &lifetimes) {
  MemRefType type = alloc.getType();
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  if (!type.getLayout().isIdentity())
    return alloc.emitError() << "a temporary of type " << tensor << " is not available: expected a contiguous layout";
  if (!resid::fitsByteLimit(tensor))
    return alloc.emitError() << "expected a temporary of at most 2^47 bytes, but got " << tensor;
  if (lifetimes.isCarriedByLoop(alloc))
    return alloc.emitError("a temporary that a loop carries to its next iteration is not available");
  return success();
}

void ScratchPlanner::moveToStack(memref::AllocOp alloc) {
  // The block may begin with this allocation.
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  auto alloca =
      memref::AllocaOp::create(builder, alloc.getLoc(), alloc.getType(), builder.getI64IntegerAttr(kScratchAlignment));
  alloc.getResult().replaceAllUsesWith(alloca);
  alloc.erase();
}

LogicalResult ScratchPlanner::collect() {
  SmallVector<memref::AllocOp> small;
  SmallVector<memref::DeallocOp> deallocations;
  BufferLifetimes lifetimes(function, signature.isForDevice);
  int64_t onStack = 0;
  WalkResult walk = function.walk([&](Operation *op) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
      deallocations.push_back(dealloc);
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return WalkResult::advance();
    if (failed(verifyTemporary(alloc, lifetimes)))
      return WalkResult::interrupt();
    int64_t bytes = alloc.getType().hasStaticShape() ? getFixedBytes(alloc.getType()) : kByteLimit;
    bool isSmall =
        !signature.isForDevice && bytes <= kStackBytesEach && onStack + bytes <= kernels::kTemporaryStackBytes;
    onStack += isSmall ? bytes : 0;
    (isSmall ? small : allocations).push_back(alloc);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  layOut(lifetimes);
  for (memref::DeallocOp dealloc : deallocations)
    dealloc.erase();
  for (memref::AllocOp alloc : small)
    moveToStack(alloc);
  return success();
}

void ScratchPlanner::layOut(const BufferLifetimes &lifetimes) {
  SmallVector<ScratchRequest> requests;
  for (memref::AllocOp alloc : allocations) {
    auto [units, unit] = splitCoefficient(sizes.getBytes(alloc));
    requests.push_back({units, unit, lifetimes.getRange(alloc)});
    // A temporary whose open sizes alone are the unit says it best.
    int64_t fixed = getFixedBytes(alloc.getType());
    if (fixed == units)
      measures.insert_or_assign(unit, Measure{alloc, 1, 1});
    else
      measures.try_emplace(unit, Measure{alloc, fixed, units});
  }
  layout = layOutScratch(requests);
}

/// The sizes of all temporaries, each once, as i64. Sets `fault` where one is negative, or cannot be computed.
LogicalResult ScratchPlanner::emitSizes(Code &builder, SizeCloner &cloner, ArraySizes &code, Value &fault,
                                        SizeValues &values) {
  for (memref::AllocOp alloc : allocations)
    for (Value size : alloc.getDynamicSizes()) {
      SizeExpr expression = sizes.get(size);
      auto [known, isNew] = values.try_emplace(expression);
      if (!isNew)
        continue;
      if (!expression.hasNumbers())
        known->second = code.evaluate(expression, fault);
      else if (Value cloned = cloner.clone(size))
        known->second = arith::IndexCastOp::create(builder, alloc.getLoc(), builder.getI64Type(), cloned);
      else
        return reportSize(alloc);
      fault = builder.either(fault, builder.compare(arith::CmpIPredicate::slt, known->second, 0));
    }
  return success();
}

FailureOr<Value> ScratchPlanner::emitTotal(Code &builder, SizeCloner &cloner, ArraySizes &code) {
  Value fault = code.faults();
  SizeValues values;
  if (failed(emitSizes(builder, cloner, code, fault, values)))
    return failure();
  Value total = builder.constant(0);
  for (const ScratchArea &area : layout.areas) {
    Value bytes = builder.constant(area.units);
    if (!area.unit.getConstant()) {
      Measure measure = measures.at(area.unit);
      Value unit = builder.constant(measure.multiplier);
      for (Value size : measure.alloc.getDynamicSizes())
        unit = code.multiplyChecked(unit, values.at(sizes.get(size)), fault);
      if (measure.divisor != 1)
        unit = builder.divide(unit, measure.divisor);
      bytes = code.multiplyChecked(unit, bytes, fault);
      Value raised = builder.add(bytes, kScratchAlignment - 1);
      bytes = builder.both(raised, -kScratchAlignment);
    }
    total = builder.add(total, bytes);
  }
  return builder.select(fault, int64_t(RESID_BAD_SHAPE), total);
}

LogicalResult ScratchPlanner::buildSizeFunction() {
  Code builder(OpBuilder(function), function.getLoc());
  SmallVector<Type> types(signature.sizes.size(), builder.getI64Type());
  auto sizeFunction = builder.create<func::FuncOp>(signature.symbol + kScratchSuffix.str(),
                                                   builder.getFunctionType(types, {builder.getI64Type()}));
  sizeFunction.setPrivate();
  function->setAttr(kScratchAttribute, FlatSymbolRefAttr::get(sizeFunction));
  Block *entry = sizeFunction.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  ArraySizes code(builder, signature, entry->getArguments());
  auto argumentSize = [&](BlockArgument argument, int64_t dimension) -> Value {
    int64_t size = getKernelValue(signature, argument).shape[dimension];
    return builder.create<arith::IndexCastOp>(builder.getIndexType(), code.dimension(size));
  };
  SizeCloner cloner(builder, argumentSize);
  FailureOr<Value> total = emitTotal(builder, cloner, code);
  if (failed(total)) {
    sizeFunction.erase();
    return failure();
  }
  builder.create<func::ReturnOp>(*total);
  return success();
}

/// Where each area begins, and the bytes of its unit. The size function found that nothing overflows.
SmallVector<std::pair<Value, Value>> ScratchPlanner::emitAreas(OpBuilder &builder, SizeCloner &cloner) {
  Location loc = function.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  SmallVector<std::pair<Value, Value>> areas;
  Value begin = constant(0);
  for (const ScratchArea &area : layout.areas) {
    Value unit = constant(1);
    if (!area.unit.getConstant()) {
      Measure measure = measures.at(area.unit);
      unit = constant(measure.multiplier);
      for (Value size : measure.alloc.getDynamicSizes())
        unit = arith::MulIOp::create(builder, loc, unit, emitSizeInside(builder, cloner, size));
      if (measure.divisor != 1)
        unit = arith::DivUIOp::create(builder, loc, unit, constant(measure.divisor));
    }
    areas.push_back({begin, unit});
    Value bytes = arith::MulIOp::create(builder, loc, unit, constant(area.units));
    Value raised = arith::AddIOp::create(builder, loc, bytes, constant(kScratchAlignment - 1));
    Value rounded = arith::AndIOp::create(builder, loc, raised, constant(-kScratchAlignment));
    begin = arith::AddIOp::create(builder, loc, begin, rounded);
  }
  return areas;
}

/// The size function found that the value is one.
Value ScratchPlanner::emitSizeInside(OpBuilder &builder, SizeCloner &cloner, Value size) {
  SizeExpr expression = sizes.get(size);
  if (expression.hasNumbers())
    return cloner.clone(size);
  Value &known = sizesInside[expression];
  if (known)
    return known;
  return known = emitIndex(builder, function.getLoc(), expression, signature, function.getArguments().drop_front());
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
  // Nothing is replaced before all is cloned: sizes are followed through the temporaries.
  SmallVector<std::pair<Operation *, Value>> replacements;
  for (memref::AllocOp alloc : allocations) {
    for (Value size : alloc.getDynamicSizes())
      if (!emitSizeInside(builder, cloner, size))
        return reportSize(alloc);
    for (auto dim : alloc->getUsers())
      if (isa<memref::DimOp>(dim)) {
        Value size = emitSizeInside(builder, cloner, dim->getResult(0));
        if (!size)
          return reportSize(alloc);
        replacements.push_back({dim, size});
      }
  }
  SmallVector<std::pair<Value, Value>> areas = emitAreas(builder, cloner);
  for (auto [alloc, place] : llvm::zip_equal(allocations, layout.places)) {
    auto [begin, unit] = areas[place.area];
    Value offset = begin;
    if (place.offset != 0) {
      Value units = arith::ConstantIndexOp::create(builder, loc, place.offset);
      offset = arith::AddIOp::create(builder, loc, begin, arith::MulIOp::create(builder, loc, unit, units));
    }
    auto open =
        llvm::map_to_vector(alloc.getDynamicSizes(), [&](Value size) { return emitSizeInside(builder, cloner, size); });
    auto view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), scratch, offset, open);
    view->setAttr(kernels::kTemporaryAttribute, builder.getUnitAttr());
    replacements.push_back({alloc, view});
  }
  for (auto [op, value] : replacements) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
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
