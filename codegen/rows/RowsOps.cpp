// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and helpers of the rows dialect's ops.

#include "codegen/rows/ColumnMoves.h"
#include "codegen/rows/RowsDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid::rows;

//===------------------------------------------- on whole tensors -------------------------------------------------===//

static Type getArithmeticType(Type elementType) {
  return elementType.isF64() ? elementType : Float32Type::get(elementType.getContext());
}

/// The results of a statistics op have x's shape without the normalised dimensions, in the arithmetic type; in f64 too,
/// where they `mayBeWider`.
static LogicalResult verifyStatistics(Operation *op, Value x, int64_t normRank, Type result, bool mayBeWider = false) {
  auto type = cast<RankedTensorType>(x.getType());
  if (normRank < 1 || normRank > type.getRank())
    return op->emitOpError() << "expected norm_rank between 1 and x's rank " << type.getRank() << " but got "
                             << normRank;
  auto expected = RankedTensorType::get(type.getShape().drop_back(normRank), getArithmeticType(type.getElementType()));
  if (mayBeWider && getElementTypeOrSelf(result).isF64())
    expected = expected.clone(getElementTypeOrSelf(result));
  if (result != expected)
    return op->emitOpError() << "expected results of type " << expected << " but got " << result;
  return success();
}

LogicalResult LayerStatisticsOp::verify() {
  return verifyStatistics(*this, getX(), getNormRank(), getScale().getType());
}

LogicalResult RMSStatisticsOp::verify() { return verifyStatistics(*this, getX(), getNormRank(), getScale().getType()); }

/// One result for each row of each tensor.
static LogicalResult verifyRowResults(Operation *op, int64_t normRank) {
  ValueRange tensors = op->getOperands(), results = op->getResults();
  if (tensors.empty() || tensors.size() != results.size())
    return op->emitOpError("expected one result per tensor, and one tensor or more, but got ")
           << results.size() << " for " << tensors.size();
  for (auto [tensor, result] : llvm::zip_equal(tensors, results)) {
    if (tensor.getType() != tensors.front().getType())
      return op->emitOpError("expected tensors of one type but got ")
             << tensors.front().getType() << " and " << tensor.getType();
    if (failed(verifyStatistics(op, tensor, normRank, result.getType())))
      return failure();
  }
  return success();
}

LogicalResult SoftmaxStatisticsOp::verify() {
  if (!llvm::all_equal(getResultTypes()) || bool(getTerms()) != bool(getPicked()))
    return emitOpError("expected results of one type, and a third one exactly where there are terms");
  return verifyStatistics(*this, getX(), getNormRank(), getMax().getType());
}

LogicalResult RowMagnitudesOp::verify() {
  return verifyStatistics(*this, getX(), getNormRank(), getLargest().getType());
}

LogicalResult StreamStatisticsOp::verify() {
  if (getStreams().empty() || !llvm::all_equal(getStreams().getTypes()))
    return emitOpError("expected one stream or more, of one type");
  return verifyStatistics(*this, getStreams().front(), getNormRank(), getScale().getType(), /*mayBeWider=*/true);
}

LogicalResult JoinStreamsOp::verify() {
  RankedTensorType type = getResult().getType();
  if (getInit().getType() != type || type.getRank() < 2 || type.getShape().end()[-2] != int64_t(getStreams().size()))
    return emitOpError() << "expected a result with " << getStreams().size()
                         << " streams, of the type of init, but got " << type;
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.end() - 2);
  for (Type stream : getStreams().getTypes())
    if (stream != type.clone(shape))
      return emitOpError() << "expected streams of type " << type.clone(shape) << " but got " << stream;
  return success();
}

LogicalResult ColumnNumbersOp::verify() {
  if (cast<RankedTensorType>(getType()).hasStaticShape() == !getSize())
    return success();
  return emitOpError("expected a size exactly where that of ") << getType() << " is dynamic";
}

LogicalResult RowMeansOp::verify() { return verifyRowResults(*this, getNormRank()); }

LogicalResult RowSumsOp::verify() { return verifyRowResults(*this, getNormRank()); }

