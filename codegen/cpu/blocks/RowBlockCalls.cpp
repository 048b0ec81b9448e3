// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop over blocks, and what each kernel is given of a block.

#include "codegen/cpu/blocks/RowBlockCalls.h"

#include "codegen/blocks/RowAccesses.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/rows/RowPartition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

/// Whether a buffer is a temporary, or a part of its rows.
static bool isPartOf(Value buffer, Value whole) {
  whole = kernels::skipReshapes(whole);
  Value pointer = kernels::findArgumentPointer(whole);
  while (true) {
    buffer = kernels::skipReshapes(buffer);
    if (buffer == whole || (pointer && pointer == kernels::findArgumentPointer(buffer)))
      return true;
    auto part = buffer.getDefiningOp<memref::SubViewOp>();
    if (!part)
      return false;
    buffer = part.getSource();
  }
}

int64_t cpu::countBlockRows(contraction::KernelOp product, int64_t microRows) {
  // The rows of a and b's panels are in the second level of the cache, beside rows that come and go.
  constexpr int64_t kBlockBytes = 256 << 10, kLeastRows = 8;
  // Products run through whole micro-kernels but for the last rows of all.
  if (!blocks::isThin(product))
    return llvm::alignDown(kBlockRows, microRows);
  int64_t longest = 1;
  for (const blocks::BufferAccess &access : blocks::getKernelAccesses(product))
    if (std::optional<int64_t> bytes = access.rowDimensions ? blocks::countRowBytes(access) : std::nullopt)
      longest = std::max(longest, *bytes);
  int64_t fitting = llvm::bit_floor(static_cast<uint64_t>(kBlockBytes / longest));
  return llvm::alignTo(std::clamp(fitting, kLeastRows, kBlockRows), microRows);
}

RowBlockCalls::RowBlockCalls(RowBlocksOp blocks) {
  for (auto [local, bytes] : llvm::zip_equal(blocks.getLocals(), blocks.getRowBytes()))
    locals.emplace_back(local, bytes);
  for (Operation &op : blocks.getBody().front())
    ops.push_back(&op);
  rowCounts.assign(blocks.getRowCounts().begin(), blocks.getRowCounts().end());
  rowCounts.resize(ops.size(), 1);
  for (Operation *op : ops)
    op->moveBefore(blocks);
  blocks.erase();
}

kernels::LoweredKernel &RowBlockCalls::getProduct() const {
  return **llvm::find_if(members, [&](const auto *member) { return isProduct(member); });
}

/// Row kernels have no rows where rows have no columns.
Value RowBlockCalls::hasManyBlocks(Code &code, int64_t leastBlocks) {
  auto countRows = [&](const kernels::LoweredKernel &member) {
    return member.use.indexing->countWork(code, code.getLoc()).pieces;
  };
  Value rows = countRows(getProduct());
  for (auto [member, count] : llvm::zip_equal(members, rowCounts))
    if (!isProduct(member))
      rows = code.min(rows, code.divide(countRows(*member), code.constant(count)));
  return code.isAtMost(leastBlocks * getBlockRows(), rows);
}

LogicalResult RowBlockCalls::launch(int64_t leastBlocks) {
  if (leastBlocks == 0)
    return launchWhole();
  OpBuilder builder(ops.back());
  Location loc = getProduct().use.op->getLoc();
  Code code(builder, loc);
  Value areMany = hasManyBlocks(code, leastBlocks);
  APInt known;
  if (matchPattern(areMany, m_ConstantInt(&known)) && known.isZero())
    return launchWhole();
  if (matchPattern(areMany, m_ConstantInt(&known))) {
    launchBlocks(ops.back());
    return success();
  }
  auto branch = scf::IfOp::create(builder, loc, areMany, /*withElseRegion=*/true);
  launchBlocks(branch.thenBlock()->getTerminator());
  for (Operation *op : ops)
    op->moveBefore(branch.elseBlock()->getTerminator());
  return launchWhole();
}

