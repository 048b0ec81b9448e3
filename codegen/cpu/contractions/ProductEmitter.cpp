// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops around micro-kernels: cells, rows of a tile, tiles of contracted terms.

#include "codegen/cpu/contractions/ProductEmitter.h"

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/PackFactors.h"
#include "codegen/kernels/Elements.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

/// Whether the work on elements reads arrays that have one for each of them.
static bool readsElements(const KernelLoops &loops) {
  auto inputs = llvm::seq(loops.getFirstInput(), loops.hasRowScale ? loops.getRowScale() : loops.getInit());
  return llvm::any_of(inputs, [&](unsigned i) { return !loops.m.strides[i].is(0) && !loops.n.strides[i].is(0); });
}

ProductCells ProductCells::choose(const CPUTarget &target, const KernelLoops &loops) {
  const Extent &columns = loops.n.size;
  MicroKernelShape shape =
      chooseMicroKernelShape(target, loops.arithmetic, columns.isKnown() ? std::optional(columns.known) : std::nullopt);
  int64_t elementBytes = loops.getFactorType().getIntOrFloatBitWidth() / 8;
  ProductTiles tiles = chooseProductTiles(target, shape, loops.arithmetic.getIntOrFloatBitWidth() / 8, elementBytes);
  if (loops.chain != 0)
    tiles.terms = std::min(tiles.terms, loops.chain);
  int64_t panels = shape.panels;
  // A projection has few columns, and rows that may have to be copied for them.
  if (loops.hasRowScale && columns.isKnown())
    panels =
        llvm::alignTo(llvm::divideCeil(std::min(columns.known, contraction::kFewColumns), kPanelColumns), shape.panels);
  // Of few terms, elements are computed about as fast as others are read beside them, in long runs of a row.
  constexpr int64_t kRunBytes = 1024;
  int64_t terms = 1;
  for (const contraction::Loop &loop : loops.contracted)
    terms *= loop.size.isKnown() ? loop.size.known : contraction::kFewColumns + 1;
  if (!loops.hasRowScale && terms < contraction::kFewColumns && readsElements(loops))
    panels = std::max<int64_t>(
        llvm::alignDown(kRunBytes * 8 / loops.arithmetic.getIntOrFloatBitWidth() / kPanelColumns, shape.panels),
        shape.panels);
  tiles.waitingRows =
      std::max(llvm::alignDown(tiles.waitingRows * shape.panels / panels, shape.rows), uint64_t(shape.rows));
  return {shape, tiles, panels};
}

/// All terms at a time: what they are computed from is read once for as many rows as have their sums in registers,
/// beside some 6 for the terms. A panel of one register has a partner, so that chains hide the latency of additions.
static ProductCells chooseForIntegers(const CPUTarget &target, const KernelLoops &loops, ProductCells cells) {
  int64_t registers = target.isX86 && target.vectorBits < 512 ? 16 : 32,
          perPanel = 32 * kPanelColumns / target.vectorBits;
  cells.panels = perPanel == 1 ? 2 : 1;
  int64_t rows = (registers - 6) / (perPanel * cells.panels);
  cells.shape = {std::clamp<int64_t>(llvm::bit_floor(uint64_t(rows)), 1, kFewRows), cells.panels};
  cells.integers = IntegerForm::of(target, loops);
  cells.tiles = {kFewRows, /*terms=*/int64_t(1) << 31, kFewRows};
  return cells;
}

/// Memory is read in runs that are as long as the stack allows for what they become: either the columns of a term are
/// contiguous, or the terms of a column.
ProductCells ProductCells::chooseForFewRows(const CPUTarget &target, const KernelLoops &loops) {
  constexpr int64_t kRunBytes = 2048, kPartBytes = 16 << 10, kWaitingBytes = 24 << 10;
  ProductCells cells = choose(target, loops);
  if (loops.bGroup != 0)
    return chooseForIntegers(target, loops, cells);
  cells.packsParts = true;
  int64_t rows = loops.m.size.isKnown() ? std::max(loops.m.size.known, kFewRows) : kFewRows;
  cells.tiles.rows = cells.tiles.waitingRows = llvm::alignTo(rows, cells.shape.rows);
  int64_t sumBytes = loops.arithmetic.getIntOrFloatBitWidth() / 8;
  if (loops.n.strides[kB].is(1))
    cells.panels = std::max<int64_t>(
        llvm::alignDown(std::min(kRunBytes, kWaitingBytes / cells.tiles.rows) / sumBytes / kPanelColumns,
                        cells.shape.panels),
        cells.shape.panels);
  int64_t elementBytes = loops.getFactorType().getIntOrFloatBitWidth() / 8;
  // Terms of integers are packed as fast where there are as many as are transposed at a time.
  int64_t unit = loops.isInteger() ? 4 * kPanelColumns : 2;
  cells.tiles.terms = std::max<int64_t>(llvm::alignDown(kPartBytes / (cells.getColumns() * elementBytes), unit), unit);
  return cells;
}

