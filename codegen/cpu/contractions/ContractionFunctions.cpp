// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines contractions and calls them; see ContractionFunctions.h.

#include "codegen/cpu/contractions/ContractionFunctions.h"

#include "codegen/cpu/contractions/PackFactors.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/KernelFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

static constexpr int64_t kMostTasks = 64;
/// Moving an element takes about as long as so many multiply-adds.
static constexpr int64_t kMoveTerms = 16;

//===------------------------------------------- a kernel where it stands -----------------------------------------===//

FailureOr<ContractionUse> ContractionUse::prepare(contraction::KernelOp kernel) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  FailureOr<KernelLoops> loops = KernelLoops::create(builder, kernel);
  if (failed(loops))
    return failure();
  ContractionUse use{kernel, kernel->getParentOfType<func::FuncOp>(), *loops, {}, {}, {}};
  if (!use.enclosing)
    return kernel.emitOpError("expected a function around the kernel");
  for (const LoopOperand &operand : use.loops.operands)
    use.pointers.push_back(kernels::computePointer(builder, loc, operand.buffer));
  if (Value scratch = kernel.getScratch())
    use.scratch = kernels::computePointer(builder, loc, scratch);
  if (kernel.getStart())
    use.outer.push_back(kernel.getStart());
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!kernel.getBody().isAncestor(operand.getParentRegion()))
        use.outer.push_back(operand);
  });
  return use;
}

static Attribute getConstant(Value value) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) ? attribute : Attribute();
}

static SmallVector<int64_t> getKnownNumbers(KernelLoops &loops) {
  SmallVector<int64_t> numbers = {static_cast<int64_t>(loops.batches.size()),
                                  static_cast<int64_t>(loops.contracted.size()), loops.hasInitial, loops.isPacked};
  loops.forEachNumber([&](Number &number) { numbers.push_back(number.known); });
  return numbers;
}

bool ContractionUse::isLike(ContractionUse &other) {
  bool haveSameOperands = llvm::equal(loops.operands, other.loops.operands,
                                      [](const auto &a, const auto &b) { return a.elementType == b.elementType; });
  if (!haveSameOperands || loops.arithmetic != other.loops.arithmetic || !scratch != !other.scratch ||
      getKnownNumbers(loops) != getKnownNumbers(other.loops))
    return false;
  bool haveSameScalars = llvm::equal(outer, other.outer, [](Value a, Value b) {
    return a.getType() == b.getType() && getConstant(a) == getConstant(b);
  });
  DenseMap<Value, Value> partners;
  auto check = [&](Value a, Value b) {
    bool isOuter = !kernel.getBody().isAncestor(a.getParentRegion());
    bool isOtherOuter = !other.kernel.getBody().isAncestor(b.getParentRegion());
    return success(isOuter ? isOtherOuter : partners.lookup(a) == b);
  };
  auto mark = [&](Value a, Value b) { partners[a] = b; };
  return haveSameScalars &&
         OperationEquivalence::isRegionEquivalentTo(&kernel.getBody(), &other.kernel.getBody(), check, mark,
                                                    OperationEquivalence::IgnoreLocations);
}

SmallVector<Value> ContractionUse::getArguments() {
  SmallVector<Value> arguments = pointers;
  if (scratch)
    arguments.push_back(scratch);
  loops.forEachNumber([&](Number &number) {
    if (!number.isKnown())
      arguments.push_back(number.value);
  });
  for (Value value : outer)
    if (!getConstant(value))
      arguments.push_back(value);
  return arguments;
}

//===------------------------------------------- its functions ----------------------------------------------------===//

func::FuncOp ContractionFunctions::createFunction(StringRef suffix, TypeRange types) {
  return kernels::createFunctionBefore(first.enclosing, symbols, first.kernel.getLoc(), suffix, types);
}

/// A function over a range of units, which are the last two of its last arguments, `rangeNumbers` of them.
func::FuncOp ContractionFunctions::outline(StringRef suffix, unsigned rangeNumbers, EmitBody emit) {
  SmallVector<Value> values = first.getArguments();
  SmallVector<Type> types(ValueRange(values).getTypes());
  OpBuilder builder(first.kernel.getContext());
  Location loc = first.kernel.getLoc();
  types.append(rangeNumbers, builder.getI64Type());
  func::FuncOp function = createFunction(suffix, types);
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  Block *entry = &function.getBody().front();
  builder.setInsertionPointToStart(entry);
  KernelView view(builder, loc, entry);
  unsigned next = 0;
  for (size_t i = 0; i < first.pointers.size(); ++i)
    view.pointers.push_back(entry->getArgument(next++));
  if (first.scratch)
    view.scratch = entry->getArgument(next++);
  view.loops = first.loops;
  view.loops.forEachNumber([&](Number &number) {
    number = number.isKnown() ? makeNumber(builder, loc, number.known) : Number{entry->getArgument(next++)};
  });
  for (Value value : first.outer) {
    Value inner =
        getConstant(value) ? builder.clone(*value.getDefiningOp())->getResult(0) : Value(entry->getArgument(next++));
    view.outer.map(value, inner);
  }
  view.memory = PanelMemory::create(builder, loc, view.loops);
  emit(view, entry->getArguments().take_back(rangeNumbers));
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
  return function;
}

