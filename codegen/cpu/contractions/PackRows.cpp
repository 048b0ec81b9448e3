// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits loops that pack the rows of a. What is contiguous moves in vectors; where rows are neighbours in memory, 16 of
// them are transposed in registers.

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/PackFactors.h"
#include "codegen/cpu/contractions/TransposeTile.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

Value cpu::getPackedRows(KernelView &view) { return view.loops.scratch; }

/// An element, or a vector of them, of type `from` in the type `to`, which is at least as wide.
static Value widen(Code &code, Value moved, Type from, Type to) {
  Value value = kernels::fromMemory(code, code.getLoc(), moved, from);
  return code.castNumber(value, to);
}

/// One row.
static void packRow(KernelView &view, Value source, Value target) {
  Code &code = view.code;
  Type element = view.loops.operands[kA].elementType, moved = getMovedType(element), wide = view.memory.aType;
  const contraction::Loop &innermost = view.loops.contracted.back();
  view.forEachTerm(kA, /*isInnermost=*/true, [&](Value offset, Value term) {
    Value from = code.at(source, moved, offset), to = code.at(target, wide, term);
    Value done = code.constant(0);
    if (innermost.strides[kA].is(1)) {
      Value lanes = code.constant(kPanelColumns);
      done = code.multiply(code.divide(innermost.size.value, lanes), lanes);
      code.loop(0, done, kPanelColumns, [&](Value index) {
        Value loaded = code.load(VectorType::get(kPanelColumns, moved), code.at(from, moved, index));
        code.store(widen(code, loaded, element, wide), code.at(to, wide, index));
      });
    }
    code.loop(done, innermost.size.value, 1, [&](Value index) {
      Value loaded = code.load(moved, code.at(from, moved, code.multiply(index, innermost.strides[kA].value)));
      code.store(widen(code, loaded, element, wide), code.at(to, wide, index));
    });
  });
}

void cpu::packScaledRow(Code &code, const ElementRun &source, Value target, Value scale) {
  Type moved = getMovedType(source.type), wide = scale.getType();
  auto copyAt = [&](Value index, Type loaded, Value factor) {
    Value value = code.load(loaded, code.at(source.first, moved, index));
    code.store(code.multiply(widen(code, value, source.type, wide), factor), code.at(target, wide, index));
  };
  Value factors = code.spread(scale, kPanelColumns);
  Value whole = code.multiply(code.divide(source.count, kPanelColumns), kPanelColumns);
  code.loop(0, whole, kPanelColumns,
            [&](Value index) { copyAt(index, VectorType::get(kPanelColumns, moved), factors); });
  code.loop(whole, source.count, 1, [&](Value index) { copyAt(index, moved, scale); });
}

/// Rows that are neighbours in memory, as many as a vector has lanes: squares of elements are transposed in registers.
static void packNeighbours(KernelView &view, Value source, Value target) {
  Code &code = view.code;
  Type element = view.loops.operands[kA].elementType, moved = getMovedType(element), wide = view.memory.aType;
  const contraction::Loop &innermost = view.loops.contracted.back();
  view.forEachTerm(kA, /*isInnermost=*/true, [&](Value offset, Value term) {
    Value from = code.at(source, moved, offset), to = code.at(target, wide, term), lanes = code.constant(kPanelColumns);
    auto getTerm = [&](Value index) { return code.at(from, moved, code.multiply(index, innermost.strides[kA].value)); };
    auto getPlace = [&](Value row, Value index) {
      return code.at(to, wide, code.add(code.multiply(row, view.memory.rowLength.value), index));
    };
    Value whole = code.multiply(code.divide(innermost.size.value, lanes), lanes);
    code.loop(0, whole, kPanelColumns, [&](Value index) {
      SmallVector<Value> tile;
      for (int64_t i = 0; i != kPanelColumns; ++i) {
        Value loaded = code.load(VectorType::get(kPanelColumns, moved), getTerm(code.add(index, i)));
        tile.push_back(widen(code, loaded, element, wide));
      }
      transpose(code, tile);
      for (auto [row, vector] : llvm::enumerate(tile))
        code.store(vector, getPlace(code.constant(row), index));
    });
    code.loop(whole, innermost.size.value, 1, [&](Value index) {
      code.loop(0, lanes, 1, [&](Value row) {
        Value loaded = code.load(moved, code.at(getTerm(index), moved, row));
        code.store(widen(code, loaded, element, wide), getPlace(row, index));
      });
    });
  });
}

/// The terms of a row of integers, in whole groups.
static Value countWholeTerms(KernelView &view) {
  Code &code = view.code;
  Value group = code.constant(getInterleavedTerms(view.memory.aType));
  return code.multiply(code.ceilDivide(view.memory.contracted.value, group), group);
}

/// Puts zeros after the last term of a row of bytes, until there are whole groups.
static void padIntegers(KernelView &view, Value bytes) {
  Code &code = view.code;
  Type byte = view.memory.aType;
  code.loop(view.memory.contracted.value, countWholeTerms(view), 1,
            [&](Value term) { code.store(code.constant(byte, int64_t(0)), code.at(bytes, byte, term)); });
}

