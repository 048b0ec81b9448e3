// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the row kernels around each product that may run with it block by block, and puts them together. Not: whether a
// target does run them so.

#include "codegen/blocks/Passes.h"
#include "codegen/blocks/RowAccesses.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::resid::blocks {
#define GEN_PASS_DEF_FORMROWBLOCKS
#include "codegen/blocks/Passes.h.inc"
} // namespace mlir::resid::blocks

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::blocks;

namespace {

/// A kernel that runs by blocks of rows.
struct Member {
  Operation *kernel;
  SmallVector<BufferAccess> accesses;
  /// How many of its rows are one row of the product.
  int64_t rowCount = 1;
};

/// A product and the row kernels that join it, in the order they run in. Nothing stands between them.
class RowBlocksFormer {
public:
  explicit RowBlocksFormer(contraction::KernelOp product)
      : product(product), members({{product, getKernelAccesses(product)}}) {}

  /// Puts the kernels into one op, if there are several.
  void form();
  /// Why a row kernel that uses the product's rows, or makes them, stays apart; empty where none does.
  StringRef getRefusal() const { return refusal; }

private:
  rows::KernelOp findReader() const;
  rows::KernelOp findWriter() const;
  std::optional<Member> matchRows(rows::KernelOp kernel) const;
  bool join(rows::KernelOp kernel, bool isAfter);
  bool bringNext(Operation *kernel, bool isAfter);
  bool isRefused(rows::KernelOp kernel) const { return llvm::is_contained(refused, kernel); }
  void addLocals(contraction::RowBlocksOp blocks) const;
  bool refuse(StringRef reason) {
    refusal = reason;
    return false;
  }

  contraction::KernelOp product;
  SmallVector<Member> members;
  SmallVector<rows::KernelOp> refused;
  StringRef refusal;
};

} // namespace

/// The row kernels at an op: itself, or those that an earlier product has.
static SmallVector<rows::KernelOp> getRowKernels(Operation *op) {
  if (auto kernel = dyn_cast<rows::KernelOp>(op))
    return {kernel};
  auto blocks = dyn_cast<contraction::RowBlocksOp>(op);
  return blocks ? llvm::to_vector(blocks.getBody().getOps<rows::KernelOp>()) : SmallVector<rows::KernelOp>();
}

/// The first row kernel after the members that reads what one of them writes.
rows::KernelOp RowBlocksFormer::findReader() const {
  for (Operation *op = members.back().kernel->getNextNode(); op; op = op->getNextNode())
    for (rows::KernelOp kernel : getRowKernels(op))
      if (!isRefused(kernel) && llvm::any_of(members, [&](const Member &member) {
            return isReadBy(member.accesses, getKernelAccesses(kernel));
          }))
        return kernel;
  return nullptr;
}

/// The last row kernel before the members that writes a factor of the product. What writes other operands of the
/// members joins too where the product is thin: there it is rows that take the time.
rows::KernelOp RowBlocksFormer::findWriter() const {
  bool isThin = blocks::isThin(product);
  for (Operation *op = members.front().kernel->getPrevNode(); op; op = op->getPrevNode())
    for (rows::KernelOp kernel : getRowKernels(op)) {
      SmallVector<BufferAccess> written = getKernelAccesses(kernel);
      if (!isRefused(kernel) && llvm::any_of(members, [&](const Member &member) {
            ArrayRef<BufferAccess> read = member.accesses;
            return isThin ? isReadBy(written, read) : member.kernel == product && isReadBy(written, read.take_front(2));
          }))
        return kernel;
    }
  return nullptr;
}

static bool mayBeSwapped(ArrayRef<BufferAccess> some, ArrayRef<BufferAccess> others) {
  return llvm::all_of(some, [&](const BufferAccess &access) {
    return llvm::all_of(others, [&](const BufferAccess &other) { return blocks::mayBeSwapped(access, other); });
  });
}

/// Moves what stands between the members and a kernel in front of both, or after both. That changes nothing where it is
/// done before, or after, what is skipped, or touches other memory.
bool RowBlocksFormer::bringNext(Operation *kernel, bool isAfter) {
  Operation *first = isAfter ? members.front().kernel : kernel, *last = isAfter ? kernel : members.back().kernel;
  Operation *begin = isAfter ? members.back().kernel : kernel, *end = isAfter ? kernel : members.front().kernel;
  // What runs before what stands between, and after it.
  SmallVector<BufferAccess> before, after, staying;
  for (const Member &member : members)
    llvm::append_range(isAfter ? before : after, member.accesses);
  llvm::append_range(isAfter ? after : before, getKernelAccesses(kernel));
  SmallVector<Operation *> front, back;
  auto needsBack = [&](Operation *op) {
    return llvm::any_of(back, [&](Operation *other) {
      return llvm::any_of(other->getUsers(), [&](Operation *user) { return op->isAncestor(user); });
    });
  };
  for (Operation *op = begin->getNextNode(); op != end; op = op->getNextNode()) {
    BufferAccesses accesses = isMemoryEffectFree(op) ? SmallVector<BufferAccess>() : getAccesses(op);
    if (!accesses)
      return false;
    if (!needsBack(op) && ::mayBeSwapped(*accesses, before) && ::mayBeSwapped(*accesses, staying)) {
      front.push_back(op);
      continue;
    }
    if (!::mayBeSwapped(*accesses, after))
      return false;
    back.push_back(op);
    llvm::append_range(staying, *accesses);
  }
  for (const Member &member : members)
    if (!isAfter && needsBack(member.kernel))
      return false;
  if (isAfter && needsBack(kernel))
    return false;
  for (Operation *op : front)
    op->moveBefore(first);
  for (Operation *op : llvm::reverse(back))
    op->moveAfter(last);
  return true;
}

