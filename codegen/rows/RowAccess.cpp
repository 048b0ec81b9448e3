// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/RowAccess.h"

#include "codegen/rows/ColumnMoves.h"
#include "codegen/rows/ColumnSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

AffineMap RowSpace::getIdentity(MLIRContext *context) const {
  return AffineMap::getMultiDimIdentityMap(getRank(), context);
}

AffineMap RowSpace::getRows(MLIRContext *context) const {
  return AffineMap::get(getRank(), 0, getIdentity(context).getResults().take_front(getNumRows()), context);
}

AffineMap RowSpace::getColumns(MLIRContext *context) const {
  return AffineMap::get(getRank(), 0, getIdentity(context).getResults().take_back(columns), context);
}

bool RowSpace::usesColumns(AffineMap map) const {
  return llvm::any_of(llvm::seq(getNumRows(), getRank()), [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

bool RowSpace::fits(AffineMap map) const {
  unsigned rows = getNumRows(), next = rows;
  if (columns == 1 && !ShapedType::isDynamic(shape.back()))
    map = undoMove(map);
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    bool isColumn = dim && dim.getPosition() >= rows;
    if (isColumn ? dim.getPosition() != next : next != rows)
      return false;
    next += isColumn;
  }
  return next == rows || next == getRank();
}

bool rows::isStatistics(Operation *op) { return isa_and_present<StatisticsOpInterface>(op); }

bool rows::isGenerated(Operation *op) { return isa_and_present<RandomHalvesOp, ColumnNumbersOp>(op); }

/// Scalar ops of a body: arith and math, without regions, on scalars.
static bool isScalarBody(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    bool isScalar = llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
    return isScalar && op.getNumRegions() == 0 && isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
  });
}

/// Whether every result is a dimension or the constant 0, and no dimension is used twice. A 0 stands where the operand
/// has size 1: one element of several is a read at another place.
static bool isProjection(AffineMap map, Type operand) {
  return map.isProjectedPermutation(/*allowZeroInResults=*/true) &&
         llvm::all_of(llvm::enumerate(map.getResults()), [&](auto result) {
           return isa<AffineDimExpr>(result.value()) || cast<ShapedType>(operand).getDimSize(result.index()) == 1;
         });
}

static bool isScalarProgram(linalg::GenericOp op, ArrayRef<AffineMap> maps) {
  return op.hasPureTensorSemantics() && isScalarBody(*op.getBody()) &&
         llvm::all_of_zip(maps, op->getOperandTypes(), isProjection) &&
         llvm::all_of(op.getInputs().getTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

bool rows::isScalarProgram(linalg::GenericOp op) { return ::isScalarProgram(op, op.getIndexingMapsArray()); }

/// Rows are read at other columns where it is known how many there are.
static SmallVector<AffineMap> undoMoves(linalg::GenericOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool isKnown = !sizes.empty() && !ShapedType::isDynamic(sizes.back());
  return llvm::map_to_vector(op.getIndexingMapsArray(), [&](AffineMap map) { return isKnown ? undoMove(map) : map; });
}

bool rows::isElementwise(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  return generic && generic.getNumParallelLoops() == generic.getNumLoops() &&
         ::isScalarProgram(generic, undoMoves(generic)) &&
         llvm::all_of(generic.getDpsInitsMutable(),
                      [&](OpOperand &init) { return generic.getMatchingIndexingMap(&init).isIdentity(); });
}

bool rows::isRowWise(Operation *op) { return isStatistics(op) || isElementwise(op) || isColumnSum(op); }

SmallVector<int64_t> rows::getLoopShape(Operation *op) {
  if (auto statistics = dyn_cast<StatisticsOpInterface>(op))
    return llvm::to_vector(cast<RankedTensorType>(statistics.getRowOperands().front().getType()).getShape());
  return cast<linalg::GenericOp>(op).getStaticLoopRanges();
}

SmallVector<Access> rows::getReads(Operation *op) {
  SmallVector<Access> reads;
  if (auto statistics = dyn_cast<StatisticsOpInterface>(op)) {
    AffineMap identity = AffineMap::getMultiDimIdentityMap(getLoopShape(op).size(), op->getContext());
    for (Value operand : statistics.getRowOperands())
      reads.push_back({operand, identity});
    return reads;
  }
  auto generic = cast<linalg::GenericOp>(op);
  bool isSum = isColumnSum(op);
  for (OpOperand &operand : generic->getOpOperands())
    if (!generic.getMatchingBlockArgument(&operand).use_empty() && !(isSum && generic.isDpsInit(&operand)))
      reads.push_back({operand.get(), generic.getMatchingIndexingMap(&operand)});
  return reads;
}

bool rows::isExpensive(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return true;
  bool usesRandom = llvm::any_of(generic.getInputs(),
                                 [](Value input) { return isa_and_present<RandomHalvesOp>(input.getDefiningOp()); });
  return usesRandom || llvm::any_of(*generic.getBody(), [](Operation &inner) {
           bool isMath = isa<math::MathDialect>(inner.getDialect()) && !isa<math::FmaOp, math::AbsFOp>(inner);
           return isMath || isa<arith::DivFOp, arith::RemFOp>(inner);
         });
}

/// Whether the map gives the leading dimensions in order, at least one: how row statistics are read. So it does where
/// the last one is moved.
static bool isLeading(AffineMap map) {
  map = undoMove(map);
  auto isDimAtItsPlace = [](auto indexed) {
    auto dim = dyn_cast<AffineDimExpr>(indexed.value());
    return dim && dim.getPosition() == indexed.index();
  };
  return map.getNumResults() != 0 && llvm::all_of(llvm::enumerate(map.getResults()), isDimAtItsPlace);
}

/// A chain of cheap elementwise ops on parameters: nothing that depends on a row's statistics. What was `seen` is one,
/// or else the answer is known: a chain that reads each value twice has twice as many paths with each op.
static bool isParameterChain(Value tensor, DenseSet<Value> &seen) {
  Operation *producer = tensor.getDefiningOp();
  if (isStatistics(producer))
    return false;
  if (!isElementwise(producer) || !seen.insert(tensor).second)
    return true;
  return !isExpensive(producer) &&
         llvm::all_of(getReads(producer), [&](const Access &read) { return isParameterChain(read.tensor, seen); });
}

bool rows::isInlined(const Access &access) {
  Operation *producer = access.tensor.getDefiningOp();
  if (!producer)
    return false;
  if (isGenerated(producer) || isa<linalg::FillOp>(producer) ||
      matchPattern(access.tensor, m_Constant<SplatElementsAttr>(nullptr)))
    return true;
  DenseSet<Value> seen;
  return isElementwise(producer) && !isLeading(access.map) && isParameterChain(access.tensor, seen);
}

static void visitLeaves(const Access &access, function_ref<void(const Access &)> visit,
                        DenseSet<std::pair<Value, AffineMap>> &seen) {
  if (!seen.insert({access.tensor, access.map}).second)
    return;
  Operation *producer = access.tensor.getDefiningOp();
  if (!isInlined(access) || isGenerated(producer))
    return visit(access);
  if (!isElementwise(producer))
    return;
  for (const Access &read : getReads(producer))
    visitLeaves({read.tensor, read.map.compose(access.map)}, visit, seen);
}

void rows::visitLeaves(const Access &access, function_ref<void(const Access &)> visit) {
  DenseSet<std::pair<Value, AffineMap>> seen;
  ::visitLeaves(access, visit, seen);
}
