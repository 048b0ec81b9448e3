// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/ColumnMoves.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

/// Whether an expression has no negative value, as far as its signs tell. Dimensions have none.
static bool isNotNegative(AffineExpr expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  return !binary || (isNotNegative(binary.getLHS()) && isNotNegative(binary.getRHS()));
}

static bool isMoveOf(AffineExpr expression, unsigned column) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dim.getPosition() == column;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return isa<AffineConstantExpr>(expression);
  bool isQuotient = llvm::is_contained({AffineExprKind::Mod, AffineExprKind::FloorDiv}, expression.getKind());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool isDefined = !isQuotient || (divisor && divisor.getValue() > 0 && isNotNegative(binary.getLHS()));
  return expression.getKind() != AffineExprKind::CeilDiv && isDefined && isMoveOf(binary.getLHS(), column) &&
         isMoveOf(binary.getRHS(), column);
}

bool rows::hasMove(AffineMap map) {
  if (map.getNumResults() == 0 || isa<AffineDimExpr, AffineConstantExpr>(map.getResults().back()))
    return false;
  return isMoveOf(map.getResults().back(), map.getNumDims() - 1);
}

AffineMap rows::undoMove(AffineMap map) {
  if (!hasMove(map))
    return map;
  SmallVector<AffineExpr> results(map.getResults());
  results.back() = getAffineDimExpr(map.getNumDims() - 1, map.getContext());
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// Places are not negative, and neither is what is divided.
int64_t rows::moveColumn(AffineExpr move, int64_t column) {
  if (auto constant = dyn_cast<AffineConstantExpr>(move))
    return constant.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(move);
  if (!binary)
    return column;
  int64_t left = moveColumn(binary.getLHS(), column), right = moveColumn(binary.getRHS(), column);
  switch (move.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::Mod:
    return left % right;
  default:
    return left / right;
  }
}

Value rows::moveColumn(Code &builder, AffineExpr move, Value column) {
  if (auto constant = dyn_cast<AffineConstantExpr>(move))
    return builder.constant(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(move);
  if (!binary)
    return column;
  Value left = moveColumn(builder, binary.getLHS(), column), right = moveColumn(builder, binary.getRHS(), column);
  switch (move.getKind()) {
  case AffineExprKind::Add:
    return builder.add(left, right);
  case AffineExprKind::Mul:
    return builder.multiply(left, right);
  case AffineExprKind::Mod:
    return builder.remainder(left, right);
  default:
    return builder.divide(left, right);
  }
}

static bool movesAlike(AffineExpr move, int64_t width, int64_t group) {
  int64_t origin = moveColumn(move, int64_t(0));
  for (int64_t first = group; first < width; first += group)
    for (int64_t i = 1, start = moveColumn(move, first); i < group && first + i < width; ++i)
      if (moveColumn(move, first + i) - start != moveColumn(move, i) - origin)
        return false;
  return true;
}

int64_t rows::countMovedAlike(AffineExpr move, int64_t width, int64_t most) {
  while (most > 1 && !movesAlike(move, width, most))
    most /= 2;
  return most;
}

MovedGroup::MovedGroup(AffineExpr move, int64_t column, int64_t columns) {
  SmallVector<int64_t> ends;
  for (int64_t i = 0; i < columns; ++i)
    ends.push_back(moveColumn(move, column + i));
  int64_t least = *llvm::min_element(ends);
  first = least - ends.front();
  span = *llvm::max_element(ends) - least + 1;
  for (int64_t end : ends)
    places.push_back(int32_t(end - least));
}

/// A load of the same row at the column at hand.
static Value findOwnLoad(LoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  unsigned operand = cast<BlockArgument>(load.getRow()).getArgNumber() - 1;
  for (auto other : load->getBlock()->getOps<LoadOp>()) {
    auto row = dyn_cast<BlockArgument>(other.getRow());
    unsigned position = row ? row.getArgNumber() - 1 : operand;
    if (position < kernel.getInputs().size() && kernel.getInputs()[position] == kernel.getInputs()[operand] &&
        kernel.getIndexingMap(position) == undoMove(kernel.getIndexingMap(operand)) && other->isBeforeInBlock(load))
      return other.getResult();
  }
  return {};
}

/// An operation before `op` that does the same with these operands, the one at `place` being a phase's.
static Value findAlike(Operation *op, ValueRange operands, unsigned place) {
  for (Operation *user : operands[place].getUsers())
    if (user->getBlock() == op->getBlock() && user->getName() == op->getName() && user->getOperands() == operands &&
        user->getAttrDictionary() == op->getAttrDictionary() && user->getResultTypes() == op->getResultTypes() &&
        user->isBeforeInBlock(op))
      return user->getResult(0);
  return {};
}

DenseMap<Value, Twin> rows::findTwins(PhaseOp phase) {
  DenseMap<Value, Twin> twins;
  for (Operation &op : phase.getBody().front().without_terminator()) {
    if (auto load = dyn_cast<LoadOp>(op); load && load.getMove())
      if (Value own = findOwnLoad(load))
        twins[load.getResult()] = {own, load.getMove()};
    if (isa<LoadOp, StoreOp>(op) || op.getNumResults() != 1 || !isPure(&op))
      continue;
    AffineExpr move;
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      auto found = twins.find(operand);
      bool isAbove = !phase.getBody().isAncestor(operand.getParentRegion()) || matchPattern(operand, m_Constant());
      bool isTwin = found != twins.end() && (!move || move == found->second.move);
      if (!isAbove && !isTwin) {
        operands.clear();
        break;
      }
      if (isTwin)
        move = found->second.move;
      operands.push_back(isTwin ? found->second.own : operand);
    }
    if (!move || operands.empty())
      continue;
    auto first = llvm::find_if(op.getOperands(), [&](Value operand) { return twins.contains(operand); });
    unsigned place = first - op.operand_begin();
    if (Value own = findAlike(&op, operands, place))
      twins[op.getResult(0)] = {own, move};
  }
  return twins;
}
