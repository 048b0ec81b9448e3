// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop over blocks, and what each kernel is given of a block.

#include "codegen/cpu/blocks/RowBlockCalls.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

/// Whether two buffers begin at the same element.
static bool beginTogether(Value a, Value b) {
  Value first = kernels::findArgumentPointer(kernels::skipReshapes(a));
  return kernels::skipReshapes(a) == kernels::skipReshapes(b) ||
         (first && first == kernels::findArgumentPointer(kernels::skipReshapes(b)));
}

RowBlockCalls::RowBlockCalls(RowBlocksOp blocks) : product(blocks.getProduct()) {
  for (auto [local, bytes] : llvm::zip_equal(blocks.getLocals(), blocks.getRowBytes()))
    locals.emplace_back(local, bytes);
  for (Operation &op : blocks.getBody().front())
    members.push_back(&op);
  for (Operation *member : members)
    member->moveBefore(blocks);
  blocks.erase();
}

LogicalResult RowBlockCalls::prepare(RowKernels &rowKernels) {
  for (auto kernel : llvm::make_filter_range(members, llvm::IsaPred<rows::KernelOp>)) {
    FailureOr<RowCall> call = rowKernels.add(cast<rows::KernelOp>(kernel));
    if (failed(call))
      return failure();
    rowCalls.push_back(std::move(*call));
  }
  return success();
}

void RowBlockCalls::eraseRowKernels() {
  for (RowCall &call : rowCalls)
    call.use.kernel.erase();
}

Value RowBlockCalls::countRows(LoopCode &code, const KernelLoops &loops) {
  Value count = loops.m.size.value;
  for (const Loop &loop : loops.batches)
    count = code.multiply(count, loop.size.value);
  return count;
}

/// Row kernels have no rows where rows have no columns.
Value RowBlockCalls::hasManyBlocks(LoopCode &code, const ContractionUse &use, int64_t leastBlocks) {
  Value rows = countRows(code, use.loops);
  for (const RowCall &call : rowCalls)
    rows = code.min(rows, call.use.addresses.rows);
  return code.isAtMost(code.constant(leastBlocks * kBlockRows), rows);
}

void RowBlockCalls::emitCalls(ContractionUse &use, ContractionFunctions &functions, RowKernels &rowKernels,
                              int64_t leastBlocks) {
  if (leastBlocks == 0)
    return emitWhole(use, functions, rowKernels);
  OpBuilder builder(members.back());
  LoopCode code(builder, product.getLoc());
  Value areMany = hasManyBlocks(code, use, leastBlocks);
  APInt known;
  if (matchPattern(areMany, m_ConstantInt(&known)))
    return known.isZero() ? emitWhole(use, functions, rowKernels)
                          : emitBlocks(use, functions, rowKernels, members.back());
  auto branch = scf::IfOp::create(builder, product.getLoc(), areMany, /*withElseRegion=*/true);
  emitBlocks(use, functions, rowKernels, branch.thenBlock()->getTerminator());
  for (Operation *member : members)
    member->moveBefore(branch.elseBlock()->getTerminator());
  emitWhole(use, functions, rowKernels);
}

void RowBlockCalls::emitWhole(ContractionUse &use, ContractionFunctions &functions, RowKernels &rowKernels) {
  for (RowCall &call : rowCalls)
    rowKernels.emitCalls(call);
  functions.emitCalls(use);
}

void RowBlockCalls::addPart(Record &record, ValueRange values, ArrayRef<BufferPointer> buffers) const {
  Part part{record.values.size(), values.size(), {}};
  for (auto [index, value] : llvm::enumerate(values))
    for (auto [local, rowBytes] : locals)
      if (llvm::any_of(buffers, [&, value = value, local = local](const BufferPointer &buffer) {
            return buffer.second == value && beginTogether(buffer.first, local);
          }))
        part.locals.emplace_back(index, rowBytes);
  record.parts.push_back(std::move(part));
  llvm::append_range(record.values, values);
}

