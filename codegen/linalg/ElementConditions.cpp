// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/linalg/ElementConditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::resid;

bool resid::hasStatus(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && isa<scf::ForOp, scf::IfOp>(parent))
    parent = parent->getParentOp();
  return isa_and_present<func::FuncOp>(parent);
}

Value resid::holdsForAllPoints(Code &builder, ValueRange inputs, ArrayRef<AffineMap> inputMaps,
                               function_ref<Value(Code &, ValueRange)> holds) {
  unsigned loops = inputMaps.front().getNumDims();
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(AffineMap::get(loops, 0, builder.getContext()));
  auto flagType = RankedTensorType::get({}, builder.getI1Type());
  Value start = arith::ConstantOp::create(builder, DenseElementsAttr::get(flagType, true));
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    Code inner(nested, location);
    linalg::YieldOp::create(inner, inner.both(elements.back(), holds(inner, elements.drop_back())));
  };
  SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::reduction);
  Value all = linalg::GenericOp::create(builder, flagType, inputs, start, maps, kinds, body).getResult(0);
  return tensor::ExtractOp::create(builder, all, ValueRange());
}

namespace {

/// What a condition is computed from: ops of the body in their order, and the op's operands whose elements they read.
class ConditionSlice {
public:
  explicit ConditionSlice(linalg::GenericOp op) : op(op) {}

  bool add(Value value);
  Value compute(Code &builder, ArrayRef<ElementCondition> conditions);

private:
  bool addOperation(Operation *operation);
  bool coverLoops();
  llvm::SmallBitVector getLoops();

  linalg::GenericOp op;
  llvm::SetVector<Operation *> operations;
  llvm::SetVector<OpOperand *> operands;
};

} // namespace

bool ConditionSlice::add(Value value) {
  if (!op.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (Operation *operation = value.getDefiningOp())
    return addOperation(operation);
  auto argument = cast<BlockArgument>(value);
  if (argument.getOwner() != op.getBody() || int64_t(argument.getArgNumber()) >= op.getNumDpsInputs())
    return false;
  operands.insert(op.getDpsInputOperand(argument.getArgNumber()));
  return true;
}

/// What stands in the body itself runs for each element as it is; what stands in a branch must be able to.
bool ConditionSlice::addOperation(Operation *operation) {
  if (operations.contains(operation))
    return true;
  bool mayRun = isMemoryEffectFree(operation) && (operation->getBlock() == op.getBody() || isSpeculatable(operation)) &&
                operation->getNumRegions() == 0;
  if (!mayRun || !llvm::all_of(operation->getOperands(), [&](Value operand) { return add(operand); }))
    return false;
  operations.insert(operation);
  return true;
}

/// The loops over which the condition may change.
llvm::SmallBitVector ConditionSlice::getLoops() {
  llvm::SmallBitVector loops(op.getNumLoops());
  for (OpOperand *operand : operands)
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (op.getMatchingIndexingMap(operand).isFunctionOfDim(loop))
        loops.set(loop);
  for (Operation *operation : operations)
    if (auto index = dyn_cast<linalg::IndexOp>(operation))
      loops.set(index.getDim());
  return loops;
}

/// Gives each loop an operand that it steps along, which says its size. Such an operand may bring further loops.
bool ConditionSlice::coverLoops() {
  auto covers = [&](OpOperand *operand, int64_t loop) {
    return op.getMatchingIndexingMap(operand).getResultPosition(getAffineDimExpr(loop, op.getContext())).has_value();
  };
  auto isOpen = [&](int64_t loop) {
    return llvm::none_of(operands, [&](OpOperand *operand) { return covers(operand, loop); });
  };
  while (true) {
    llvm::SmallBitVector loops = getLoops();
    auto open = llvm::find_if(loops.set_bits(), isOpen);
    if (open == loops.set_bits_end())
      return true;
    MutableArrayRef<OpOperand> candidates = op->getOpOperands();
    auto found = llvm::find_if(candidates, [&](OpOperand &operand) { return covers(&operand, *open); });
    if (found == candidates.end())
      return false;
    operands.insert(&*found);
  }
}

Value ConditionSlice::compute(Code &builder, ArrayRef<ElementCondition> conditions) {
  if (!llvm::all_of(conditions, [&](ElementCondition condition) { return add(condition.value); }) || !coverLoops())
    return {};
  MLIRContext *context = builder.getContext();
  SmallVector<unsigned> numbers(op.getNumLoops());
  SmallVector<AffineExpr> dimensions(op.getNumLoops());
  unsigned count = 0;
  for (int64_t loop : getLoops().set_bits()) {
    dimensions[loop] = getAffineDimExpr(count, context);
    numbers[loop] = count++;
  }
  for (AffineExpr &dimension : dimensions)
    dimension = dimension ? dimension : getAffineConstantExpr(0, context);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : operands) {
    inputs.push_back(operand->get());
    maps.push_back(op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(dimensions, {}, count, 0));
  }
  return holdsForAllPoints(builder, inputs, maps, [&](Code &inner, ValueRange elements) {
    IRMapping mapping;
    for (auto [operand, element] : llvm::zip(operands, elements))
      mapping.map(op.getMatchingBlockArgument(operand), element);
    for (Operation *operation : operations) {
      Operation *clone = inner.clone(*operation, mapping);
      if (auto index = dyn_cast<linalg::IndexOp>(clone))
        index.setDim(numbers[index.getDim()]);
    }
    Value holds = inner.truth(false);
    for (ElementCondition condition : conditions) {
      Value value = mapping.lookupOrDefault(condition.value);
      holds = inner.either(holds, condition.expected ? value : inner.exclusiveOr(value, true));
    }
    return holds;
  });
}

Value resid::holdsForAllElements(Code &builder, linalg::GenericOp op, ArrayRef<ElementCondition> conditions) {
  return ConditionSlice(op).compute(builder, conditions);
}

SmallVector<ElementCondition> resid::holdsWhere(Operation *place, linalg::GenericOp op, Value condition) {
  SmallVector<ElementCondition> conditions = {{condition, true}};
  for (Region *region = place->getParentRegion(); region != &op.getRegion(); region = region->getParentRegion())
    if (auto branch = dyn_cast<scf::IfOp>(region->getParentOp()))
      conditions.push_back({branch.getCondition(), region != &branch.getThenRegion()});
  return conditions;
}
