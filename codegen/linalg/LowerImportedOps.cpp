// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass resid-lower-imported-ops: what exporters of models write, in ops that all further passes know.

#include "codegen/builder/Code.h"
#include "codegen/linalg/ElementConditions.h"
#include "codegen/linalg/Passes.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid {
#define GEN_PASS_DEF_LOWERIMPORTEDOPS
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The sizes of a tensor's dimensions from `first` up to `end`.
static SmallVector<OpFoldResult> getSizes(Code &builder, Value tensor, int64_t first, int64_t end) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), tensor);
  return SmallVector<OpFoldResult>(ArrayRef(sizes).slice(first, end - first));
}

static Value toIndex(OpBuilder &builder, Location loc, Value number) {
  Type index = builder.getIndexType();
  return number.getType() == index ? number : arith::IndexCastOp::create(builder, loc, index, number).getResult();
}

//===------------------------------------------- gather and scatter -----------------------------------------------===//

/// The dimensions of a table of `rank` that a slice in it spans: all, or all but those that are indexed.
static SmallVector<int64_t> getSpanned(int64_t rank, ArrayRef<int64_t> indexed, bool keepsIndexed) {
  SmallVector<int64_t> spanned;
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    if (keepsIndexed || !llvm::is_contained(indexed, dimension))
      spanned.push_back(dimension);
  return spanned;
}

