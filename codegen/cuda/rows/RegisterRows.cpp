// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RegisterRows.h"

#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static Type getElementType(Value row) { return cast<rows::RowType>(row.getType()).getElementType(); }

void RegisterRowEmitter::findFirsts(Value column, bool ofOwnRowsAlone) {
  for (unsigned i = 0; i < addresses.operands.size(); ++i) {
    Value argument = kernel.getRowArgument(i);
    if (kernel.isAlongColumns(i) && !kernel.isAccumulated(i) && (isOwnRow(kernel, i) || !ofOwnRowsAlone))
      firsts[argument] = getElementAddress(builder, kernel.getLoc(), kernels::getMemoryType(getElementType(argument)),
                                           getRowPointer(argument), column);
  }
}

void RegisterRowEmitter::emitRow(rows::KernelOp kernel, Value row) {
  this->kernel = kernel;
  this->row = row;
  isApart = kernel.hasAccumulated();
  kept.clear();
  decisions.clear();
  beginRow(kernel, row);
  findFirsts(thread.column, /*ofOwnRowsAlone=*/false);
  if (plan.loadsEarly)
    for (auto phase : kernel.getBody().getOps<rows::PhaseOp>())
      loadLateRows(phase);
  emitBlock(kernel.getBody().front());
}

//===------------------------------------------- places -----------------------------------------------------------===//

Value cuda::hasColumns(Code &builder, const RegisterPlan &plan, const RowThread &thread, int64_t chunk) {
  int64_t offset = chunk * rows::kLanes;
  Value end = plan.isOpen() ? builder.subtract(thread.width, offset) : builder.constant(plan.width - offset);
  return builder.compare(arith::CmpIPredicate::slt, thread.column, end);
}

void RegisterRowEmitter::wherePresent(int64_t chunk, function_ref<void()> emit) {
  isPartial(chunk) ? builder.choose(isPresent(chunk), emit) : emit();
}

Value RegisterRowEmitter::getOffset(int64_t chunk) {
  Value offset = builder.constant(chunk * rows::kLanes);
  return isPartial(chunk) ? builder.select(isPresent(chunk), offset, 0) : offset;
}

Value RegisterRowEmitter::getAddress(Value row, Type element, int64_t chunk) {
  Value first = firsts.lookup(row);
  if (isPartial(chunk))
    return getElementAddress(builder, builder.getLoc(), element, first, getOffset(chunk));
  return builder.create<LLVM::GEPOp>(first.getType(), element, first,
                                     ArrayRef<LLVM::GEPArg>{int32_t(chunk * rows::kLanes)},
                                     LLVM::GEPNoWrapFlags::inbounds);
}

//===------------------------------------------- stores -----------------------------------------------------------===//

