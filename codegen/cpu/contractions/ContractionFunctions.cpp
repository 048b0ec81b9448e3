// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/contractions/ContractionFunctions.h"

#include "codegen/cpu/contractions/PackFactors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

/// Moving an element takes about as long as so many multiply-adds.
static constexpr int64_t kMoveTerms = 16;

/// A function over a range of units, which are the last two of its last arguments, `rangeNumbers` of them.
func::FuncOp ContractionFunctions::outline(StringRef suffix, unsigned rangeNumbers, EmitBody emit) {
  OpBuilder builder(getFirst().op->getContext());
  SmallVector<Type> range(rangeNumbers, builder.getI64Type());
  func::FuncOp function = functions.outline(suffix, range, [&](OpBuilder &at, kernels::KernelBody &body) {
    Code code(at, getFirst().op->getLoc());
    KernelView view(code, body);
    emit(view, body.entry->getArguments().take_back(rangeNumbers));
  });
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  return function;
}

void ContractionFunctions::emit() {
  auto kernel = getFirst().get<contraction::KernelOp>();
  OpBuilder builder(kernel);
  PanelMemory memory = PanelMemory::create(builder, kernel.getLoc(), getLoops());
  auto emitProduct = [&](const ProductCells &chosen) {
    return [&](KernelView &view, ValueRange range) {
      ProductEmitter(view, chosen, microKernels, kernel).emit(range[0], range[1], range[2], range[3]);
    };
  };
  if (memory.packsA)
    rows = outline("__pack_rows", 2, [&](KernelView &view, ValueRange range) {
      emitPackedRows(view, microKernels.getByteDot(), range[0], range[1]);
    });
  if (memory.packsB)
    panels = outline("__pack_panels", 2, [&](KernelView &view, ValueRange range) {
      emitPackedPanels(view, fewRowsCells.integers, range[0], range[1]);
    });
  if (memory.packsB || !memory.mayPackParts)
    product = outline("__product", 4, emitProduct(cells));
  if (memory.mayPackParts)
    fewRows = outline("__few_rows", 4, emitProduct(fewRowsCells));
}

Value cpu::countTaskUnits(Code &code, Value units, Value terms, int64_t taskTerms) {
  Value fitting = code.ceilDivide(taskTerms, code.max(terms, 1));
  return code.max(fitting, code.ceilDivide(units, code.constant(kMostTasks)));
}

/// Calls `function` for all units before an op. Each unit has so many terms, by which tasks are cut. The function takes
/// the first row of tiles and `blockRows`, if they are given, before the range.
void ContractionFunctions::emitCalls(kernels::KernelUse &use, Operation *before, kernels::TaskFunction &task,
                                     func::FuncOp function, Value units, Value terms,
                                     std::optional<int64_t> blockRows) {
  OpBuilder builder(before);
  Location loc = use.op->getLoc();
  Code code(builder, loc);
  task.emitCalls({before, use.enclosing}, getArguments(builder, use), {units, countTaskUnits(code, units, terms)},
                 [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                   SmallVector<Value> operands(visible);
                   Code inner(at, loc);
                   if (blockRows)
                     operands.append({inner.constant(0), inner.constant(*blockRows)});
                   operands.append({low, high});
                   func::CallOp::create(at, loc, function, operands);
                 });
}

void ContractionFunctions::emitCellCalls(kernels::KernelUse &use, Operation *before, const PanelMemory &memory,
                                         const ProductCells &chosen, kernels::TaskFunction &task,
                                         func::FuncOp function) {
  OpBuilder builder(before);
  Code code(builder, use.op->getLoc());
  const KernelLoops &loops = use.as<KernelLoops>();
  Value blockRows = code.constant(chosen.tiles.rows), least = code.constant(kFewRows);
  Value count = code.multiply(chosen.countGroups(code, memory), code.ceilDivide(loops.m.size.value, blockRows));
  for (const contraction::Loop &loop : loops.batches)
    count = code.multiply(count, loop.size.value);
  // Reading b takes as long as working on some rows.
  Value cellRows = code.max(code.min(blockRows, loops.m.size.value), least);
  Value cellTerms = code.multiply(cellRows, chosen.getColumns());
  emitCalls(use, before, task, function, count, code.multiply(cellTerms, memory.contracted.value), chosen.tiles.rows);
}

void ContractionFunctions::emitPanelCalls(kernels::KernelUse &use, Operation *before, const PanelMemory &memory) {
  if (!panels)
    return;
  OpBuilder builder(before);
  Code code(builder, use.op->getLoc());
  Value units = code.multiply(memory.bBatches.value, countPanelGroups(code, memory));
  Value unitTerms = code.constant(kMoveTerms * kPackedPanels * kPanelColumns);
  emitCalls(use, before, panelTask, panels, units, code.multiply(memory.contracted.value, unitTerms));
}

void ContractionFunctions::emitProductCalls(kernels::KernelUse &use, Operation *before, const PanelMemory &memory) {
  emitPanelCalls(use, before, memory);
  emitCellCalls(use, before, memory, cells, productTask, product);
}

void ContractionFunctions::emitBlockTasks(kernels::KernelUse &use, Operation *before, ValueRange values,
                                          kernels::TaskUnits blocks, kernels::TaskFunction::CallRows callBlocks) {
  kernels::TaskFunction(functions, "__blocks_task").emitCalls({before, use.enclosing}, values, blocks, callBlocks);
}

void ContractionFunctions::callBlock(Code &code, ValueRange arguments, const RowBlock &block, Value groups) {
  if (rows) {
    Value before = code.multiply(block.batch, block.batchRows);
    SmallVector<Value> operands(arguments);
    operands.append({code.add(before, block.first), code.add(before, block.end)});
    code.create<func::CallOp>(rows, operands);
  }
  // The block is a tile, the first one of its batch.
  Value rowCount = code.subtract(block.end, block.first);
  Value firstCell = code.multiply(code.multiply(block.batch, code.ceilDivide(block.batchRows, rowCount)), groups);
  SmallVector<Value> operands(arguments);
  operands.append({block.first, rowCount, firstCell, code.add(firstCell, groups)});
  // Batches of few rows each have no other function.
  code.create<func::CallOp>(product ? product : fewRows, operands);
}

LogicalResult ContractionFunctions::launch(kernels::KernelUse &use) {
  OpBuilder builder(use.op);
  Location loc = use.op->getLoc();
  Code code(builder, loc);
  const KernelLoops &loops = use.as<KernelLoops>();
  PanelMemory memory = PanelMemory::create(builder, loc, loops);
  if (rows) {
    Value units = code.multiply(memory.aBatches.value, loops.m.size.value);
    emitCalls(use, use.op, rowTask, rows, units, code.multiply(memory.contracted.value, kMoveTerms));
  }
  if (!fewRows) {
    emitProductCalls(use, use.op, memory);
  } else if (!product) {
    emitCellCalls(use, use.op, memory, fewRowsCells, fewRowsTask, fewRows);
  } else {
    auto branch = scf::IfOp::create(builder, loc, PanelMemory::hasFewRows(builder, loc, loops),
                                    /*withElseRegion=*/true);
    emitCellCalls(use, branch.thenBlock()->getTerminator(), memory, fewRowsCells, fewRowsTask, fewRows);
    emitProductCalls(use, branch.elseBlock()->getTerminator(), memory);
  }
  return success();
}
