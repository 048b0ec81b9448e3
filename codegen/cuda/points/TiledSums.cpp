// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/TiledSums.h"

#include "codegen/cuda/points/PointEmitter.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "codegen/kernels/ElementMemory.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;

/// Rows of a block, and columns of a tile. A row in shared memory has one place more, so that columns lie in different
/// banks.
static constexpr int64_t kSumRows = 128, kSumColumns = kWarpThreads, kSumStride = kSumColumns + 1;
/// Loops that are known to be shorter have no tiles.
static constexpr int64_t kLeastColumns = 16;
/// Of shared memory that each block has on every chip.
static constexpr int64_t kMostSharedBytes = 48 << 10;

std::optional<TiledSum> TiledSum::find(linalg::GenericOp op) {
  SmallVector<unsigned> points = findPointLoops(op);
  if (points.empty() || points.size() + 1 != op.getNumLoops())
    return std::nullopt;
  TiledSum sum;
  while (llvm::is_contained(points, sum.loop))
    ++sum.loop;
  int64_t columns = op.getStaticLoopRanges()[sum.loop], bytes = 0;
  bool isFixed = llvm::none_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isFunctionOfDim(sum.loop);
  });
  if (!isFixed || (!ShapedType::isDynamic(columns) && columns < kLeastColumns))
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    bool isAlong = findFastLoop(op, *input) == sum.loop && op.payloadUsesValueFromOperand(input) &&
                   op.getMatchingIndexingMap(input).isFunctionOfDim(points.back());
    if (!isAlong)
      continue;
    bytes += kSumRows * kSumStride * getElementBytes(getElementTypeOrSelf(input->get().getType()));
    if (bytes > kMostSharedBytes)
      break;
    sum.staged.push_back(input->getOperandNumber());
  }
  return sum.staged.empty() ? std::nullopt : std::optional(sum);
}

namespace {

class SumEmitter {
public:
  SumEmitter(Code &code, linalg::GenericOp op, const TiledSum &sum, Value count);

  /// The rows from number `first` on.
  void emit(Value first);

private:
  void loadTile(Value first, Value column);
  SmallVector<Value> addTile(Value column, SmallVector<Value> indices, ValueRange before);

  Code &code;
  linalg::GenericOp op;
  const TiledSum &sum;
  PointEmitter points;
  StagedInputs staged;
  Value count, columns, thread, lane, warp;
};

} // namespace

SumEmitter::SumEmitter(Code &code, linalg::GenericOp op, const TiledSum &sum, Value count)
    : code(code), op(op), sum(sum), points(code, op), staged(code, op, sum.staged, kSumRows * kSumStride), count(count),
      columns(computeSizes(code, op)[sum.loop]), thread(getNumber<NVVM::ThreadIdXOp>(code)),
      lane(code.remainder(thread, kWarpThreads)), warp(code.divide(thread, kWarpThreads)) {}

/// A warp has a row at a time, and a thread a column of it.
void SumEmitter::loadTile(Value first, Value column) {
  Value own = code.add(column, lane);
  Value isColumn = code.compare(arith::CmpIPredicate::slt, own, columns);
  code.rolledLoop(warp, kSumRows, kSumRows / kWarpThreads, [&](Value row) {
    Value point = code.add(first, row);
    code.choose(code.both(isColumn, code.compare(arith::CmpIPredicate::slt, point, count)), [&] {
      SmallVector<Value> indices = points.getIndices(point);
      indices[sum.loop] = arith::IndexCastOp::create(code, code.getIndexType(), own);
      staged.store(points, code.add(code.multiply(row, kSumStride), lane), indices);
    });
  });
}

SmallVector<Value> SumEmitter::addTile(Value column, SmallVector<Value> indices, ValueRange before) {
  Value end = code.min(code.subtract(columns, column), kSumColumns);
  return code.loop(0, end, 1, before, [&](Value at, ValueRange carried) {
    staged.load(points, code.add(code.multiply(thread, kSumStride), at));
    indices[sum.loop] = arith::IndexCastOp::create(code, code.getIndexType(), code.add(column, at));
    return points.emitBody(indices, carried);
  });
}

/// All threads of a block load tiles and meet at barriers; those that have a row add.
void SumEmitter::emit(Value first) {
  Value point = code.add(first, thread), hasRow = code.compare(arith::CmpIPredicate::slt, point, count);
  SmallVector<Value> indices = points.getIndices(point);
  SmallVector<Type> types =
      llvm::map_to_vector(op.getDpsInits(), [](Value init) { return getElementTypeOrSelf(init); });
  auto createZeros = [&] {
    return llvm::map_to_vector(
        types, [&](Type type) -> Value { return arith::ConstantOp::create(code, code.getZeroAttr(type)); });
  };
  SmallVector<Value> results = code.choose(
      hasRow, types, [&] { return points.loadResults(indices); }, createZeros);
  results = code.rolledLoop(0, columns, kSumColumns, results, [&](Value column, ValueRange carried) {
    loadTile(first, column);
    code.create<NVVM::Barrier0Op>();
    SmallVector<Value> next = code.choose(
        hasRow, types, [&] { return addTile(column, indices, carried); }, [&] { return llvm::to_vector(carried); });
    code.create<NVVM::Barrier0Op>();
    return next;
  });
  code.choose(hasRow, [&] { points.storeResults(indices, results); });
}

void TiledSumKernel::emit() {
  Type i64 = IntegerType::get(getFirst().op->getContext(), 64);
  addFunction("__row_tiles", i64, kSumRows, /*registers=*/0, [&](Code &code, KernelBody &body) {
    linalg::GenericOp op = nest.rebuild(code, body);
    Value count = body.getArgumentFromEnd(1);
    SumEmitter emitter(code, op, sum, count);
    Value block = getNumber<NVVM::BlockIdXOp>(code), blocks = getNumber<NVVM::GridDimXOp>(code);
    code.rolledLoop(code.multiply(block, kSumRows), count, code.multiply(blocks, kSumRows),
                    [&](Value first) { emitter.emit(first); });
    op.erase();
  });
}

LogicalResult TiledSumKernel::launch(KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  SmallVector<Value> arguments = functions.getArguments(code, use);
  Value points = countPoints(code, use.get<linalg::GenericOp>());
  arguments.push_back(points);
  Value blocks = code.ceilDivide(points, code.constant(kSumRows));
  return launchFunction(0, use.op, use, blocks, code.constant(kSumRows), arguments);
}