Value ProductCells::countGroups(Code &code, const PanelMemory &memory) const {
  return code.ceilDivide(memory.panels.value, code.constant(panels));
}

static bool startsAtZero(KernelOp kernel) {
  Attribute start;
  if (!kernel.getStart() || !matchPattern(kernel.getStart(), m_Constant(&start)))
    return false;
  auto number = dyn_cast<FloatAttr>(start);
  return number ? number.getValue().isPosZero() : cast<IntegerAttr>(start).getValue().isZero();
}

void ProductEmitter::emit(Value firstRow, Value blockRows, Value low, Value high) {
  const Extent &terms = view.memory.contracted;
  bool isOneTile = terms.isKnown() && terms.known <= tiles.terms;
  startsInRegisters = isOneTile && terms.known > 0 && view.loops.chain == 0 && startsAtZero(kernel);
  waitingRows = isOneTile ? shape.rows : tiles.waitingRows;
  int64_t sums = waitingRows * cells.getColumns();
  waiting = code.allocate(view.entry, view.loops.arithmetic, view.loops.chain != 0 ? 2 * sums : sums);
  if (view.loops.hasRowScale)
    scaledRows = code.allocate(view.entry, view.loops.arithmetic, shape.rows * getScaledLength());
  if (cells.packsParts)
    part = code.allocate(view.entry, view.loops.getFactorType(), tiles.terms * cells.getColumns());
  Value groups = cells.countGroups(code, view.memory);
  Value rowBlocks = code.ceilDivide(view.loops.m.size.value, blockRows);
  code.loop(low, high, 1, [&](Value unit) { emitCell(makeCell(unit, groups, firstRow, blockRows, rowBlocks)); });
}

ProductEmitter::Cell ProductEmitter::makeCell(Value unit, Value groups, Value firstRow, Value blockRows,
                                              Value rowBlocks) {
  Cell cell;
  Value group = code.remainder(unit, groups), rest = code.divide(unit, groups);
  cell.batch = view.splitBatch(code.divide(rest, rowBlocks));
  cell.firstRow = code.add(firstRow, code.multiply(code.remainder(rest, rowBlocks), blockRows));
  cell.endRow = code.min(code.add(cell.firstRow, blockRows), view.loops.m.size.value);
  cell.firstPanel = code.multiply(group, cells.panels);
  cell.panels = code.min(cells.panels, code.subtract(view.memory.panels.value, cell.firstPanel));
  if (view.memory.packsA) {
    Value rows = code.multiply(view.getMatrix(kA, cell.batch), view.loops.m.size.value);
    cell.aStride = view.memory.rowLength.value;
    cell.a = code.at(getPackedRows(view), view.memory.aType, code.multiply(rows, cell.aStride));
  } else {
    cell.aStride = view.loops.m.strides[kA].value;
    cell.a = view.atBatch(kA, cell.batch);
  }
  if (cells.packsParts) {
    cell.b = view.atBatch(kB, cell.batch);
    return cell;
  }
  if (cells.readsIntegers()) {
    cell.b = view.loops.pointers[kB];
    return cell;
  }
  Value panels = view.memory.packsB ? getPackedPanels(view) : view.loops.pointers[kB];
  Value panel = code.add(code.multiply(view.getMatrix(kB, cell.batch), view.memory.panels.value), cell.firstPanel);
  cell.b = code.at(panels, view.loops.getFactorType(), code.multiply(panel, view.memory.panelLength.value));
  return cell;
}

