// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/loops/LaneLoopFunctions.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/Elements.h"
#include "codegen/kernels/Extent.h"
#include "codegen/kernels/StackBudget.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

std::optional<TakenLaneLoop> TakenLaneLoop::find(Operation *op) {
  std::optional<LaneLoop> loop = LaneLoop::find(op);
  if (!loop)
    return std::nullopt;
  TakenLaneLoop taken(*loop);
  return taken.takeAll() ? std::optional(std::move(taken)) : std::nullopt;
}

bool TakenLaneLoop::isWritten(Value start) const {
  return op
      ->walk([&](memref::StoreOp store) {
        return skipReshapes(store.getMemRef()) == start ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===------------------------------------------- the steps of a group ---------------------------------------------===//

namespace {
/// Emits the steps of a group, each in its lane.
class LaneSteps {
public:
  LaneSteps(Code &code, const TakenLaneLoop &loop, IRMapping &scalars, int64_t lanes)
      : code(code), loop(loop), scalars(scalars), lanes(lanes) {}

  /// Memory for what the steps keep to themselves, in which the lanes are the last dimension.
  void allocateTemporaries();
  /// `places`: the number of each lane's step, an index.
  void emit(ArrayRef<Value> places);

private:
  void emitBlock(Block &block);
  void emitOp(Operation *op);
  void emitLoop(scf::ForOp inner);
  Value load(memref::LoadOp op);
  void store(memref::StoreOp op);
  Value getScalar(Value value) const { return scalars.lookupOrDefault(value); }
  /// The value of each lane.
  Value getLanes(Value value);
  /// The indices of an element in one lane.
  SmallVector<Value> getIndices(ValueRange indices, Value place) const;
  /// Those of all lanes' elements in memory of their own.
  SmallVector<Value> getOwnIndices(ValueRange indices) const;

  Code &code;
  const TakenLaneLoop &loop;
  IRMapping &scalars;
  IRMapping vectors;
  int64_t lanes;
  ArrayRef<Value> places;
};
} // namespace

Value LaneSteps::getLanes(Value value) {
  return loop.isVarying(value) ? vectors.lookup(value) : code.spread(getScalar(value), lanes);
}

SmallVector<Value> LaneSteps::getIndices(ValueRange indices, Value place) const {
  return llvm::map_to_vector(
      indices, [&](Value index) { return index == loop.getLoop().getInductionVar() ? place : getScalar(index); });
}

SmallVector<Value> LaneSteps::getOwnIndices(ValueRange indices) const {
  SmallVector<Value> own = llvm::map_to_vector(indices, [&](Value index) { return getScalar(index); });
  own.push_back(code.create<arith::ConstantIndexOp>(0));
  return own;
}

void LaneSteps::allocateTemporaries() {
  for (Operation *temporary : loop.getTemporaries()) {
    auto type = cast<MemRefType>(temporary->getResultTypes().front());
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(lanes);
    auto memory =
        code.create<memref::AllocaOp>(MemRefType::get(shape, type.getElementType()), code.getI64IntegerAttr(64));
    scalars.map(temporary->getResult(0), memory);
  }
}

Value LaneSteps::load(memref::LoadOp op) {
  Value buffer = getScalar(op.getMemRef());
  auto type = VectorType::get(lanes, op.getType());
  if (loop.isTemporary(op.getMemRef()))
    return code.create<vector::LoadOp>(type, buffer, getOwnIndices(op.getIndices()));
  SmallVector<Value> elements;
  for (Value place : places)
    elements.push_back(code.create<memref::LoadOp>(buffer, getIndices(op.getIndices(), place)));
  return code.create<vector::FromElementsOp>(type, elements);
}

void LaneSteps::store(memref::StoreOp op) {
  Value buffer = getScalar(op.getMemRef()), value = getLanes(op.getValue());
  if (loop.isTemporary(op.getMemRef())) {
    code.create<vector::StoreOp>(value, buffer, getOwnIndices(op.getIndices()));
    return;
  }
  for (auto [lane, place] : llvm::enumerate(places)) {
    Value element = code.create<vector::ExtractOp>(value, int64_t(lane));
    code.create<memref::StoreOp>(element, buffer, getIndices(op.getIndices(), place));
  }
}

void LaneSteps::emitLoop(scf::ForOp inner) {
  SmallVector<Value> first = llvm::map_to_vector(inner.getInitArgs(), [&](Value value) { return getLanes(value); });
  auto bound = [&](Value value) { return castToI64(code, code.getLoc(), getScalar(value)); };
  SmallVector<Value> last = code.rolledLoop(
      bound(inner.getLowerBound()), bound(inner.getUpperBound()), bound(inner.getStep()), first,
      [&](Value number, ValueRange carried) {
        Type type = inner.getInductionVar().getType();
        scalars.map(inner.getInductionVar(), code.createOrFold<arith::IndexCastOp>(type, number));
        vectors.map(inner.getRegionIterArgs(), carried);
        emitBlock(*inner.getBody());
        return llvm::map_to_vector(inner.getYieldedValues(), [&](Value value) { return getLanes(value); });
      });
  vectors.map(inner.getResults(), last);
}

void LaneSteps::emitOp(Operation *op) {
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return emitLoop(inner);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return this->store(store);
  if (llvm::is_contained(loop.getTemporaries(), op))
    return;
  if (op->getNumResults() != 0 && !loop.isVarying(op->getResult(0))) {
    code.clone(*op, scalars);
    return;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    vectors.map(load.getResult(), this->load(load));
    return;
  }
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value value) { return getLanes(value); });
  vectors.map(op->getResults(), emitElements(code, op, operands, lanes));
}

void LaneSteps::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    emitOp(&op);
}

