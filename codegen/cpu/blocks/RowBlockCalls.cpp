// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop over blocks, and what each kernel is given of a block.

#include "codegen/cpu/blocks/RowBlockCalls.h"

#include "codegen/blocks/RowAccesses.h"
#include "codegen/kernels/ArgumentBuffers.h"
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
struct BlockNumbers {
  static constexpr unsigned kCount = 4;
  /// Rows of a batch, and of a block; blocks of a batch; groups of panels of the product.
  Value rows, blockRows, batchBlocks, groups;

  explicit BlockNumbers(ValueRange values)
      : rows(values[0]), blockRows(values[1]), batchBlocks(values[2]), groups(values[3]) {}
  /// The first row of a block among the rows of all batches, and the end of its rows.
  std::pair<Value, Value> findRows(Code &code, Value block) const {
    Value row = code.multiply(code.remainder(block, batchBlocks), blockRows);
    Value batchRow = code.multiply(code.divide(block, batchBlocks), rows);
    return {code.add(batchRow, row), code.add(batchRow, code.min(code.add(row, blockRows), rows))};
  }
};
} // namespace

/// Local rows of all blocks of a task lie where those of its first block do.
void RowBlockCalls::callBlocks(Code &code, const Record &record, ValueRange visible, Value low, Value high) {
  BlockNumbers numbers(visible.take_back(BlockNumbers::kCount));
  Value lowest = numbers.findRows(code, low).first;
  code.loop(low, high, 1, [&](Value block) {
    auto [first, end] = numbers.findRows(code, block);
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
        getProductFunctions().callBlock(code, values, numbers.blockRows, numbers.groups, block, first, end);
      else
        static_cast<RowFunctions &>(*member->code)
            .callRows(code, member->use.op->getLoc(), values, code.multiply(first, count), code.multiply(end, count));
    }
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
  Value rows = loops.m.size.value, blockRows = code.constant(getBlockRows());
  Value batchBlocks = code.ceilDivide(rows, blockRows), allRows = loops.countWork(builder, loc).pieces;
  Value blocks = code.multiply(batchBlocks, code.divide(allRows, rows));
  Value terms = code.multiply(code.multiply(blockRows, loops.n.size.value), memory.contracted.value);
  record.values.append({rows, blockRows, batchBlocks, functions.countGroups(code, memory)});
  functions.emitBlockTasks(use, place, record.values, {blocks, functions.countTaskUnits(code, blocks, terms)},
                           [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
                             Code inner(at, loc);
                             callBlocks(inner, record, visible, low, high);
                           });
}