LogicalResult RowBlockCalls::launchWhole() {
  return success(llvm::all_of(
      members, [](kernels::LoweredKernel *member) { return succeeded(member->code->launch(member->use)); }));
}

void RowBlockCalls::addPart(Record &record, ValueRange values, ArrayRef<BufferPointer> buffers) const {
  Part part{record.values.size(), values.size(), {}};
  for (auto [index, value] : llvm::enumerate(values))
    for (auto [local, rowBytes] : locals)
      if (llvm::any_of(buffers, [&, value = value, local = local](const BufferPointer &buffer) {
            return buffer.second == value && isPartOf(buffer.first, local);
          }))
        part.locals.emplace_back(index, rowBytes);
  record.parts.push_back(std::move(part));
  llvm::append_range(record.values, values);
}

/// Whether another kernel of the block reads what a row kernel writes, and rows take the time. They are then in the
/// cache for it.
bool RowBlockCalls::isReadInBlock(rows::KernelOp writer) const {
  if (!blocks::isThin(getProduct().use.get<contraction::KernelOp>()))
    return false;
  SmallVector<blocks::BufferAccess> written = blocks::getKernelAccesses(writer);
  return llvm::any_of(members, [&](const kernels::LoweredKernel *member) {
    return member->use.op != writer && blocks::isReadBy(written, blocks::getKernelAccesses(member->use.op));
  });
}

/// Whether there are sums down the rows. All of them are of the rows of the product.
bool RowBlockCalls::hasSums() const {
  return llvm::any_of(members, [&](const kernels::LoweredKernel *member) {
    return !isProduct(member) && member->use.get<rows::KernelOp>().hasAccumulated();
  });
}

RowBlockCalls::Record RowBlockCalls::collectRecord(OpBuilder &builder) {
  Record record;
  for (kernels::LoweredKernel *member : members) {
    SmallVector<BufferPointer> buffers;
    kernels::KernelUse &use = member->use;
    if (isProduct(member)) {
      auto &loops = use.as<KernelLoops>();
      for (auto [operand, pointer] : llvm::zip_equal(loops.operands, loops.pointers))
        buffers.emplace_back(operand.buffer, pointer);
      addPart(record, getProductFunctions().getArguments(builder, use), buffers);
      continue;
    }
    auto kernel = use.get<rows::KernelOp>();
    auto operands = llvm::concat<Value>(SmallVector<Value>(kernel.getInputs()), SmallVector<Value>(kernel.getInits()));
    for (auto [operand, address] : llvm::zip(operands, use.as<rows::KernelAddresses>().operands))
      buffers.emplace_back(operand, address.pointer);
    addPart(record, static_cast<RowFunctions &>(*member->code).makeValues(builder, use, isReadInBlock(kernel)),
            buffers);
  }
  return record;
}

namespace {
/// How rows are cut into blocks; each number an i64. They stand at the end of a record, in this order.
struct TaskNumbers {
  static constexpr unsigned kCount = 4;
  /// Rows of a batch, of all batches, and of a block; groups of panels of the product.
  Value batchRows, rows, blockRows, groups;

  explicit TaskNumbers(ValueRange values)
      : batchRows(values[0]), rows(values[1]), blockRows(values[2]), groups(values[3]) {}
  /// Tasks are cut where sums down the rows are, or else where blocks are.
  Value countUnits(Code &code, bool hasSums) const {
    if (hasSums)
      return rows::RowPartition::create(code, rows).lanes;
    return code.multiply(code.ceilDivide(batchRows, blockRows), code.divide(rows, batchRows));
  }
  /// The rows [first, end) of the units [low, high), among those of all batches.
  std::pair<Value, Value> getRows(Code &code, bool hasSums, Value low, Value high) const {
    if (hasSums)
      return rows::RowPartition::create(code, rows).getRows(code, low, high);
    Value batchBlocks = code.ceilDivide(batchRows, blockRows);
    auto getFirst = [&](Value block) {
      Value before = code.multiply(code.divide(block, batchBlocks), batchRows);
      return code.add(before, code.multiply(code.remainder(block, batchBlocks), blockRows));
    };
    return {getFirst(low), getFirst(high)};
  }
};
} // namespace

