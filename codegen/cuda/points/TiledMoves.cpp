// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/TiledMoves.h"

#include "codegen/cuda/points/PointEmitter.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;

/// Rows and columns of a tile. A row in shared memory has one place more, so that columns lie in different banks.
static constexpr int64_t kMoveTile = 32, kMoveStride = kMoveTile + 1;
/// A warp has a row of the tile; a thread has every eighth row.
static constexpr int64_t kMoveThreads = 256, kMoveWarps = kMoveThreads / kWarpThreads;
/// Loops that are known to be shorter have no tiles.
static constexpr int64_t kLeastTiled = 8;
static constexpr int64_t kMostStaged = 4;

//===------------------------------------------- which nests ------------------------------------------------------===//

std::optional<TiledMove> TiledMove::find(linalg::GenericOp op) {
  SmallVector<unsigned> points = findPointLoops(op);
  if (points.size() < 2 || points.size() != op.getNumLoops())
    return std::nullopt;
  TiledMove move{points.back(), points.back(), {}};
  for (OpOperand &init : op.getDpsInitsMutable())
    if (findFastLoop(op, init) != move.written)
      return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<unsigned> fast = findFastLoop(op, *input);
    bool isAcross = fast && *fast != move.written && op.getMatchingIndexingMap(input).isFunctionOfDim(move.written) &&
                    op.payloadUsesValueFromOperand(input);
    bool isFirst = move.staged.empty();
    if (!isAcross || (!isFirst && *fast != move.read) || int64_t(move.staged.size()) == kMostStaged)
      continue;
    move.read = *fast;
    move.staged.push_back(input->getOperandNumber());
  }
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isLong = [&](unsigned loop) { return ShapedType::isDynamic(sizes[loop]) || sizes[loop] >= kLeastTiled; };
  return !move.staged.empty() && isLong(move.written) && isLong(move.read) ? std::optional(move) : std::nullopt;
}

//===------------------------------------------- the kernel -------------------------------------------------------===//

/// How many tiles, or steps of other loops, each loop has; i64.
static SmallVector<Value> countTiles(Code &code, ArrayRef<Value> sizes, const TiledMove &move) {
  SmallVector<Value> counts(sizes);
  for (unsigned loop : {move.written, move.read})
    counts[loop] = code.ceilDivide(sizes[loop], code.constant(kMoveTile));
  return counts;
}

namespace {

class MoveEmitter {
public:
  MoveEmitter(Code &code, linalg::GenericOp op, const TiledMove &move);

  void emit(Value tile);

private:
  /// Calls `body` with the place in shared memory (i64) and the indices of each point of the thread, of which
  /// neighbouring threads have neighbours along the loop `along`.
  void forEachPoint(unsigned along, function_ref<void(Value place, ArrayRef<Value> indices)> body);

  Code &code;
  linalg::GenericOp op;
  const TiledMove &move;
  PointEmitter points;
  SmallVector<Value> sizes, counts, first;
  StagedInputs staged;
  Value lane, warp;
};

} // namespace

MoveEmitter::MoveEmitter(Code &code, linalg::GenericOp op, const TiledMove &move)
    : code(code), op(op), move(move), points(code, op), sizes(computeSizes(code, op)),
      counts(countTiles(code, sizes, move)), staged(code, op, move.staged, kMoveTile * kMoveStride) {
  Value thread = getNumber<NVVM::ThreadIdXOp>(code);
  lane = code.remainder(thread, kWarpThreads), warp = code.divide(thread, kWarpThreads);
}

void MoveEmitter::forEachPoint(unsigned along, function_ref<void(Value place, ArrayRef<Value> indices)> body) {
  for (int64_t row = 0; row < kMoveTile; row += kMoveWarps) {
    Value line = code.add(warp, row);
    // Rows of shared memory are those of the loop that is written along.
    bool isWritten = along == move.written;
    SmallVector<Value> numbers(first);
    Value &written = numbers[move.written], &read = numbers[move.read];
    written = code.add(written, isWritten ? lane : line);
    read = code.add(read, isWritten ? line : lane);
    auto isInside = [&](unsigned loop) { return code.compare(arith::CmpIPredicate::slt, numbers[loop], sizes[loop]); };
    code.choose(code.both(isInside(move.written), isInside(move.read)), [&] {
      SmallVector<Value> indices = llvm::map_to_vector(numbers, [&](Value number) -> Value {
        return arith::IndexCastOp::create(code, code.getIndexType(), number);
      });
      body(code.add(code.multiply(isWritten ? lane : line, kMoveStride), isWritten ? line : lane), indices);
    });
  }
}

void MoveEmitter::emit(Value tile) {
  // Neighbouring blocks have neighbouring tiles of what is written.
  SmallVector<unsigned> order = findPointLoops(op);
  SmallVector<Value> ordered = llvm::map_to_vector(order, [&](unsigned loop) { return counts[loop]; });
  first.assign(sizes.size(), Value());
  for (auto [loop, number] : llvm::zip_equal(order, code.delinearize(tile, ordered)))
    first[loop] = loop == move.written || loop == move.read ? code.multiply(number, kMoveTile) : number;
  forEachPoint(move.read, [&](Value place, ArrayRef<Value> indices) { staged.store(points, place, indices); });
  code.create<NVVM::Barrier0Op>();
  forEachPoint(move.written, [&](Value place, ArrayRef<Value> indices) {
    staged.load(points, place);
    points.emitAt(llvm::to_vector(indices));
  });
  code.create<NVVM::Barrier0Op>();
}

void TiledMoveKernel::emit() {
  Type i64 = IntegerType::get(getFirst().op->getContext(), 64);
  addFunction("__tiles", i64, kMoveThreads, /*registers=*/0, [&](Code &code, KernelBody &body) {
    linalg::GenericOp op = nest.rebuild(code, body);
    MoveEmitter emitter(code, op, move);
    Value block = getNumber<NVVM::BlockIdXOp>(code), blocks = getNumber<NVVM::GridDimXOp>(code);
    code.rolledLoop(block, body.getArgumentFromEnd(1), blocks, [&](Value tile) { emitter.emit(tile); });
    op.erase();
  });
}

LogicalResult TiledMoveKernel::launch(KernelUse &use) {
  Code code(OpBuilder(use.op), use.op->getLoc());
  SmallVector<Value> arguments = functions.getArguments(code, use);
  Value tiles = code.constant(1);
  for (Value count : countTiles(code, computeSizes(code, use.get<linalg::GenericOp>()), move))
    tiles = code.multiply(tiles, count);
  arguments.push_back(tiles);
  return launchFunction(0, use.op, use, tiles, code.constant(kMoveThreads), arguments);
}