Value cpu::getRowSum(KernelView &view, Value row) {
  return view.code.at(row, view.memory.aType, view.code.subtract(view.memory.rowLength.value, kRowSumBytes));
}

/// Where the bytes of a row are put before its parts are made of them: these begin at `row` and take the same memory.
static Value locateBytes(KernelView &view, const ByteDot &dot, Value row) {
  return dot.getParts() == 1 ? row : view.code.at(row, view.memory.aType, countWholeTerms(view));
}

/// Makes the parts of a row's bytes. What is written has been read before: bytes stand at twice as far a place.
static void spreadParts(KernelView &view, const ByteDot &dot, Value row) {
  Code &code = view.code;
  Type byte = view.memory.aType;
  Value whole = countWholeTerms(view), bytes = locateBytes(view, dot, row);
  auto move = [&](int64_t count) {
    return [&, count](Value term) {
      Value loaded = code.load(VectorType::get(count, byte), code.at(bytes, byte, term));
      code.store(dot.pack(code, loaded), code.at(row, byte, code.multiply(term, dot.getParts())));
    };
  };
  int64_t group = getInterleavedTerms(byte);
  Value end = code.multiply(code.divide(whole, kPanelColumns), kPanelColumns);
  code.loop(0, end, kPanelColumns, move(kPanelColumns));
  code.loop(end, whole, group, move(group));
}

/// Puts the sum of a packed row of bytes at its end.
static void sumIntegers(KernelView &view, Value row) {
  Code &code = view.code;
  Type byte = view.memory.aType, number = code.getI32Type();
  Value terms = view.memory.contracted.value;
  Value end = code.multiply(code.divide(terms, kPanelColumns), kPanelColumns);
  Value zeros = code.spread(code.constant(number, int64_t(0)), kPanelColumns);
  Value sums = code.loop(code.constant(0), end, kPanelColumns, zeros,
                         [&](Value term, ValueRange carried) {
                           Value bytes = code.load(VectorType::get(kPanelColumns, byte), code.at(row, byte, term));
                           return SmallVector<Value>{code.add(carried[0], code.extendSign(bytes, number))};
                         })
                   .front();
  Value sum = code.create<vector::ReductionOp>(vector::CombiningKind::ADD, sums);
  sum = code.loop(end, terms, 1, sum,
                  [&](Value term, ValueRange carried) {
                    Value element = code.extendSign(code.load(byte, code.at(row, byte, term)), number);
                    return SmallVector<Value>{code.add(carried[0], element)};
                  })
            .front();
  code.store(sum, getRowSum(view, row));
}

/// Calls `pack` with the first unit of each run of kPanelColumns from `low` on that has rows of one matrix only, and
/// `packOne` with each unit beside them.
static void forEachRun(Code &code, Value rows, Value low, Value high, function_ref<void(Value)> pack,
                       function_ref<void(Value)> packOne) {
  // Where a has no rows, there are no units.
  rows = code.max(rows, 1);
  Value lanes = code.constant(kPanelColumns);
  code.loop(code.divide(low, rows), code.ceilDivide(high, rows), 1, [&](Value matrix) {
    Value first = code.multiply(matrix, rows);
    Value begin = code.max(low, first), end = code.min(high, code.add(first, rows));
    Value runs = code.divide(code.subtract(end, begin), lanes), whole = code.add(begin, code.multiply(runs, lanes));
    code.loop(begin, whole, kPanelColumns, pack);
    code.loop(whole, end, 1, packOne);
  });
}

void cpu::emitPackedRows(KernelView &view, const ByteDot &dot, Value low, Value high) {
  Code &code = view.code;
  // Only batches that move a count; the others have one matrix in common.
  KernelLoops all = view.loops;
  llvm::erase_if(view.loops.batches, [](const contraction::Loop &loop) { return loop.strides[kA].is(0); });
  Value rows = view.loops.m.size.value;
  auto getRow = [&](Value unit) {
    return code.at(getPackedRows(view), view.memory.aType, code.multiply(unit, view.memory.rowLength.value));
  };
  auto packAt = [&](Value unit, void (*pack)(KernelView &, Value, Value)) {
    SmallVector<Value> batch = view.splitBatch(code.divide(unit, rows));
    Value offset = code.multiply(code.remainder(unit, rows), view.loops.m.strides[kA].value);
    Value source = code.at(view.atBatch(kA, batch), view.loops.operands[kA].elementType, offset);
    Value target = getRow(unit);
    pack(view, source, view.loops.isInteger() ? locateBytes(view, dot, target) : target);
  };
  auto packOne = [&](Value unit) { packAt(unit, packRow); };
  bool areTermsContiguous = view.loops.contracted.back().strides[kA].is(1);
  if (view.loops.m.strides[kA].is(1) && !areTermsContiguous)
    forEachRun(
        code, rows, low, high, [&](Value unit) { packAt(unit, packNeighbours); }, packOne);
  else
    code.loop(low, high, 1, packOne);
  if (view.loops.isInteger())
    code.loop(low, high, 1, [&](Value unit) {
      Value row = getRow(unit);
      padIntegers(view, locateBytes(view, dot, row));
      if (dot.hasExcess())
        sumIntegers(view, row);
      if (dot.getParts() > 1)
        spreadParts(view, dot, row);
    });
  view.loops = all;
}