/// Column number `column` of the indices, as an array over what comes before the columns.
static Value takeColumn(Code &builder, Value indices, int64_t column) {
  auto type = cast<RankedTensorType>(indices.getType());
  int64_t batch = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(batch, builder.getIndexAttr(0)), strides(batch + 1, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getSizes(builder, indices, 0, batch);
  offsets.push_back(builder.getIndexAttr(column));
  sizes.push_back(builder.getIndexAttr(1));
  auto columnType = RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  return resid::extractSlice(builder, builder.getLoc(), columnType, indices, offsets, sizes, strides);
}

/// A loop over the result that looks each element up.
static void lowerGather(tensor::GatherOp op) {
  Code builder(OpBuilder(op), op.getLoc());
  Value table = op.getSource(), indices = op.getIndices();
  RankedTensorType type = op.getResultType();
  int64_t rank = type.getRank(), batch = op.getIndicesType().getRank() - 1, tableRank = op.getSourceType().getRank();
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool keepsIndexed = rank == batch + tableRank;
  SmallVector<int64_t> spanned = getSpanned(tableRank, gathered, keepsIndexed);
  SmallVector<OpFoldResult> sizes = getSizes(builder, indices, 0, batch), tableSizes;
  tableSizes = getSizes(builder, table, 0, tableRank);
  for (int64_t dimension : spanned)
    sizes.push_back(llvm::is_contained(gathered, dimension) ? builder.getIndexAttr(1) : tableSizes[dimension]);
  Value empty = tensor::EmptyOp::create(builder, sizes, type.getElementType());
  SmallVector<Value> columns;
  for (int64_t column = 0, e = gathered.size(); column < e; ++column)
    columns.push_back(takeColumn(builder, indices, column));
  AffineMap whole = builder.getMultiDimIdentityMap(rank);
  AffineMap overTuples = AffineMap::get(rank, 0, whole.getResults().take_front(batch), builder.getContext());
  SmallVector<AffineMap> maps(columns.size(), overTuples);
  maps.push_back(whole);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    SmallVector<Value> place(tableRank);
    for (auto [number, dimension] : llvm::enumerate(spanned))
      if (!llvm::is_contained(gathered, dimension))
        place[dimension] = linalg::IndexOp::create(inner, loc, batch + number);
    for (auto [dimension, number] : llvm::zip(gathered, elements))
      place[dimension] = toIndex(inner, loc, number);
    linalg::YieldOp::create(inner, loc, tensor::ExtractOp::create(inner, loc, table, place).getResult());
  };
  Value result = linalg::GenericOp::create(builder, empty.getType(), columns, empty, maps, loops, body).getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(builder, type, result);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// The slice of the scatter's source for one place among the indices.
static Value takeSlice(Code &builder, tensor::ScatterOp op, ValueRange place) {
  auto type = op.getSourceType();
  int64_t batch = place.size(), rank = type.getRank();
  SmallVector<OpFoldResult> offsets(place), sizes(batch, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  offsets.append(rank - batch, builder.getIndexAttr(0));
  sizes.append(getSizes(builder, op.getSource(), batch, rank));
  auto sliceType = RankedTensorType::get(type.getShape().drop_front(batch), type.getElementType());
  return resid::extractSlice(builder, builder.getLoc(), sliceType, op.getSource(), offsets, sizes, strides);
}

/// One insertion per slice. No two of them meet, so their order does not matter.
static void lowerScatter(tensor::ScatterOp op) {
  Code builder(OpBuilder(op), op.getLoc());
  ArrayRef<int64_t> scattered = op.getScatterDims();
  int64_t batch = op.getIndicesType().getRank() - 1, rank = op.getDestType().getRank();
  SmallVector<Value> uppers;
  for (OpFoldResult size : getSizes(builder, op.getIndices(), 0, batch))
    uppers.push_back(getValueOrCreateConstantIndexOp(builder, op.getLoc(), size));
  SmallVector<Value> lowers(batch, arith::ConstantIndexOp::create(builder, 0));
  SmallVector<Value> steps(batch, arith::ConstantIndexOp::create(builder, 1));
  auto insert = [&](OpBuilder &inner, Location loc, ValueRange place, ValueRange carried) {
    Code here(OpBuilder(inner), loc);
    SmallVector<OpFoldResult> offsets(rank, here.getIndexAttr(0)), strides(rank, here.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = getSizes(here, carried.front(), 0, rank);
    for (auto [column, dimension] : llvm::enumerate(scattered)) {
      SmallVector<Value> where(place);
      where.push_back(arith::ConstantIndexOp::create(here, column));
      offsets[dimension] = toIndex(here, loc, tensor::ExtractOp::create(here, op.getIndices(), where));
      sizes[dimension] = here.getIndexAttr(1);
    }
    Value slice = takeSlice(here, op, place);
    return scf::ValueVector{resid::insertSlice(here, loc, slice, carried.front(), offsets, sizes, strides)};
  };
  scf::LoopNest nest = scf::buildLoopNest(builder, op.getLoc(), lowers, uppers, steps, op.getDest(), insert);
  op.replaceAllUsesWith(nest.results.front());
  op.erase();
}

//===------------------------------------------- single ops -------------------------------------------------------===//

/// The body of tensor.generate as one of linalg, which knows lookups and assertions.
static void lowerGenerate(tensor::GenerateOp op) {
  Code builder(OpBuilder(op), op.getLoc());
  RankedTensorType type = op.getType();
  Value empty = tensor::EmptyOp::create(builder, type, op.getDynamicExtents());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    IRMapping mapping;
    for (BlockArgument argument : op.getBody().getArguments())
      mapping.map(argument, linalg::IndexOp::create(inner, argument.getLoc(), argument.getArgNumber()).getResult());
    for (Operation &operation : op.getBody().front().without_terminator())
      inner.clone(operation, mapping);
    auto yield = cast<tensor::YieldOp>(op.getBody().front().getTerminator());
    linalg::YieldOp::create(inner, loc, mapping.lookupOrDefault(yield.getValue()));
  };
  auto elements = linalg::GenericOp::create(builder, type, ValueRange(), empty,
                                            builder.getMultiDimIdentityMap(type.getRank()), loops, body);
  op.replaceAllUsesWith(elements.getResult(0));
  op.erase();
}

static void lowerBitcast(tensor::BitcastOp op) {
  OpBuilder builder(op);
  op.replaceAllUsesWith(arith::BitcastOp::create(builder, op.getLoc(), op.getType(), op.getSource()).getResult());
  op.erase();
}

/// As many sizes of 1 as the type has dimensions.
static RankedTensorType getOnes(RankedTensorType type) { return type.clone(SmallVector<int64_t>(type.getRank(), 1)); }

/// What becomes a scalar has one element, which memref.collapse_shape wants its type to say.
static void lowerCollapse(tensor::CollapseShapeOp op) {
  if (op.getResultType().getRank() != 0 || op.getSrcType().hasStaticShape())
    return;
  OpBuilder builder(op);
  op.getSrcMutable().assign(tensor::CastOp::create(builder, op.getLoc(), getOnes(op.getSrcType()), op.getSrc()));
}

/// The same the other way round.
static void lowerExpand(tensor::ExpandShapeOp op) {
  RankedTensorType type = op.getResultType();
  if (op.getSrcType().getRank() != 0 || type.hasStaticShape())
    return;
  OpBuilder builder(op);
  Value ones =
      tensor::ExpandShapeOp::create(builder, op.getLoc(), getOnes(type), op.getSrc(), op.getReassociationIndices());
  op.replaceAllUsesWith(tensor::CastOp::create(builder, op.getLoc(), type, ones).getResult());
  op.erase();
}

/// Element `number` of a vector that is made of scalars; null where it is read from an array.
static Value findElement(Code &builder, Value vector, int64_t number) {
  Operation *op = vector.getDefiningOp();
  if (DenseIntElementsAttr constant; matchPattern(vector, m_Constant(&constant)))
    return arith::ConstantIndexOp::create(builder, constant.getValues<APInt>()[number].getSExtValue());
  if (auto scalars = dyn_cast_if_present<tensor::FromElementsOp>(op))
    return scalars.getElements()[number];
  if (auto cast = dyn_cast_if_present<tensor::CastOp>(op))
    return findElement(builder, cast.getSource(), number);
  if (auto insert = dyn_cast_if_present<tensor::InsertOp>(op)) {
    std::optional<int64_t> at = getConstantIntValue(insert.getIndices().front());
    return !at ? Value() : *at == number ? insert.getScalar() : findElement(builder, insert.getDest(), number);
  }
  if (!op || op->getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(op))
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value scalar = isa<RankedTensorType>(operand.getType()) ? findElement(builder, operand, number) : operand;
    if (!scalar)
      return {};
    Type element = getElementTypeOrSelf(operand.getType());
    operands.push_back(scalar.getType() == element ? scalar
                                                   : arith::IndexCastOp::create(builder, element, scalar).getResult());
  }
  OperationState state(op->getLoc(), op->getName(), operands, getElementTypeOrSelf(vector.getType()), op->getAttrs());
  return builder.create(state)->getResult(0);
}

static Value multiplySizes(Code &builder, ArrayRef<OpFoldResult> sizes) {
  Value product = arith::ConstantIndexOp::create(builder, 1);
  for (OpFoldResult size : sizes)
    if (size)
      product = builder.multiply(product, getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
  return product;
}

/// The sizes of a reshape's result: those of its type, scalars that the shape is made of, and one that the others leave
/// of `count` elements. Nothing where numbers in an array say more than one.
static std::optional<SmallVector<OpFoldResult>> findSizes(Code &builder, tensor::ReshapeOp op, Value count) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dimension, size] : llvm::enumerate(cast<RankedTensorType>(op.getType()).getShape())) {
    if (!ShapedType::isDynamic(size))
      sizes.push_back(builder.getIndexAttr(size));
    else if (Value scalar = findElement(builder, op.getShape(), dimension))
      sizes.push_back(toIndex(builder, builder.getLoc(), scalar));
    else
      sizes.push_back(OpFoldResult());
  }
  auto isOpen = [](OpFoldResult size) { return !size; };
  if (llvm::count_if(sizes, isOpen) > 1)
    return std::nullopt;
  if (auto *open = llvm::find_if(sizes, isOpen); open != sizes.end()) {
    Value known = multiplySizes(builder, sizes), isEmpty = builder.isEqual(known, 0);
    *open = builder.select(isEmpty, 0, builder.divide(count, builder.select(isEmpty, 1, known)));
  }
  return sizes;
}