LogicalResult RandomHalvesOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() == 0)
    return emitOpError("expected a result with at least one dimension but got ") << type;
  if (static_cast<size_t>(type.getNumDynamicDims()) != getDims().size())
    return emitOpError("expected one size per dynamic dimension of the result, ")
           << type.getNumDynamicDims() << ", but got " << getDims().size();
  if (!getExtentLocal() != !getExtentGlobal())
    return emitOpError("expected a local and a global extent or none, but got only one");
  return success();
}

//===------------------------------------------- one kernel -------------------------------------------------------===//

AffineExpr KernelOp::getMove(unsigned i) {
  AffineMap map = getIndexingMap(i);
  return hasMove(map) ? map.getResults().back() : AffineExpr();
}

bool KernelOp::isAlongColumns(unsigned i) {
  AffineMap map = getIndexingMap(i);
  return llvm::any_of(llvm::seq<unsigned>(getRowDims().size(), map.getNumDims()),
                      [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

bool KernelOp::isAccumulated(unsigned i) {
  unsigned rows = getRowDims().size();
  return i >= getInputs().size() && rows != 0 && isAlongColumns(i) &&
         llvm::none_of(llvm::seq(rows), [&](unsigned row) { return getIndexingMap(i).isFunctionOfDim(row); });
}

bool KernelOp::hasAccumulated() {
  unsigned operands = getInputs().size() + getInits().size();
  return llvm::any_of(llvm::seq(operands), [&](unsigned i) { return isAccumulated(i); });
}

/// Whether the kernel has one dimension of columns, whose size is known.
static bool hasKnownColumn(KernelOp kernel) {
  return kernel.getColumnDims().size() == 1 && matchPattern(kernel.getColumnDims().front(), m_Constant());
}

/// Checks one map: dimensions or the constant 0; the columns all, last and in order, or not at all. In the place of an
/// input's only column may be a move.
static LogicalResult verifyMap(KernelOp kernel, unsigned operand, AffineMap map, ShapedType type) {
  unsigned rows = kernel.getRowDims().size(), columns = kernel.getColumnDims().size();
  if (map.getNumDims() != rows + columns || map.getNumSymbols() != 0)
    return kernel.emitOpError("expected a map over ")
           << rows + columns << " dimensions for operand " << operand << " but got " << AffineMapAttr::get(map);
  if (!type.hasRank() || map.getNumResults() != type.getRank())
    return kernel.emitOpError("expected a map with one result per dimension of ")
           << type << " but got " << AffineMapAttr::get(map);
  unsigned nextColumn = rows;
  if (hasMove(map) && operand < kernel.getInputs().size() && hasKnownColumn(kernel))
    map = undoMove(map);
  for (auto [position, result] : llvm::enumerate(map.getResults())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(result)) {
      if (constant.getValue() != 0 || type.getDimSize(position) != 1 || nextColumn != rows)
        return kernel.emitOpError(
                   "expected constants in maps to be 0, for dimensions of size 1 before the columns, but "
                   "got ")
               << AffineMapAttr::get(map) << " for " << type;
      continue;
    }
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      return kernel.emitOpError("expected map results to be dimensions or 0 but got ") << AffineMapAttr::get(map);
    if (dim.getPosition() >= rows ? dim.getPosition() != nextColumn++ : nextColumn != rows)
      return kernel.emitOpError("expected the columns all, last and in order, or not at all, but got ")
             << AffineMapAttr::get(map);
  }
  if (nextColumn != rows && nextColumn != rows + columns)
    return kernel.emitOpError("expected the columns all, last and in order, or not at all, but got ")
           << AffineMapAttr::get(map);
  return success();
}

/// Rows are independent of each other: no two of them write one element, but for sums down the rows.
static LogicalResult verifyInitMap(KernelOp kernel, unsigned operand, AffineMap map) {
  if (kernel.isAccumulated(operand))
    return success();
  for (unsigned row = 0, rows = kernel.getRowDims().size(); row < rows; ++row)
    if (!map.isFunctionOfDim(row))
      return kernel.emitOpError(
                 "expected the map of an init to use every row dimension, or the columns alone, but got ")
             << AffineMapAttr::get(map);
  return success();
}

LogicalResult KernelOp::verify() {
  unsigned numInputs = getInputs().size(), numInits = getInits().size();
  if (getIndexingMaps().size() != numInputs + numInits)
    return emitOpError("expected one map per input and init, ")
           << numInputs + numInits << ", but got " << getIndexingMaps().size();
  unsigned tensorInits = 0;
  for (unsigned i = 0; i < numInputs + numInits; ++i) {
    auto type = cast<ShapedType>((i < numInputs ? getInputs()[i] : getInits()[i - numInputs]).getType());
    AffineMap map = getIndexingMap(i);
    if (failed(verifyMap(*this, i, map, type)) || (i >= numInputs && failed(verifyInitMap(*this, i, map))))
      return failure();
    tensorInits += i >= numInputs && isa<TensorType>(type);
  }
  if (tensorInits != 0 && tensorInits != numInits)
    return emitOpError("expected the inits to be all tensors or all buffers but got ")
           << tensorInits << " tensors of " << numInits;
  if (getResults().size() != tensorInits)
    return emitOpError("expected one result per tensor among the inits, ")
           << tensorInits << ", but got " << getResults().size();
  return success();
}

/// A local row is written in one phase of every row, and read in later ones.
static LogicalResult verifyLocalRow(KernelOp kernel, LocalRowOp local) {
  Operation *writing = nullptr;
  for (Operation *user : local->getUsers()) {
    if (isa<AccumulateOp>(user))
      return user->emitOpError(
          "expected rows.accumulate exactly on sums down the rows, whose maps are the columns alone");
    auto store = dyn_cast<StoreOp>(user);
    if (!(store ? store.getColumn() : cast<LoadOp>(user).getColumn()))
      return user->emitOpError("expected a column, since a local row has an element per column");
    if (!store)
      continue;
    Operation *phase = store->getParentOfType<PhaseOp>();
    if (phase->getParentOp() != kernel)
      return store.emitOpError("expected a local row to be written in a phase that every row goes through");
    if (writing && writing != phase)
      return store.emitOpError("expected a local row to be written in one phase, but got two");
    writing = phase;
  }
  if (!writing)
    return local.emitOpError("expected a local row to be written in a phase, but got none");
  for (Operation *user : local->getUsers())
    if (isa<LoadOp>(user) && !writing->isBeforeInBlock(kernel.getBody().front().findAncestorOpInBlock(*user)))
      return user->emitOpError("expected a local row to be read in a phase after the one that writes it");
  return success();
}

/// A sum gets one term from every row, and is touched by nothing else.
static LogicalResult verifyAccumulated(KernelOp kernel, BlockArgument row, bool isAccumulated) {
  unsigned terms = 0;
  for (Operation *user : row.getUsers()) {
    auto accumulate = dyn_cast<AccumulateOp>(user);
    if (bool(accumulate) != isAccumulated)
      return user->emitOpError(
          "expected rows.accumulate exactly on sums down the rows, whose maps are the columns alone");
    if (!accumulate)
      continue;
    auto phase = dyn_cast<PhaseOp>(accumulate->getParentOp());
    if (!phase || phase->getParentOp() != kernel)
      return user->emitOpError("expected to stand in a phase that every row goes through");
    ++terms;
  }
  if (isAccumulated && terms != 1)
    return kernel.emitOpError("expected one rows.accumulate per sum down the rows, but got ") << terms;
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  Block &body = getBody().front();
  SmallVector<Value> operands(getInputs());
  llvm::append_range(operands, getInits());
  if (body.getNumArguments() != 1 + operands.size() || !body.getArgument(0).getType().isIndex())
    return emitOpError("expected the body to take the row index and one row per operand");
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto expected = RowType::get(getContext(), cast<ShapedType>(operand.getType()).getElementType());
    BlockArgument row = body.getArgument(1 + i);
    if (row.getType() != expected)
      return emitOpError("expected row ") << i << " to be " << expected << " but got " << row.getType();
    for (Operation *user : row.getUsers()) {
      bool hasColumn = user->getNumOperands() > (isa<LoadOp>(user) ? 1u : 2u);
      if (hasColumn != isAlongColumns(i))
        return user->emitOpError("expected a column exactly where the operand's map uses the columns");
    }
    if (failed(verifyAccumulated(*this, row, isAccumulated(i))))
      return failure();
  }
  if (body.getTerminator()->getNumOperands() != 0)
    return emitOpError("expected a body that yields nothing");
  for (auto local : body.getOps<LocalRowOp>())
    if (failed(verifyLocalRow(*this, local)))
      return failure();
  return success();
}

LogicalResult PhaseOp::verifyRegions() {
  if (!(*this)->getParentOfType<KernelOp>() || (*this)->getParentOfType<PhaseOp>())
    return emitOpError("expected to stand inside a kernel and outside of other phases");
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return emitOpError("expected the body to take the column");
  if (getKinds().size() != getReduced().size())
    return emitOpError("expected one result per reduction, ")
           << getKinds().size() << ", but got " << getReduced().size();
  if (body.getTerminator()->getOperandTypes() != getReduced().getTypes())
    return emitOpError("expected the body to yield one value per reduction, of the results' types");
  for (Type type : getReduced().getTypes())
    if (!type.isF32() && !type.isF64())
      return emitOpError("expected reductions in f32 or f64 but got ") << type;
  return success();
}

/// A column is the argument of the phase that the op stands in.
static LogicalResult verifyColumn(Operation *op, Value column) {
  auto phase = op->getParentOfType<PhaseOp>();
  if (!phase || column != phase.getBody().getArgument(0))
    return op->emitOpError("expected the column to be that of the surrounding phase");
  return success();
}

static LogicalResult verifyAccess(Operation *op, RowType row, Type element, Value column) {
  if (row.getElementType() != element)
    return op->emitOpError("expected an element of type ") << row.getElementType() << " but got " << element;
  return column ? verifyColumn(op, column) : success();
}

LogicalResult LoadOp::verify() { return verifyAccess(*this, getRow().getType(), getResult().getType(), getColumn()); }

AffineExpr LoadOp::getMove() {
  auto row = dyn_cast<BlockArgument>(getRow());
  return row && getColumn() ? cast<KernelOp>(row.getOwner()->getParentOp()).getMove(row.getArgNumber() - 1)
                            : AffineExpr();
}

LogicalResult StoreOp::verify() { return verifyAccess(*this, getRow().getType(), getValue().getType(), getColumn()); }

LogicalResult LocalRowOp::verify() {
  Type element = getRow().getType().getElementType();
  if (isa<FloatType>(element))
    return success();
  return emitOpError("expected a local row of floats but got ") << element;
}

LogicalResult AccumulateOp::verify() {
  Type expected = getArithmeticType(getRow().getType().getElementType());
  if (getValue().getType() != expected)
    return emitOpError("expected a term of type ") << expected << " but got " << getValue().getType();
  return verifyColumn(*this, getColumn());
}

LogicalResult RandomHalfOp::verify() { return verifyColumn(*this, getColumn()); }

/// Whether the row of an init may be loaded before anything is stored to it: then its old content matters. What is
/// under a condition may store nothing.
bool KernelOp::readsInit(OpOperand &init) {
  unsigned position = init.getOperandNumber() - getRowDims().size() - getColumnDims().size();
  if (isAccumulated(position))
    return true; // the sum is added to it
  BlockArgument row = getRowArgument(position);
  bool isRead = false;
  getBody().walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    isRead = load && load.getRow() == row;
    auto phase = op->getParentOfType<PhaseOp>();
    bool isAlways = (phase ? phase->getParentOp() : op->getParentOp()) == getOperation();
    bool isWritten = store && store.getRow() == row && isAlways;
    return isRead || isWritten ? WalkResult::interrupt() : WalkResult::advance();
  });
  return isRead;
}

/// A row program keeps to the rule that an init's buffer may be exactly an input's, where both are the same element of
/// every row and column.
bool KernelOp::mayOverwrite(OpOperand &input, OpOperand &init) {
  unsigned first = getRowDims().size() + getColumnDims().size();
  return !isAccumulated(init.getOperandNumber() - first) &&
         getIndexingMap(input.getOperandNumber() - first) == getIndexingMap(init.getOperandNumber() - first);
}