RowBlockCalls::Record RowBlockCalls::collectRecord(OpBuilder &builder, ContractionUse &use, RowKernels &rowKernels) {
  Record record;
  auto call = rowCalls.begin();
  for (Operation *member : members) {
    SmallVector<BufferPointer> buffers;
    if (member == product) {
      for (auto [operand, pointer] : llvm::zip_equal(use.loops.operands, use.pointers))
        buffers.emplace_back(operand.buffer, pointer);
      addPart(record, use.getArguments(), buffers);
      continue;
    }
    auto operands = llvm::concat<Value>(SmallVector<Value>(call->use.kernel.getInputs()),
                                        SmallVector<Value>(call->use.kernel.getInits()));
    for (auto [operand, address] : llvm::zip(operands, call->use.addresses.operands))
      buffers.emplace_back(operand, address.pointer);
    addPart(record, rowKernels.makeValues(builder, *call++), buffers);
  }
  return record;
}

namespace {
/// How rows are cut into blocks; each number an i64. They stand at the end of a record, in this order.
struct BlockNumbers {
  static constexpr unsigned kCount = 4;
  /// Rows of a batch, and of a block; blocks of a batch; groups of panels of the product.
  Value rows, blockRows, batchBlocks, groups;

  explicit BlockNumbers(ValueRange values)
      : rows(values[0]), blockRows(values[1]), batchBlocks(values[2]), groups(values[3]) {}
  /// The first row of a block among the rows of all batches, and the end of its rows.
  std::pair<Value, Value> findRows(LoopCode &code, Value block) const {
    Value row = code.multiply(code.remainder(block, batchBlocks), blockRows);
    Value batchRow = code.multiply(code.divide(block, batchBlocks), rows);
    return {code.add(batchRow, row), code.add(batchRow, code.min(code.add(row, blockRows), rows))};
  }
};
} // namespace

/// Local rows of all blocks of a task lie where those of its first block do.
void RowBlockCalls::callBlocks(LoopCode &code, ContractionFunctions &functions, const Record &record,
                               ValueRange visible, Value low, Value high) {
  BlockNumbers numbers(visible.take_back(BlockNumbers::kCount));
  Value lowest = numbers.findRows(code, low).first;
  code.loop(low, high, 1, [&](Value block) {
    auto [first, end] = numbers.findRows(code, block);
    Value back = code.subtract(lowest, first);
    auto take = [&](const Part &part) {
      SmallVector<Value> taken(visible.slice(part.first, part.count));
      for (auto [index, rowBytes] : part.locals)
        taken[index] = code.at(taken[index], code.builder.getI8Type(), code.multiply(back, code.constant(rowBytes)));
      return taken;
    };
    auto call = rowCalls.begin();
    for (auto [member, part] : llvm::zip_equal(members, record.parts)) {
      if (member == product)
        functions.callBlock(code, take(part), numbers.blockRows, numbers.groups, block, first, end);
      else
        RowKernels::callRows(code.builder, *call++, take(part), first, end);
    }
  });
}

void RowBlockCalls::emitBlocks(ContractionUse &use, ContractionFunctions &functions, RowKernels &rowKernels,
                               Operation *place) {
  OpBuilder builder(place);
  Location loc = product.getLoc();
  LoopCode code(builder, loc);
  PanelMemory memory = PanelMemory::create(builder, loc, use.loops);
  functions.emitPanelCalls(use, place, memory);
  Record record = collectRecord(builder, use, rowKernels);
  Value rows = use.loops.m.size.value, blockRows = code.constant(kBlockRows);
  Value batchBlocks = code.ceilDivide(rows, blockRows);
  Value blocks = code.multiply(batchBlocks, code.divide(countRows(code, use.loops), rows));
  Value terms = code.multiply(code.multiply(blockRows, use.loops.n.size.value), memory.contracted.value);
  record.values.append({rows, blockRows, batchBlocks, functions.countGroups(code, memory)});
  functions.emitBlockTasks(use, place, record.values, {blocks, functions.countTaskUnits(code, blocks, terms)},
                           [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                             LoopCode inner(at, loc);
                             callBlocks(inner, functions, record, visible, low, high);
                           });
}