/// The number of elements is that of the source, or the call is refused.
static void lowerReshape(tensor::ReshapeOp op) {
  Code builder(OpBuilder(op), op.getLoc());
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType()), type = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !type || !hasStatus(op))
    return;
  Value count = multiplySizes(builder, getSizes(builder, op.getSource(), 0, source.getRank()));
  std::optional<SmallVector<OpFoldResult>> sizes = findSizes(builder, op, count);
  if (!sizes)
    return;
  if (!source.hasStaticShape() || !type.hasStaticShape())
    cf::AssertOp::create(builder, builder.isEqual(count, multiplySizes(builder, *sizes)),
                         "tensor.reshape keeps the number of elements");
  // All dimensions as one, and that one as others.
  auto group = [](int64_t rank) {
    return SmallVector<ReassociationIndices>(rank == 0 ? 0 : 1, llvm::to_vector(llvm::seq<int64_t>(rank)));
  };
  Value result = op.getSource();
  if (source.getRank() == 0)
    result = tensor::ExpandShapeOp::create(builder, source.clone({1}), result, group(0));
  else if (source.getRank() > 1)
    result = tensor::CollapseShapeOp::create(builder, result, group(source.getRank()));
  auto flat = type.clone({type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic});
  if (result.getType() != flat)
    result = tensor::CastOp::create(builder, flat, result);
  if (type.getRank() == 0)
    result = tensor::CollapseShapeOp::create(builder, type, result, group(0));
  else if (type.getRank() > 1)
    result = tensor::ExpandShapeOp::create(builder, type, result, group(type.getRank()), *sizes);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// Arguments are read only, and results have places of their own: what is put into an array is a value as any other.
