// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RegisterRows.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/ColumnMoves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <numeric>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// What a register has.
static constexpr int64_t kWordBytes = 4;
/// Chunks of a row that are at hand where not all are kept.
static constexpr int64_t kLoopChunks = 4;
/// What one prefetch brings into the cache of the chip.
static constexpr int64_t kSectorBytes = 32;

static Type getMemoryType(Value row) {
  return kernels::getMemoryType(cast<rows::RowType>(row.getType()).getElementType());
}

/// One load per word: LLVM makes one access of a chunk's. A vector would be taken apart first, and then LLVM would
/// forget that nobody writes to it. Narrow elements come several in one word, or all of the chunk's in half a word.
RegisterRowEmitter::Columns RegisterRowEmitter::loadWords(Value address, Type memory, bool isInvariant) {
  int64_t bytes = kernels::getElementBytes(memory);
  int64_t wordBytes = std::max(bytes, std::min(kWordBytes, plan.getAccessBytes(memory))), parts = wordBytes / bytes;
  bool isNarrow = parts > 1;
  Type word = isNarrow ? builder.getIntegerType(unsigned(wordBytes) * 8) : memory;
  Columns columns;
  for (int32_t i = 0; i < plan.lanes / parts; ++i) {
    Value place = builder.create<LLVM::GEPOp>(address.getType(), word, address, ArrayRef<LLVM::GEPArg>{i},
                                              LLVM::GEPNoWrapFlags::inbounds);
    auto value =
        builder.create<LLVM::LoadOp>(word, place, unsigned(std::gcd(plan.getAccessBytes(memory), i * wordBytes)));
    value.setInvariant(isInvariant);
    for (int64_t part = 0; part < parts; ++part)
      columns.push_back(isNarrow ? takePart(value, part, memory) : value.getResult());
  }
  return columns;
}

RegisterRowEmitter::Columns RegisterRowEmitter::loadChunk(rows::LoadOp load, int64_t chunk, bool isInvariant) {
  if (AffineExpr move = load.getMove())
    return loadMovedChunk(load, move, chunk, isInvariant);
  Type memory = getMemoryType(load.getRow());
  return loadWords(getAddress(load.getRow(), memory, chunk), memory, isInvariant);
}

/// Whether the columns of every thread lead to the columns of one access.
static bool leadsToAccesses(AffineExpr move, const RegisterPlan &plan) {
  if (rows::countMovedAlike(move, plan.width, plan.lanes) < plan.lanes)
    return false;
  rows::MovedGroup group(move, /*column=*/0, plan.lanes);
  for (int64_t column = 0; column < plan.width; column += plan.lanes)
    if ((rows::moveColumn(move, column) + group.first) % plan.lanes != 0)
      return false;
  return true;
}

/// Other columns by the same accesses where they lie in one, else each by itself.
RegisterRowEmitter::Columns RegisterRowEmitter::loadMovedChunk(rows::LoadOp load, AffineExpr move, int64_t chunk,
                                                               bool isInvariant) {
  Type memory = getMemoryType(load.getRow());
  Value first = builder.add(thread.column, getOffset(chunk));
  auto getPlace = [&](Value column, int64_t offset) {
    Value place = builder.add(rows::moveColumn(builder, move, column), offset);
    return getElementAddress(builder, load.getLoc(), memory, getRowPointer(load.getRow()), place);
  };
  Columns columns;
  rows::MovedGroup group(move, /*column=*/0, plan.lanes);
  if (group.span == plan.lanes && leadsToAccesses(move, plan)) {
    Columns loaded = loadWords(getPlace(first, group.first), memory, isInvariant);
    for (int32_t place : group.places)
      columns.push_back(loaded[place]);
    return columns;
  }
  for (int64_t i = 0; i < plan.lanes; ++i) {
    auto value = builder.create<LLVM::LoadOp>(memory, getPlace(builder.add(first, i), 0),
                                              unsigned(kernels::getElementBytes(memory)));
    value.setInvariant(isInvariant);
    columns.push_back(value);
  }
  return columns;
}

static bool loadsOwnRow(rows::LoadOp load) {
  auto kernel = load->getParentOfType<rows::KernelOp>();
  return isOwnRow(kernel, cast<BlockArgument>(load.getRow()).getArgNumber() - 1);
}

/// Whether one phase alone uses a row, and stores nothing to it.
static bool isLoadedByOnePhase(Value row) {
  Operation *phase = (*row.getUsers().begin())->getParentOp();
  return llvm::all_of(row.getUsers(),
                      [phase](Operation *user) { return isa<rows::LoadOp>(user) && user->getParentOp() == phase; });
}