/// All rows of a cell. Where one tile has all terms, no sums wait for the next, and rows are worked on as few at a
/// time as a micro-kernel takes, whose sums stay in the first level of the cache.
void ProductEmitter::emitCell(const Cell &cell) {
  Value tileTerms = code.constant(tiles.terms);
  Value rows = code.select(code.isAtMost(view.memory.contracted.value, tileTerms), code.constant(shape.rows),
                           code.constant(tiles.waitingRows));
  code.loop(cell.firstRow, cell.endRow, rows, [&](Value first) {
    Value end = code.min(code.add(first, rows), cell.endRow);
    if (!startsInRegisters)
      forEachRow(first, end, [&](Value row, Value sums) { startRow(cell, row, sums); });
    else
      forEachRow(first, end, [&](Value row, Value sums) { fetchRow(cell, row, sums); });
    emitChains(cell, first, end);
    forEachRow(first, end, [&](Value row, Value sums) { finishRow(cell, row, sums); });
  });
}

ProductEmitter::TermTile ProductEmitter::makeTile(const Cell &cell, Value first, Value terms) {
  TermTile tile;
  tile.first = first;
  tile.terms = terms;
  tile.b = code.at(cell.b, view.loops.getFactorType(), code.multiply(first, view.memory.termLength));
  tile.panelStride = view.memory.panelLength.value;
  tile.firstPanel = code.constant(0);
  tile.panels = cell.panels;
  return tile;
}

void ProductEmitter::emitTermTiles(const Cell &cell, Value first, Value end, Value firstTerm, Value endTerm) {
  Value tileTerms = code.constant(tiles.terms);
  code.loop(firstTerm, endTerm, tileTerms, [&](Value term) {
    TermTile tile = makeTile(cell, term, code.min(tileTerms, code.subtract(endTerm, term)));
    if (cells.packsParts)
      packPart(cell, tile);
    // A group stays in the cache for all rows, unless rows have to be copied for it: these are so once for all groups.
    if (view.loops.hasRowScale)
      emitRows(cell, first, end, tile);
    else
      forEachGroup(cell, tile, [&](const TermTile &group) { emitRows(cell, first, end, group); });
  });
}

void ProductEmitter::forEachGroup(const Cell &cell, const TermTile &tile, function_ref<void(const TermTile &)> body) {
  if (cells.panels == shape.panels)
    return body(tile);
  code.loop(tile.firstPanel, cell.panels, shape.panels, [&](Value panel) {
    TermTile group = tile;
    group.b = code.at(tile.b, view.loops.getFactorType(), code.multiply(panel, tile.panelStride));
    group.firstPanel = panel;
    group.panels = code.min(shape.panels, code.subtract(cell.panels, panel));
    body(group);
  });
}

void ProductEmitter::packPart(const Cell &cell, TermTile &tile) {
  const Extent &stride = view.loops.contracted.front().strides[kB];
  PanelRange range;
  range.source = code.at(cell.b, view.loops.getFactorType(), code.multiply(tile.first, stride.value));
  range.firstPanel = cell.firstPanel;
  range.panels = cell.panels;
  range.terms = tile.terms;
  range.termsAhead = tiles.terms;
  range.target = tile.b = part;
  range.panelLength = tile.panelStride = code.constant(tiles.terms * kPanelColumns);
  packPanels(view, range);
}

void ProductEmitter::emitRows(const Cell &cell, Value first, Value end, const TermTile &tile) {
  kernels::Extent all = view.loops.m.size;
  // Ranges of rows end with chains of rows.
  if (view.loops.hasAnyRows && rows::kChainRows % shape.rows != 0)
    all.known = ShapedType::kDynamic;
  shape.forRows(code, first, end, all,
                [&](int64_t rows, Value row) { emitMicroKernels(cell, rows, row, first, tile); });
}

/// Where the terms of a tile begin in some rows of a, in the arithmetic type, and the distance of the rows. Rows whose
/// scale is not 1, or that are of another type, are copied.
std::pair<Value, Value> ProductEmitter::getRowsOfA(const Cell &cell, int64_t rows, Value row, const TermTile &tile) {
  Type arithmetic = view.loops.arithmetic;
  Type type = view.memory.packsA ? view.memory.aType : view.loops.operands[kA].elementType;
  Value terms = view.loops.isInteger() ? code.multiply(tile.first, microKernels.getByteDot().getParts()) : tile.first;
  Value source = code.at(code.at(cell.a, type, code.multiply(row, cell.aStride)), type, terms);
  if (!view.loops.hasRowScale)
    return {source, cell.aStride};
  Value stride = code.constant(getScaledLength()), areOne;
  SmallVector<Value> scales;
  for (int64_t i = 0; i < rows; ++i) {
    scales.push_back(code.load(arithmetic, atRow(cell, view.loops.getRowScale(), code.add(row, i))));
    Value isOne = code.isEqual(scales.back(), 1.0);
    areOne = areOne ? code.both(areOne, isOne) : isOne;
  }
  auto copyRows = [&]() -> SmallVector<Value> {
    for (auto [i, scale] : llvm::enumerate(scales)) {
      Value from = code.at(source, type, code.multiply(int64_t(i), cell.aStride));
      packScaledRow(code, {from, type, tile.terms}, code.at(scaledRows, arithmetic, i * getScaledLength()), scale);
    }
    return {scaledRows, stride};
  };
  if (type != arithmetic) {
    copyRows();
    return {scaledRows, stride};
  }
  SmallVector<Value> chosen = code.choose(
      areOne, TypeRange{source.getType(), stride.getType()},
      [&] {
        return SmallVector<Value>{source, cell.aStride};
      },
      copyRows);
  return {chosen[0], chosen[1]};
}