/// Of open sizes a copy says that those of the two are the same.
static LogicalResult lowerMaterialize(bufferization::MaterializeInDestinationOp op) {
  if (op->getNumResults() == 0)
    return op.emitOpError("is not available on any target: expected a destination that is a tensor, since functions "
                          "write nothing but their results");
  OpBuilder builder(op);
  Value value = op.getSource();
  if (!cast<RankedTensorType>(value.getType()).hasStaticShape() || value.getType() != op.getResult().getType())
    value = linalg::CopyOp::create(builder, op.getLoc(), value, op.getDest()).getResult(0);
  op.getResult().replaceAllUsesWith(value);
  op.erase();
  return success();
}

//===------------------------------------------- globals ----------------------------------------------------------===//

/// What a global holds as long as nothing is stored to it.
static LogicalResult lowerLoad(Operation *op, SymbolRefAttr symbol) {
  auto global = SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(op, symbol);
  auto value = global ? dyn_cast_or_null<TypedAttr>(global.getValueAttr()) : TypedAttr();
  auto refuse = [&] { return op->emitOpError("is not available on any target: expected "); };
  if (!value || !arith::ConstantOp::isBuildableWith(value, op->getResult(0).getType()))
    return refuse() << "a global whose value stands in the program, but got " << symbol;
  OpBuilder builder(op);
  op->replaceAllUsesWith(arith::ConstantOp::create(builder, op->getLoc(), value));
  op->erase();
  return success();
}

/// Compiled functions keep nothing between calls. A global that is stored to would have to be an argument and a result.
static LogicalResult lowerGlobals(ModuleOp module) {
  bool isRefused = false;
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op)) {
      isRefused |= failed(lowerLoad(load, load.getGlobal()));
    } else if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
      isRefused |= failed(lowerLoad(load, load.getGlobal()));
    } else if (isa_and_present<ml_program::MLProgramDialect>(op->getDialect()) && !isa<ml_program::GlobalOp>(op)) {
      op->emitOpError("is not available on any target: expected functions that keep nothing between calls; an argument "
                      "and a result can carry such a value");
      isRefused = true;
    }
  });
  if (isRefused)
    return failure();
  for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>()))
    global.erase();
  return success();
}

/// Loops whose number of turns follows from data.
static LogicalResult refuseWhile(scf::WhileOp op) {
  return op.emitOpError("is not available on any target: expected a loop whose bounds are known when it begins, as in "
                        "scf.for");
}

/// Loops, branches and memory of affine. What it computes of indices is known.
static LogicalResult refuseAffine(Operation *op) {
  if (!isa_and_present<affine::AffineDialect>(op->getDialect()) ||
      isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp, affine::AffineLinearizeIndexOp,
          affine::AffineDelinearizeIndexOp, affine::AffineYieldOp>(op))
    return success();
  return op->emitOpError("is not available on any target: expected loops and branches of scf, and tensors");
}

/// Padding of less than nothing, which would cut.
static LogicalResult verifyPadding(tensor::PadOp op) {
  for (ArrayRef<int64_t> numbers : {op.getStaticLow(), op.getStaticHigh()})
    for (int64_t number : numbers)
      if (number < 0 && !ShapedType::isDynamic(number))
        return op.emitOpError("is not available on any target: expected padding of 0 or more, but got ") << number;
  return success();
}

namespace {
struct LowerImportedOps : public resid::impl::LowerImportedOpsBase<LowerImportedOps> {
  void runOnOperation() override {
    // All that is refused is named.
    bool isRefused = false;
    getOperation()->walk([&](Operation *op) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case([](scf::WhileOp loop) { return refuseWhile(loop); })
              .Case([](bufferization::MaterializeInDestinationOp op) { return lowerMaterialize(op); })
              .Case([](tensor::PadOp pad) { return verifyPadding(pad); })
              .Default([](Operation *other) { return refuseAffine(other); });
      isRefused |= failed(result);
    });
    if (failed(lowerGlobals(getOperation())) || isRefused)
      return signalPassFailure();
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([](tensor::GatherOp gather) { lowerGather(gather); })
          .Case([](tensor::ScatterOp scatter) { lowerScatter(scatter); })
          .Case([](tensor::GenerateOp generate) { lowerGenerate(generate); })
          .Case([](tensor::ReshapeOp reshape) { lowerReshape(reshape); })
          .Case([](tensor::BitcastOp cast) { lowerBitcast(cast); })
          .Case([](tensor::CollapseShapeOp collapse) { lowerCollapse(collapse); })
          .Case([](tensor::ExpandShapeOp expand) { lowerExpand(expand); });
    });
  }
};
} // namespace
