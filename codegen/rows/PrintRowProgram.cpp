// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/ColumnMoves.h"
#include "codegen/rows/RowProgram.h"
#include "codegen/rows/SourceOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid::rows;

static void printInputs(raw_ostream &stream, ArrayRef<unsigned> positions) {
  if (positions.empty())
    return;
  stream << "; reads ";
  llvm::interleaveComma(positions, stream, [&](unsigned position) { stream << "in" << position; });
}

static void printRows(raw_ostream &stream, StringRef what, ArrayRef<RowPlace> rows) {
  if (rows.empty())
    return;
  stream << "; " << what << " ";
  llvm::interleaveComma(
      rows, stream, [&](RowPlace row) { stream << (row.kind == RowPlace::Output ? "out" : "local") << row.position; });
}

static void printSizes(raw_ostream &stream, ArrayRef<int64_t> sizes) {
  stream << "[";
  llvm::interleaveComma(sizes, stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "?";
    else
      stream << size;
  });
  stream << "]";
}

/// Values that the phase computes though an earlier one has, by the ops they come from where these are known.
void RowProgram::printComputedAgain(raw_ostream &stream, unsigned phase) const {
  SmallVector<Operation *> ops;
  for (Value value : phases[phase].computes) {
    auto computes = [&](const RowPhase &earlier) { return llvm::is_contained(earlier.computes, value); };
    if (llvm::any_of(ArrayRef(phases).take_front(phase), computes))
      ops.push_back(value.getDefiningOp());
  }
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<std::string> names;
  for (Operation *op : ops) {
    SmallVector<SourceOp> sources = getSourceOps(op->getLoc());
    std::string name = sources.empty() ? op->getName().getStringRef().str() : sources.front().print();
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  if (!names.empty())
    stream << "; computes again " << llvm::join(names, ", ");
}

void RowProgram::print(raw_ostream &stream) const {
  ArrayRef<int64_t> shape = group.space.shape;
  stream << "row program: rows ";
  printSizes(stream, shape.drop_back(group.space.columns));
  stream << " columns ";
  printSizes(stream, shape.take_back(group.space.columns));
  stream << "\n";
  for (auto [position, input] : llvm::enumerate(inputs)) {
    stream << "  in" << position << ": " << input.tensor.getType();
    if (!group.space.usesColumns(input.map))
      stream << ", one per row";
    else if (!undoMove(input.map).isIdentity())
      stream << ", shared by rows";
    stream << (hasMove(input.map) ? ", at other columns" : "") << "\n";
  }
  for (auto [position, output] : llvm::enumerate(outputs))
    stream << "  out" << position << ": " << output.value.getType() << (output.alongColumns ? "" : ", one per row")
           << (output.isAccumulated ? ", sum down the rows" : "") << "\n";
  for (auto [position, type] : llvm::enumerate(localRows)) {
    RowPlace row{RowPlace::Local, static_cast<unsigned>(position)};
    auto readsBack = [&](const RowPhase &phase) { return llvm::is_contained(phase.readsBack, row); };
    auto reading = llvm::count_if(phases, readsBack);
    stream << "  local" << position << ": " << type << ", kept in a local row, read back in " << reading
           << (reading == 1 ? " phase" : " phases") << "\n";
  }
  for (auto [position, phase] : llvm::enumerate(phases)) {
    bool isLast = position == getLastPhase();
    SmallVector<RowPlace> writes, keeps, adds;
    for (const RowStore &store : getStores(position)) {
      bool isOwn = store.row.kind == RowPlace::Output && store.value == outputs[store.row.position].value;
      bool isSum = isOwn && outputs[store.row.position].isAccumulated;
      (!isOwn ? keeps : isSum ? adds : writes).push_back(store.row);
    }
    stream << "  phase " << position << ": ";
    if (isLast)
      stream << "results";
    else
      stream << statistics[getStatisticsOf(position)]->getName().stripDialect()
             << (getPass(position) == RowPass::First ? ", first sum" : ", further sums");
    printInputs(stream, phase.reads);
    printRows(stream, "reads back", phase.readsBack);
    printComputedAgain(stream, position);
    printRows(stream, "keeps its operand in", keeps);
    printRows(stream, "writes", writes);
    printRows(stream, "adds to", adds);
    stream << "\n";
  }
}
