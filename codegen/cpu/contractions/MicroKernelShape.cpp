// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses micro-kernels by the registers that there are.

#include "codegen/cpu/contractions/MicroKernelShape.h"

#include "codegen/cpu/contractions/ByteDot.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {
struct ShapeEntry {
  /// Vector registers of the processor, and those that a panel's columns fill.
  int64_t registers, perPanel;
  MicroKernelShape shape;
  /// The columns of a product that it is for, rounded up to half a panel; 0: any number.
  int64_t columns = 0;
  /// Whether it is for products of bytes in two parts (ByteDot.h), of which both stay in registers.
  bool isInParts = false;
};
} // namespace

// Sums take most registers; a panel's columns and one number of a need the others. Per term, rows · panels operations
// stand beside rows + panels loads, and enough chains must run at a time to hide the latency of an operation: some 8.
static constexpr ShapeEntry kShapes[] = {
    {32, 1, {8, 3}}, // 512 bits, f32: 24 sums, 3 columns, 1 number of a
    {32, 2, {6, 2}}, // 512 bits, f64: 24, 4, 1
    {32, 4, {6, 1}}, // 128 bits, f32 (aarch64): 24, 4, 1
    {32, 8, {3, 1}}, // 128 bits, f64: 24, 8, 1 is one too many, and is kept in memory
    {16, 2, {6, 1}}, // 256 bits, f32: 12, 2, 1
    {16, 4, {3, 1}}, // 256 bits, f64: 12, 4 from memory
    {16, 8, {1, 1}}, // 128 bits, f64: 8

    // Half a panel less leaves registers for other rows.
    {16, 2, {8, 1}, 8},  // 256 bits, f32: 8, 1, 1
    {16, 2, {4, 2}, 24}, // 256 bits, f32: 12, 3, 1

    {32, 1, {8, 2}, 0, /*isInParts=*/true}, // 512 bits: 16, 4, 2
    {32, 4, {4, 1}, 0, /*isInParts=*/true}, // 128 bits (aarch64): 16, 8, 2
    {16, 2, {4, 1}, 0, /*isInParts=*/true}, // 256 bits: 8, 4, 2
    {16, 4, {1, 1}, 0, /*isInParts=*/true}, // 128 bits: 4, 8, 2
};

MicroKernelShape cpu::chooseMicroKernelShape(const CPUTarget &target, Type arithmetic, std::optional<int64_t> columns) {
  int64_t registers = target.isX86 && target.vectorBits < 512 ? 16 : 32;
  int64_t perPanel = kPanelColumns * arithmetic.getIntOrFloatBitWidth() / target.vectorBits;
  bool isInParts = isa<IntegerType>(arithmetic) && ByteDot(target).getParts() > 1;
  auto find = [&](int64_t chosen) {
    const ShapeEntry *entry = llvm::find_if(kShapes, [&](const ShapeEntry &entry) {
      return entry.registers == registers && entry.perPanel == perPanel && entry.columns == chosen &&
             entry.isInParts == isInParts;
    });
    return entry == std::end(kShapes) ? std::nullopt : std::optional(entry->shape);
  };
  MicroKernelShape shape = find(0).value_or(MicroKernelShape{/*rows=*/2, /*panels=*/1});
  if (!columns || *columns == 0)
    return shape;
  shape.panels = std::min<int64_t>(shape.panels, llvm::divideCeil(*columns, kPanelColumns));
  return find(llvm::alignTo(*columns, kPanelColumns / 2)).value_or(shape);
}

SmallVector<int64_t> MicroKernelShape::getHeights() const {
  SmallVector<int64_t> heights = {rows};
  for (int64_t height = llvm::bit_floor(static_cast<uint64_t>(rows)); height > 0; height /= 2)
    if (height < rows)
      heights.push_back(height);
  return heights;
}

void MicroKernelShape::forRows(Code &code, Value first, Value end, kernels::Extent all, RowBody body) const {
  Value height = code.constant(rows), count = code.subtract(end, first);
  Value at = code.add(first, code.multiply(code.divide(count, height), height));
  if (!all.isKnown() || all.known >= rows)
    code.loop(first, at, rows, [&](Value row) { body(rows, row); });
  if (!all.isKnown())
    forFewRows(code, at, end, std::nullopt, body);
  else if (all.known % rows != 0)
    forFewRows(code, at, end, all.known % rows, body);
}

void MicroKernelShape::forFewRows(Code &code, Value first, Value end, std::optional<int64_t> left, RowBody body) const {
  for (int64_t height : ArrayRef(getHeights()).drop_front()) {
    if (left && height > *left)
      continue;
    if (left)
      *left -= height;
    Value next = code.add(first, height), fits = code.isAtMost(next, end);
    code.choose(fits, [&] { body(height, first); });
    first = code.select(fits, next, first);
  }
}

static void chooseFrom(Code &code, int64_t most, Value left, function_ref<void(int64_t)> body) {
  if (most == 1)
    return body(1);
  code.choose(
      code.isAtMost(most, left), [&] { body(most); }, [&] { chooseFrom(code, most - 1, left, body); });
}

void MicroKernelShape::choosePanels(Code &code, Value left, function_ref<void(int64_t)> body) const {
  chooseFrom(code, panels, left, body);
}

/// Sums that wait are on the stack.
static constexpr int64_t kWaitingBytes = 16 << 10;

ProductTiles cpu::chooseProductTiles(const CPUTarget &target, const MicroKernelShape &shape, int64_t arithmeticBytes,
                                     int64_t elementBytes) {
  ProductTiles tiles;
  const ScheduleTable &table = target.schedule.table;
  // Servers with AVX-512 have second levels of 1 MiB or more, others of 512 KiB.
  int64_t groupBytes = target.vectorBits >= 512 ? table.productGroupBytes : table.productGroupBytes / 2;
  tiles.rows = llvm::alignTo(table.productRows, shape.rows);
  tiles.terms = std::max<int64_t>(llvm::alignDown(groupBytes / (shape.getColumns() * elementBytes), 64), 64);
  int64_t rowBytes = shape.getColumns() * arithmeticBytes;
  tiles.waitingRows = std::max<int64_t>(llvm::alignDown(kWaitingBytes / rowBytes, shape.rows), shape.rows);
  return tiles;
}
