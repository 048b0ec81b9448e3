// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that contraction kernels are outlined into, and the calls that run them. Kernels that are equal share
// functions. Not: what is emitted into them (PackFactors.h, ProductEmitter.h).

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONFUNCTIONS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONFUNCTIONS_H

#include "codegen/cpu/contractions/ProductEmitter.h"
#include "codegen/kernels/KernelLowering.h"
#include "codegen/kernels/Tasks.h"

namespace mlir::resid::cpu {

/// Units of a kernel are cut into so many tasks at most.
constexpr int64_t kMostTasks = 64;
/// How many units make a task, if each has so many terms and a task `taskTerms` at least.
Value countTaskUnits(Code &code, Value units, Value terms, int64_t taskTerms);

/// The rows [first, end) of a batch of so many rows; there is one at least.
struct RowBlock {
  Value batch, batchRows, first, end;
};

/// The functions of a product, and of those that are like it.
class ContractionFunctions : public kernels::KernelCode {
public:
  ContractionFunctions(kernels::KernelUse first, SymbolTable &symbols, const CPUTarget &target,
                       MicroKernels &microKernels)
      : KernelCode(std::move(first), symbols), cells(ProductCells::choose(target, getLoops())),
        fewRowsCells(ProductCells::chooseForFewRows(target, getLoops())),
        taskTerms(target.schedule.table.productTaskTerms), microKernels(microKernels),
        rowTask(functions, "__rows_task"), panelTask(functions, "__panels_task"),
        productTask(functions, "__product_task"), fewRowsTask(functions, "__few_rows_task") {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

  /// The same for who runs a product by blocks of rows: first what packs its panels, where it has any, before an op;
  /// then, per block, all `groups` of panels. `arguments` are those of the use, where they are visible.
  SmallVector<Value> getArguments(OpBuilder &builder, kernels::KernelUse &use) const {
    return functions.getArguments(builder, use);
  }
  void emitPanelCalls(kernels::KernelUse &use, Operation *before, const PanelMemory &memory);
  void callBlock(Code &code, ValueRange arguments, const RowBlock &block, Value groups);
  int64_t getMicroRows() const { return cells.shape.rows; }
  Value countGroups(Code &code, const PanelMemory &memory) const {
    return (product ? cells : fewRowsCells).countGroups(code, memory);
  }
  /// Runs blocks by `callBlocks`, in tasks.
  void emitBlockTasks(kernels::KernelUse &use, Operation *before, ValueRange values, kernels::TaskUnits blocks,
                      kernels::TaskFunction::CallRows callBlocks);
  Value countTaskUnits(Code &code, Value units, Value terms) const {
    return cpu::countTaskUnits(code, units, terms, taskTerms);
  }

private:
  using EmitBody = function_ref<void(KernelView &, ValueRange range)>;
  contraction::KernelLoops &getLoops() { return getFirst().as<contraction::KernelLoops>(); }
  func::FuncOp outline(StringRef suffix, unsigned rangeNumbers, EmitBody emit);
  void emitCalls(kernels::KernelUse &use, Operation *before, kernels::TaskFunction &task, func::FuncOp function,
                 Value units, Value terms, std::optional<int64_t> blockRows = std::nullopt);
  void emitCellCalls(kernels::KernelUse &use, Operation *before, const PanelMemory &memory, const ProductCells &chosen,
                     kernels::TaskFunction &task, func::FuncOp function);
  void emitProductCalls(kernels::KernelUse &use, Operation *before, const PanelMemory &memory);

  ProductCells cells, fewRowsCells;
  int64_t taskTerms;
  MicroKernels &microKernels;
  func::FuncOp rows, panels, product, fewRows;
  kernels::TaskFunction rowTask, panelTask, productTask, fewRowsTask;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONFUNCTIONS_H