static bool storesTo(Operation &op, Value row) {
  return op
      .walk([&](rows::StoreOp store) {
        return store.getRow() == row && store.getColumn() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A row that a later phase stores again, whatever branches are taken, is not stored before: what lies between finds it
/// in registers. A branch that stores to the row would make them differ from memory.
static bool isStoredAgain(rows::StoreOp store) {
  Operation *phase = store->getParentOp();
  if (!isa<rows::KernelOp>(phase->getParentOp()))
    return false;
  for (Operation *next = phase->getNextNode(); next; next = next->getNextNode())
    if (storesTo(*next, store.getRow()))
      return isa<rows::PhaseOp>(next);
  return false;
}

void RegisterRowEmitter::storeChunk(rows::PhaseOp phase) {
  for (auto store : phase.getBody().getOps<rows::StoreOp>()) {
    Value row = store.getRow();
    if (!store.getColumn() || !isa<BlockArgument>(row) || isStoredAgain(store))
      continue;
    Type memory = kernels::getMemoryType(getElementType(row));
    ArrayRef<Value> columns = kept[row];
    Value vector = makeVector(builder, columns.slice(chunk * plan.lanes, plan.lanes));
    wherePresent(chunk, [&] {
      builder.create<LLVM::StoreOp>(vector, getAddress(row, memory, chunk), unsigned(plan.getAccessBytes(memory)));
    });
  }
}

/// What is one element of a row is stored by its first thread.
void RegisterRowEmitter::emitRowStore(rows::StoreOp store) {
  builder.choose(builder.isEqual(thread.column, 0), [&] { RowEmitter::emitRowStore(store); });
}

//===------------------------------------------- phases -----------------------------------------------------------===//

/// Of a block or an operation, itself included.
template <typename Scope> static bool hasPhase(Scope &scope) {
  return scope.walk([](rows::PhaseOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The region of a condition without phases, where the other one has some: those are for rows that hardly ever come,
/// such as those whose squares overflow. It may be an empty one.
static Region *getUsualRegion(scf::IfOp branch) {
  bool isThenRare = hasPhase(*branch.thenBlock());
  bool isElseRare = !branch.getElseRegion().empty() && hasPhase(*branch.elseBlock());
  if (isThenRare == isElseRare)
    return nullptr;
  return isThenRare ? &branch.getElseRegion() : &branch.getThenRegion();
}

/// Rare branches go out of the way of the others.
void RegisterRowEmitter::expectOtherBranch(Block &block) {
  auto from = dyn_cast<scf::IfOp>(block.getParentOp());
  Region *usual = from ? getUsualRegion(from) : nullptr;
  if (!usual || usual == block.getParent())
    return;
  auto branch = cast<scf::IfOp>(builder.getInsertionBlock()->getParentOp());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch);
  Value expected = builder.truth(usual == &from.getThenRegion());
  branch.getConditionMutable().assign(builder.create<LLVM::ExpectOp>(branch.getCondition(), expected));
}

/// What a branch loads is not there after it, and what it stores is in memory alone.
void RegisterRowEmitter::emitBranch(Block &block) {
  expectOtherBranch(block);
  DenseMap<Value, Columns> before = kept;
  llvm::SaveAndRestore apart(isApart, true);
  emitBlock(block);
  kept = std::move(before);
  block.walk([&](rows::StoreOp store) {
    if (store.getColumn())
      kept.erase(store.getRow());
  });
}

/// What a phase uses of conditions that are constants for nearly all rows, such as the scale of rows that overflow: the
/// values, and their constants.
static SmallVector<std::pair<OpResult, Value>> findUsualConstants(rows::PhaseOp phase) {
  llvm::SmallSetVector<OpResult, 4> found;
  phase.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto result = dyn_cast<OpResult>(operand); result && isa<scf::IfOp>(result.getOwner()))
        found.insert(result);
  });
  SmallVector<std::pair<OpResult, Value>> constants;
  for (OpResult result : found) {
    Region *usual = getUsualRegion(cast<scf::IfOp>(result.getOwner()));
    if (!usual || usual->getParentOp()->getParentOp() != phase->getParentOp())
      continue;
    Value value = usual->front().getTerminator()->getOperand(result.getResultNumber());
    if (matchPattern(value, m_Constant()))
      constants.emplace_back(result, value);
  }
  return constants;
}

static bool isLastPhase(rows::PhaseOp phase) {
  for (Operation *next = phase->getNextNode(); next; next = next->getNextNode())
    if (hasPhase(*next))
      return false;
  return isa<rows::KernelOp>(phase->getParentOp());
}

/// Whether the row is one of those that take none of the usual regions (i1).
Value RegisterRowEmitter::emitIsRare(ArrayRef<std::pair<OpResult, Value>> constants) {
  Value isRare = builder.truth(false);
  for (auto [result, value] : constants) {
    auto branch = cast<scf::IfOp>(result.getOwner());
    Value condition = state.mapping.lookup(branch.getCondition());
    if (getUsualRegion(branch) == &branch.getThenRegion())
      condition = builder.exclusiveOr(condition, true);
    isRare = builder.either(isRare, condition);
  }
  return isRare;
}

static bool addsDownRows(rows::PhaseOp phase) { return !phase.getBody().getOps<rows::AccumulateOp>().empty(); }

/// The last phase, which writes the results, stands in the code twice where nearly all rows have constants in it. Sums
/// down the rows would have to leave both.
void RegisterRowEmitter::emitPhase(rows::PhaseOp phase) {
  SmallVector<std::pair<OpResult, Value>> constants;
  if (phase.getResults().empty() && isLastPhase(phase) && !addsDownRows(phase))
    constants = findUsualConstants(phase);
  if (constants.empty())
    return emitWholePhase(phase);
  Value isRare = builder.create<LLVM::ExpectOp>(emitIsRare(constants), builder.truth(false));
  llvm::SaveAndRestore apart(isApart, true);
  DenseMap<Value, Columns> before = kept;
  SmallVector<Value> values;
  for (auto [result, constant] : constants)
    values.push_back(state.mapping.lookup(result));
  auto emitUsual = [&] {
    kept = before;
    for (auto [result, value] : constants)
      state.mapping.map(result, builder.clone(*value.getDefiningOp())->getResult(0));
    emitWholePhase(phase);
  };
  // What was computed before would be kept for rare rows alone: all others compute it from constants.
  auto emitRare = [&] {
    if (plan.computesAgain)
      hideKeptRows();
    emitWholePhase(phase);
  };
  builder.choose(isRare, emitRare, emitUsual);
  // What stands after the phase, such as statistics that are results, reads the values and not a branch's constants.
  for (auto [constant, value] : llvm::zip_equal(constants, values))
    state.mapping.map(constant.first, value);
}

void RegisterRowEmitter::emitWholePhase(rows::PhaseOp phase) {
  // Bounds of columns take registers too.
  if (plan.sums > 0 && plan.isOpen())
    hideKeptRows();
  // Pointers of rows that all rows share stay: LLVM would load such a row again too, and compute all that hangs on it.
  llvm::SaveAndRestore pointersBefore(state.pointers), firstsBefore(firsts);
  llvm::SaveAndRestore columnBefore(thread.column);
  // So do bounds of columns, and where they lead to.
  if (plan.loadsAgain)
    thread.column = makeOpaque(builder, thread.column);
  if (plan.computesAgain || plan.loadsAgain) {
    computeRowPointers(kernel, makeOpaque(builder, row));
    findFirsts(makeOpaque(builder, thread.column), /*ofOwnRowsAlone=*/true);
  }
  loadKeptRows(phase);
  passing.clear();
  random.clear();
  SmallVector<LaneSums::Lanes> lanes;
  for (auto [i, result] : llvm::enumerate(phase.getResults()))
    lanes.emplace_back(plan.lanes, createNeutral(builder, phase.getLoc(), phase.getKind(i), result.getType()));
  for (auto store : phase.getBody().getOps<rows::StoreOp>())
    if (store.getColumn() && !kept.contains(store.getRow()))
      kept[store.getRow()].resize(plan.getChunks() * plan.lanes);
  mappings.assign(plan.lanes, state.mapping);
  for (chunk = 0; chunk < plan.getChunks(); ++chunk) {
    loadPassingRows(phase);
    emitChunk(phase, lanes);
    storeChunk(phase);
  }
  for (auto [result, value] : llvm::zip_equal(phase.getResults(), sums.reduce(phase, lanes, getMask())))
    state.mapping.map(result, value);
}

/// Runs `emit` for each lane, with what its operations have become.
void RegisterRowEmitter::forEachLane(function_ref<void()> emit) {
  for (lane = 0; lane < plan.lanes; ++lane) {
    column = columns[lane];
    std::swap(state.mapping, mappings[lane]);
    emit();
    std::swap(state.mapping, mappings[lane]);
  }
}

/// Operation by operation, each for all lanes, so that two neighbours can be rounded by one instruction.
void RegisterRowEmitter::emitChunk(rows::PhaseOp phase, SmallVectorImpl<LaneSums::Lanes> &lanes) {
  Block &body = phase.getBody().front();
  Value first = builder.add(thread.column, getOffset(chunk));
  columns.clear();
  for (int64_t i = 0; i < plan.lanes; ++i)
    columns.push_back(builder.add(first, i));
  forEachLane([&] {
    state.mapping.map(body.getArgument(0),
                      builder.create<arith::IndexCastOp>(builder.getIndexType(), column).getResult());
  });
  for (Operation &op : body) {
    if (takeDecision(&op))
      continue;
    auto truncation = dyn_cast<arith::TruncFOp>(op);
    if (truncation && hasPairedForm(truncation))
      roundPairs(truncation);
    else
      forEachLane([&] { emitOperation(&op); });
    keepDecision(&op);
  }
  forEachLane([&] {
    for (auto [i, values] : llvm::enumerate(lanes)) {
      Value term = state.mapping.lookup(body.getTerminator()->getOperand(unsigned(i)));
      Value taken = combine(builder, phase.getKind(i), values[lane], term);
      if (isPartial(chunk))
        taken = builder.select(isPresent(chunk), taken, values[lane]);
      values[lane] = taken;
    }
  });
}

void RegisterRowEmitter::emitColumnOperation(Operation *op) {
  Location loc = op->getLoc();
  if (auto load = dyn_cast<rows::LoadOp>(op)) {
    auto found = kept.find(load.getRow());
    Value value = found != kept.end() ? found->second[getPlace()] : passing[load.getRow()][getPlace()];
    state.mapping.map(load.getResult(), fromMemory(builder, loc, value, load.getType()));
  } else if (auto store = dyn_cast<rows::StoreOp>(op)) {
    Type memory = kernels::getMemoryType(getElementType(store.getRow()));
    kept[store.getRow()][getPlace()] = toMemory(builder, loc, state.mapping.lookup(store.getValue()), memory);
  } else if (auto term = dyn_cast<rows::AccumulateOp>(op)) {
    Value &sum = terms[term.getRow()][getPlace()];
    sum = builder.add(sum, state.mapping.lookup(term.getValue()));
  } else {
    auto half = cast<rows::RandomHalfOp>(op);
    state.mapping.map(half.getResult(), getRandomHalf(half));
  }
}