/// Local rows of all blocks of a task lie where those of its first block do.
void RowBlockCalls::callBlock(Code &code, const Record &record, ValueRange visible, const RowBlock &block,
                              Value lowest) {
  Value before = code.multiply(block.batch, block.batchRows);
  Value first = code.add(before, block.first), end = code.add(before, block.end);
  Value back = code.subtract(lowest, first);
  auto take = [&](const Part &part) {
    SmallVector<Value> taken(visible.slice(part.first, part.count));
    for (auto [index, rowBytes] : part.locals)
      taken[index] = code.at(taken[index], code.getI8Type(), code.multiply(back, rowBytes));
    return taken;
  };
  for (auto [member, count, part] : llvm::zip_equal(members, rowCounts, record.parts)) {
    SmallVector<Value> values = take(part);
    if (isProduct(member))
      getProductFunctions().callBlock(code, values, block, TaskNumbers(visible.take_back(TaskNumbers::kCount)).groups);
    else
      static_cast<RowFunctions &>(*member->code)
          .callRows(code, member->use.op->getLoc(), values, lowest, code.multiply(first, count),
                    code.multiply(end, count));
  }
}

/// The blocks of some units.
void RowBlockCalls::callBlocks(Code &code, const Record &record, ValueRange visible, Value low, Value high) {
  TaskNumbers numbers(visible.take_back(TaskNumbers::kCount));
  Value first, end;
  std::tie(first, end) = numbers.getRows(code, hasSums(), low, high);
  code.loop(code.divide(first, numbers.batchRows), code.ceilDivide(end, numbers.batchRows), 1, [&](Value batch) {
    Value before = code.multiply(batch, numbers.batchRows);
    Value lowRow = code.max(code.subtract(first, before), 0);
    Value highRow = code.min(code.subtract(end, before), numbers.batchRows);
    code.loop(lowRow, highRow, numbers.blockRows, [&](Value row) {
      Value next = code.min(code.add(row, numbers.blockRows), highRow);
      callBlock(code, record, visible, {batch, numbers.batchRows, row, next}, first);
    });
  });
}

void RowBlockCalls::launchBlocks(Operation *place) {
  OpBuilder builder(place);
  kernels::KernelUse &use = getProduct().use;
  Location loc = use.op->getLoc();
  Code code(builder, loc);
  const KernelLoops &loops = use.as<KernelLoops>();
  ContractionFunctions &functions = getProductFunctions();
  PanelMemory memory = PanelMemory::create(builder, loc, loops);
  functions.emitPanelCalls(use, place, memory);
  Record record = collectRecord(builder);
  SmallVector<Value> numbers = {loops.m.size.value, loops.countWork(builder, loc).pieces, code.constant(getBlockRows()),
                                functions.countGroups(code, memory)};
  llvm::append_range(record.values, numbers);
  Value units = TaskNumbers(numbers).countUnits(code, hasSums());
  Value rows = code.ceilDivide(numbers[1], units);
  Value terms = code.multiply(code.multiply(rows, loops.n.size.value), memory.contracted.value);
  functions.emitBlockTasks(use, place, record.values, {units, functions.countTaskUnits(code, units, terms)},
                           [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                             Code inner(at, loc);
                             callBlocks(inner, record, visible, low, high);
                           });
  for (auto [member, part] : llvm::zip_equal(members, record.parts))
    if (!isProduct(member))
      if (auto &rows = static_cast<RowFunctions &>(*member->code); rows.hasSums())
        rows.emitResultCalls(member->use, place, ArrayRef(record.values).slice(part.first, part.count));
}