void ContractionFunctions::outline() {
  OpBuilder builder(first.kernel);
  PanelMemory memory = PanelMemory::create(builder, first.kernel.getLoc(), first.loops);
  auto emitProduct = [&](const ProductCells &chosen) {
    return [&](KernelView &view, ValueRange range) {
      ProductEmitter(view, chosen, microKernels, first.kernel).emit(range[0], range[1], range[2]);
    };
  };
  auto emitPacked = [](void (*emit)(KernelView &, Value, Value)) {
    return [=](KernelView &view, ValueRange range) { emit(view, range[0], range[1]); };
  };
  if (memory.packsA)
    rows = outline("__pack_rows", 2, emitPacked(emitPackedRows));
  if (memory.packsB)
    panels = outline("__pack_panels", 2, emitPacked(emitPackedPanels));
  if (memory.packsB || !memory.mayPackParts)
    product = outline("__product", 3, emitProduct(cells));
  if (memory.mayPackParts)
    fewRows = outline("__few_rows", 3, emitProduct(fewRowsCells));
}

Value ContractionFunctions::countTaskUnits(LoopCode &code, Value units, Value terms) const {
  Value fitting = code.ceilDivide(code.constant(taskTerms), code.max(terms, code.constant(1)));
  return code.max(fitting, code.ceilDivide(units, code.constant(kMostTasks)));
}

/// Calls `function` for all units before an op. Each unit has so many terms, by which tasks are cut. The function takes
/// `blockRows`, if they are given, before the range.
void ContractionFunctions::emitCalls(ContractionUse &use, Operation *before, kernels::TaskFunction &task,
                                     func::FuncOp function, Value units, Value terms,
                                     std::optional<int64_t> blockRows) {
  OpBuilder builder(before);
  Location loc = use.kernel.getLoc();
  LoopCode code(builder, loc);
  task.emitCalls({before, use.enclosing}, use.getArguments(), {units, countTaskUnits(code, units, terms)},
                 [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                   SmallVector<Value> operands(visible);
                   if (blockRows)
                     operands.push_back(LoopCode(at, loc).constant(*blockRows));
                   operands.append({low, high});
                   func::CallOp::create(at, loc, function, operands);
                 });
}

void ContractionFunctions::emitCellCalls(ContractionUse &use, Operation *before, const PanelMemory &memory,
                                         const ProductCells &chosen, kernels::TaskFunction &task,
                                         func::FuncOp function) {
  OpBuilder builder(before);
  LoopCode code(builder, use.kernel.getLoc());
  Value blockRows = code.constant(chosen.blocks.rows), least = code.constant(kFewRows);
  Value count = code.multiply(chosen.countGroups(code, memory), code.ceilDivide(use.loops.m.size.value, blockRows));
  for (const Loop &loop : use.loops.batches)
    count = code.multiply(count, loop.size.value);
  // Reading b takes as long as working on some rows.
  Value cellRows = code.max(code.min(blockRows, use.loops.m.size.value), least);
  Value cellTerms = code.multiply(cellRows, code.constant(chosen.getColumns()));
  emitCalls(use, before, task, function, count, code.multiply(cellTerms, memory.contracted.value), chosen.blocks.rows);
}

void ContractionFunctions::emitPanelCalls(ContractionUse &use, Operation *before, const PanelMemory &memory) {
  if (!panels)
    return;
  OpBuilder builder(before);
  LoopCode code(builder, use.kernel.getLoc());
  Value units = code.multiply(memory.bBatches.value, countPanelGroups(code, memory));
  Value unitTerms = code.constant(kMoveTerms * kPackedPanels * kPanelColumns);
  emitCalls(use, before, panelTask, panels, units, code.multiply(memory.contracted.value, unitTerms));
}

void ContractionFunctions::emitProductCalls(ContractionUse &use, Operation *before, const PanelMemory &memory) {
  emitPanelCalls(use, before, memory);
  emitCellCalls(use, before, memory, cells, productTask, product);
}

void ContractionFunctions::emitBlockTasks(ContractionUse &use, Operation *before, ValueRange values,
                                          kernels::TaskUnits blocks, kernels::TaskFunction::CallRows callBlocks) {
  makeTask("__blocks_task").emitCalls({before, use.enclosing}, values, blocks, callBlocks);
}

void ContractionFunctions::callBlock(LoopCode &code, ValueRange arguments, Value blockRows, Value groups, Value block,
                                     Value low, Value high) {
  if (rows) {
    SmallVector<Value> operands(arguments);
    operands.append({low, high});
    func::CallOp::create(code.builder, code.loc, rows, operands);
  }
  Value firstCell = code.multiply(block, groups);
  SmallVector<Value> operands(arguments);
  operands.append({blockRows, firstCell, code.add(firstCell, groups)});
  // Batches of few rows each have no other function.
  func::CallOp::create(code.builder, code.loc, product ? product : fewRows, operands);
}

void ContractionFunctions::emitCalls(ContractionUse &use) {
  OpBuilder builder(use.kernel);
  Location loc = use.kernel.getLoc();
  LoopCode code(builder, loc);
  PanelMemory memory = PanelMemory::create(builder, loc, use.loops);
  if (rows) {
    Value units = code.multiply(memory.aBatches.value, use.loops.m.size.value);
    emitCalls(use, use.kernel, rowTask, rows, units, code.multiply(memory.contracted.value, code.constant(kMoveTerms)));
  }
  if (!fewRows)
    return emitProductCalls(use, use.kernel, memory);
  if (!product)
    return emitCellCalls(use, use.kernel, memory, fewRowsCells, fewRowsTask, fewRows);
  auto branch = scf::IfOp::create(builder, loc, PanelMemory::hasFewRows(builder, loc, use.loops),
                                  /*withElseRegion=*/true);
  emitCellCalls(use, branch.thenBlock()->getTerminator(), memory, fewRowsCells, fewRowsTask, fewRows);
  emitProductCalls(use, branch.elseBlock()->getTerminator(), memory);
}