void ProductEmitter::emitMicroKernels(const Cell &cell, int64_t rows, Value row, Value firstWaiting,
                                      const TermTile &tile) {
  MicroKernels::Operands operands;
  std::tie(operands.a, operands.aStride) = getRowsOfA(cell, rows, row, tile);
  operands.panelStride = tile.panelStride;
  operands.terms = tile.terms;
  if (cells.readsIntegers())
    operands.integers = IntegerColumns::ofPanels(code, view.loops, cell.firstPanel, tile.terms);
  Value sums = getSums(code.subtract(row, firstWaiting));
  auto emitGroup = [&](const TermTile &group) {
    operands.b = group.b;
    operands.sums = code.at(sums, view.loops.arithmetic, code.multiply(group.firstPanel, kPanelColumns));
    emitMicroKernel(cell, getForm(rows), operands, group);
  };
  if (view.loops.hasRowScale)
    forEachGroup(cell, tile, emitGroup);
  else
    emitGroup(tile);
}

/// The columns of so many panels. Half of the last panel of a matrix may be absent.
void ProductEmitter::emitColumns(const Cell &cell, const TermTile &group, int64_t panels,
                                 function_ref<void(int64_t)> call) {
  const Extent &columns = view.loops.n.size;
  int64_t left = columns.isKnown() ? columns.known % kPanelColumns : 0, half = kPanelColumns / 2;
  int64_t whole = panels * kPanelColumns, all = view.memory.panels.known;
  if (left == 0 || left > half || cells.readsIntegers())
    return call(whole);
  // Only the last group is smaller than the others.
  if (panels == all || panels < shape.panels)
    return call(whole - half);
  if (shape.panels != 1)
    return call(whole);
  Value isLast = code.isEqual(code.add(cell.firstPanel, group.firstPanel), all - 1);
  code.choose(
      isLast, [&] { call(whole - half); }, [&] { call(whole); });
}

MicroKernels::Form ProductEmitter::getForm(int64_t rows) const {
  MicroKernels::Form form;
  form.arithmetic = view.loops.arithmetic;
  form.bType = view.loops.getFactorType();
  form.rows = rows;
  form.sumStride = cells.getColumns();
  form.startsAtZero = startsInRegisters;
  form.termLength = view.memory.termLength;
  form.integers = cells.integers;
  return form;
}

/// The last group may have fewer panels than the others.
void ProductEmitter::emitMicroKernel(const Cell &cell, MicroKernels::Form form, const MicroKernels::Operands &operands,
                                     const TermTile &group) {
  auto callColumns = [&](int64_t columns) {
    form.columns = columns;
    microKernels.emitCall(code, form, operands);
  };
  auto call = [&](int64_t panels) { emitColumns(cell, group, panels, callColumns); };
  const Extent &all = view.memory.panels;
  std::function<void(int64_t)> callWith = [&](int64_t panels) {
    int64_t last = all.isKnown() ? all.known % shape.panels : 0;
    if (all.isKnown() && last == 0)
      return call(shape.panels);
    bool isPossible = !all.isKnown() || panels == last || (panels == shape.panels && all.known > panels);
    if (panels == 1 || (all.isKnown() && panels == last))
      return isPossible ? call(panels) : void();
    if (!isPossible)
      return callWith(panels - 1);
    code.choose(
        code.isEqual(group.panels, panels), [&] { call(panels); }, [&] { callWith(panels - 1); });
  };
  callWith(shape.panels);
}

Value ProductEmitter::getSums(Value waitingRow) {
  return code.at(waiting, view.loops.arithmetic, code.multiply(waitingRow, cells.getColumns()));
}