/// Rows that all rows share, such as gamma: all of one at once would take as many registers as the row itself. Where
/// the plan says so, that holds for the row's own elements too which one phase alone needs, unless they are loaded
/// early, or which may be loaded again.
bool RegisterRowEmitter::isPassing(rows::LoadOp load) {
  Value row = load.getRow();
  if (!load.getColumn() || kept.contains(row))
    return false;
  if (!loadsOwnRow(load))
    return plan.keptWeights == 0;
  return plan.passesRows && (isLoadedByOnePhase(row) || (plan.loadsAgain && mayLoadAgain(kernel, row)));
}

RegisterRowEmitter::Columns RegisterRowEmitter::loadRow(rows::LoadOp load, bool isInvariant) {
  Columns columns;
  for (int64_t i = 0; i < plan.getChunks(); ++i)
    llvm::append_range(columns, loadChunk(load, i, isInvariant));
  return columns;
}

/// Of the row's own elements, those that this phase alone needs.
void RegisterRowEmitter::loadLateRows(rows::PhaseOp phase) {
  for (auto load : phase.getBody().getOps<rows::LoadOp>())
    if (load.getColumn() && loadsOwnRow(load) && isPassing(load))
      kept[load.getRow()] = loadRow(load, /*isInvariant=*/false);
}

/// The loads of a row's own elements stand before what a phase computes, so that they wait together. So do those of
/// rows that all rows share, where the plan keeps them.
void RegisterRowEmitter::loadKeptRows(rows::PhaseOp phase) {
  for (auto load : phase.getBody().getOps<rows::LoadOp>()) {
    Value row = load.getRow();
    if (!load.getColumn() || kept.contains(row) || isPassing(load))
      continue;
    kept[row] = loadRow(load, /*isInvariant=*/!loadsOwnRow(load));
  }
}

/// Rows that all rows share overlap nothing that is stored, so the driver's compiler may load them earlier where it has
/// registers. It would do so before a loop over rows, and then lack them in the loop: there, loads say nothing of that,
/// and stand a few chunks ahead instead, enough to wait for together. A chunk of the row's own elements is loaded
/// before anything is stored to it, and other threads do not touch it.
void RegisterRowEmitter::loadPassingRows(rows::PhaseOp phase) {
  bool hasLoop = plan.sums > 0;
  for (auto load : phase.getBody().getOps<rows::LoadOp>()) {
    if (!isPassing(load))
      continue;
    bool mayBeEarlier = !hasLoop && !loadsOwnRow(load);
    int64_t end = std::min(chunk + (mayBeEarlier ? 1 : kLoopChunks), plan.getChunks());
    Columns &row = passing[load.getRow()];
    while (int64_t(row.size()) < end * plan.lanes)
      llvm::append_range(row, loadChunk(load, int64_t(row.size()) / plan.lanes, /*isInvariant=*/mayBeEarlier));
  }
}

/// LLVM selects NVVM's own op for later versions of PTX only.
static void emitPrefetch(Code &builder, Value address) {
  constexpr unsigned globalSpace = 1;
  Value place = builder.create<LLVM::AddrSpaceCastOp>(builder.getType<LLVM::LLVMPointerType>(globalSpace), address);
  builder.create<LLVM::InlineAsmOp>(TypeRange(), ValueRange(place), "prefetch.global.L2 [$0];",
                                    /*constraints=*/"l", /*has_side_effects=*/true, /*is_align_stack=*/false,
                                    LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
                                    /*operand_attrs=*/nullptr);
}

/// Neighbouring threads have neighbouring sectors. A thread that has none left brings the last one once more.
void RegisterRowEmitter::prefetchRow(rows::KernelOp kernel, Value row) {
  beginRow(kernel, row);
  Value first = builder.multiply(thread.span, plan.getSpanThreads());
  first = builder.multiply(builder.add(first, thread.thread), kSectorBytes);
  for (unsigned i = 0; i < addresses.operands.size(); ++i) {
    Value argument = kernel.getRowArgument(i);
    if (!isOwnRow(kernel, i) || kernel.getMove(i) || !isLoaded(argument))
      continue;
    int64_t bytes = plan.width * kernels::getElementBytes(getMemoryType(argument));
    int64_t step = kSectorBytes * plan.getRowThreads();
    for (int64_t at = 0; at < bytes; at += step) {
      Value offset = builder.add(first, at);
      if (at + step > bytes)
        offset = builder.min(offset, bytes - 1);
      Type byte = builder.getI8Type();
      emitPrefetch(builder, getElementAddress(builder, kernel.getLoc(), byte, getRowPointer(argument), offset));
    }
  }
}