/// The kernel with all of its loops over rows, or with the first of them, so that its rows are those of the members.
std::optional<Member> RowBlocksFormer::matchRows(rows::KernelOp kernel) const {
  auto agree = [&](ArrayRef<BufferAccess> accesses) {
    return llvm::all_of(accesses, [&](const BufferAccess &access) {
      return llvm::all_of(members, [&](const Member &member) {
        return llvm::all_of(member.accesses, [&](const BufferAccess &other) { return agreeOnRows(access, other); });
      });
    });
  };
  int64_t rowCount = 1;
  OperandRange loops = kernel.getRowDims();
  for (unsigned rowLoops = loops.size(); rowLoops > 0; --rowLoops) {
    SmallVector<BufferAccess> accesses = getKernelAccesses(kernel, rowLoops);
    if (agree(accesses))
      return Member{kernel, accesses, rowCount};
    std::optional<int64_t> size = getConstantIntValue(loops[rowLoops - 1]);
    if (!size || *size == 0 || !blocks::isThin(product))
      break;
    rowCount *= *size;
  }
  return std::nullopt;
}

bool RowBlocksFormer::join(rows::KernelOp kernel, bool isAfter) {
  if (isa<contraction::RowBlocksOp>(kernel->getParentOp()))
    return refuse("that runs with another product");
  if (!hasRows(product))
    return refuse("the product's result has no rows that one of its factors does not know");
  // Where rows take the time, blocks may be cut as sums down the rows want them.
  if (kernel.hasAccumulated() && !blocks::isThin(product))
    return refuse("a sum down the rows needs all of them");
  std::optional<Member> member = matchRows(kernel);
  if (!member)
    return refuse("a row of one needs other rows of the other");
  if (kernel.hasAccumulated() && member->rowCount != 1)
    return refuse("a sum adds up several rows for each of the other");
  if (!bringNext(kernel, isAfter))
    return refuse("what stands between uses the same memory");
  members.insert(isAfter ? members.end() : members.begin(), std::move(*member));
  return true;
}

/// Names the temporaries that these kernels alone use, each row for itself.
void RowBlocksFormer::addLocals(contraction::RowBlocksOp blocks) const {
  std::function<bool(Value)> isLocal = [&](Value buffer) {
    return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
      return user->getParentOp() == blocks || isa<memref::DimOp>(user) ||
             ((kernels::isReshape(user) || isa<memref::SubViewOp>(user)) && isLocal(user->getResult(0)));
    });
  };
  llvm::MapVector<Value, int64_t> locals;
  for (const Member &member : members)
    for (const BufferAccess &access : member.accesses) {
      Value buffer = kernels::skipReshapes(access.buffer);
      if (!access.isWrite || !access.rowDimensions || !buffer.getDefiningOp<memref::AllocOp>() || !isLocal(buffer))
        continue;
      if (std::optional<int64_t> bytes = countRowBytes(access))
        locals[buffer] = *bytes;
    }
  blocks.getLocalsMutable().assign(llvm::to_vector(llvm::make_first_range(locals)));
  blocks.setRowBytes(llvm::to_vector(llvm::make_second_range(locals)));
}

void RowBlocksFormer::form() {
  auto joinReaders = [&] {
    while (rows::KernelOp reader = findReader())
      if (!join(reader, /*isAfter=*/true))
        refused.push_back(reader);
  };
  joinReaders();
  while (rows::KernelOp writer = findWriter())
    if (!join(writer, /*isAfter=*/false))
      refused.push_back(writer);
  // What writers write may be read by others, which came between.
  if (blocks::isThin(product))
    joinReaders();
  if (members.size() == 1)
    return;
  OpBuilder builder(members.front().kernel);
  auto blocks = contraction::RowBlocksOp::create(builder, product.getLoc(), ValueRange());
  Block *body = builder.createBlock(&blocks.getBody());
  SmallVector<int64_t> rowCounts;
  for (const Member &member : members) {
    member.kernel->moveBefore(body, body->end());
    rowCounts.push_back(member.rowCount);
  }
  if (llvm::any_of(rowCounts, [](int64_t count) { return count != 1; }))
    blocks.setRowCounts(rowCounts);
  if (llvm::any_of(blocks.getBody().getOps<rows::KernelOp>(),
                   [](rows::KernelOp kernel) { return kernel.hasAccumulated(); }))
    product.setAnyRows(true);
  addLocals(blocks);
}

namespace {
struct FormRowBlocks : public blocks::impl::FormRowBlocksBase<FormRowBlocks> {
  using FormRowBlocksBase::FormRowBlocksBase;

  void runOnOperation() override {
    // What projects streams reads the longest rows there are, and is the first to have what writes them in its blocks.
    SmallVector<contraction::KernelOp> products, others;
    getOperation()->walk([&](contraction::KernelOp product) {
      if (product.hasPureBufferSemantics() && !isa<contraction::RowBlocksOp>(product->getParentOp()))
        (product.getRowScale() ? products : others).push_back(product);
    });
    llvm::append_range(products, others);
    for (contraction::KernelOp product : products) {
      RowBlocksFormer former(product);
      former.form();
      if (record && !former.getRefusal().empty())
        product->setAttr(kRowBlocksRefusal, StringAttr::get(&getContext(), former.getRefusal()));
    }
  }
};
} // namespace