void ProductEmitter::forEachRow(Value first, Value end, function_ref<void(Value, Value)> body) {
  code.loop(first, end, 1, [&](Value row) { body(row, getSums(code.subtract(row, first))); });
}

void ProductEmitter::forEachPanel(const Cell &cell, Value sums, function_ref<void(Value, ColumnRun)> body) {
  Value columns = code.constant(kPanelColumns);
  code.loop(0, cell.panels, 1, [&](Value panel) {
    Value offset = code.multiply(panel, columns);
    ColumnRun run{code.multiply(code.add(cell.firstPanel, panel), columns), nullptr};
    if (!view.hasWholePanels())
      run.count = code.min(columns, code.subtract(view.loops.n.size.value, run.first));
    body(code.at(sums, view.loops.arithmetic, offset), run);
  });
}

Value ProductEmitter::atRow(const Cell &cell, unsigned operand, Value row) {
  Value offset = code.multiply(row, view.loops.m.strides[operand].value);
  return code.at(view.atBatch(operand, cell.batch), view.loops.operands[operand].elementType, offset);
}

void ProductEmitter::startSums(Value sums) {
  Value wide = code.castNumber(view.outer.lookup(kernel.getStart()), view.loops.arithmetic);
  Value all = code.spread(wide, kPanelColumns);
  for (int64_t panel = 0; panel < cells.panels; ++panel)
    code.store(all, code.at(sums, view.loops.arithmetic, panel * kPanelColumns));
}

void ProductEmitter::startRow(const Cell &cell, Value row, Value sums) {
  // Without terms, the totals of chains are what they begin with.
  if (kernel.getStart())
    return startSums(view.loops.chain != 0 ? getTotal(sums) : sums);
  Value initial = atRow(cell, KernelLoops::kInitial, row);
  forEachPanel(cell, sums, [&](Value place, ColumnRun run) {
    Value loaded = view.loadColumns(KernelLoops::kInitial, initial, run);
    code.store(code.castNumber(loaded, view.loops.arithmetic), place);
  });
}

/// Where a row's elements will be stored.
void ProductEmitter::fetchRow(const Cell &cell, Value row, Value sums) {
  unsigned init = view.loops.getInit();
  if (!view.loops.n.strides[init].is(1))
    return;
  Value target = atRow(cell, init, row);
  forEachPanel(cell, sums, [&](Value, ColumnRun run) {
    code.prefetchForStore(code.at(target, getMovedType(view.loops.operands[init].elementType), run.first));
  });
}

/// The kernel's body on vectors of columns.
Value ProductEmitter::emitBody(Value product, const Cell &cell, Value row, ColumnRun run) {
  Block &body = kernel.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), product);
  for (unsigned input = 0; input < kernel.getInputs().size(); ++input) {
    unsigned operand = view.loops.getFirstInput() + input;
    if (!body.getArgument(1 + input).use_empty())
      mapping.map(body.getArgument(1 + input), view.loadColumns(operand, atRow(cell, operand, row), run));
  }
  auto getColumns = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, code.spread(view.outer.lookup(value), kPanelColumns));
    return mapping.lookup(value);
  };
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), getColumns);
    mapping.map(op.getResults(), kernels::emitElements(code, &op, operands, kPanelColumns));
  }
  return getColumns(cast<contraction::YieldOp>(body.getTerminator()).getValue());
}

/// By how much the sums of a row of integers are too large.
Value ProductEmitter::getExcess(const Cell &cell, Value row) {
  if (!microKernels.getByteDot().hasExcess())
    return code.constant(view.loops.arithmetic, int64_t(0));
  Value start = code.at(cell.a, view.memory.aType, code.multiply(row, cell.aStride));
  return code.multiply(code.load(view.loops.arithmetic, getRowSum(view, start)), 128);
}

void ProductEmitter::finishRow(const Cell &cell, Value row, Value sums) {
  unsigned init = view.loops.getInit();
  Value target = atRow(cell, init, row), excess;
  if (view.loops.isInteger())
    excess = code.spread(getExcess(cell, row), kPanelColumns);
  forEachPanel(cell, sums, [&](Value place, ColumnRun run) {
    Value sum = code.load(VectorType::get(kPanelColumns, view.loops.arithmetic),
                          view.loops.chain != 0 ? getTotal(place) : place);
    Value product = view.loops.isInteger() ? code.subtract(sum, excess) : code.castFloat(sum, kernel.getProductType());
    view.storeColumns(emitBody(product, cell, row, run), init, target, run);
  });
}