void LaneSteps::emit(ArrayRef<Value> lanePlaces) {
  places = lanePlaces;
  emitBlock(*loop.getLoop().getBody());
}

//===------------------------------------------- the function -----------------------------------------------------===//

/// As many lanes as a register has, or fewer where the stack does not hold what so many steps keep to themselves.
static int64_t countLanes(const LaneLoop &loop, const CPUTarget &target) {
  int64_t lanes = target.vectorBits / loop.getFloatBits();
  while (lanes > kLeastLanes && lanes * loop.countTemporaryBytes() > kScratchRowStackBytes)
    lanes /= 2;
  return lanes;
}

LaneLoopFunctions::LaneLoopFunctions(TakenLaneLoop loop, KernelUse first, SymbolTable &symbols, const CPUTarget &target)
    : KernelCode(std::move(first), symbols), loop(loop), lanes(countLanes(loop, target)),
      taskElements(target.schedule.table.taskElements), task(functions, "__steps_task") {}

void LaneLoopFunctions::emit() {
  Type number = IntegerType::get(getFirst().op->getContext(), 64);
  function = functions.outline("__steps", {number, number}, [&](OpBuilder &at, KernelBody &body) {
    Code code(at, getFirst().op->getLoc());
    loop.rebuildAround(code, body);
    Value end = body.mapping.lookupOrDefault(loop.getLoop().getUpperBound());
    Value last = code.subtract(castToI64(code, code.getLoc(), end), 1);
    LaneSteps steps(code, loop, body.mapping, lanes);
    steps.allocateTemporaries();
    code.loop(body.getArgumentFromEnd(2), body.getArgumentFromEnd(1), 1, [&](Value group) {
      SmallVector<Value> places;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value place = code.min(code.add(code.multiply(group, lanes), lane), last);
        places.push_back(code.create<arith::IndexCastOp>(code.getIndexType(), place));
      }
      steps.emit(places);
    });
  });
  function->setAttr("passthrough",
                    OpBuilder(function).getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
}

LogicalResult LaneLoopFunctions::launch(KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  SmallVector<Value> arguments = functions.getArguments(code, use);
  Value steps = code.max(castToI64(code, code.getLoc(), cast<scf::ForOp>(use.op).getUpperBound()), 0);
  KernelWork work{code.ceilDivide(steps, code.constant(lanes)), code.constant(lanes * loop.countOperations())};
  task.emitCalls(use, arguments, TaskUnits::cut(code, code.getLoc(), work, taskElements),
                 [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                   SmallVector<Value> operands(visible);
                   operands.append({low, high});
                   func::CallOp::create(at, use.op->getLoc(), function, operands);
                 });
  return success();
}
