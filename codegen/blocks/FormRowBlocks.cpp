// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the row kernels around each product that may run with it block by block, and puts them together. Not: whether a
// target does run them so.

#include "codegen/blocks/Passes.h"
#include "codegen/blocks/RowAccesses.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::resid::blocks {
#define GEN_PASS_DEF_FORMROWBLOCKS
#include "codegen/blocks/Passes.h.inc"
} // namespace mlir::resid::blocks

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::blocks;

namespace {

/// A product and the row kernels that join it, in the order they run in. Nothing stands between them.
class RowBlocksFormer {
public:
  explicit RowBlocksFormer(contraction::KernelOp product) : product(product), members({product}) {}

  /// Puts the kernels into one op, if there are several.
  void form();
  /// Why a row kernel that uses the product's rows, or makes them, stays apart; empty where none does.
  StringRef getRefusal() const { return refusal; }

private:
  rows::KernelOp findReader() const;
  rows::KernelOp findWriter() const;
  bool hasTakenWriter() const;
  bool join(rows::KernelOp kernel, bool isBehind);
  bool bringNext(Operation *kernel, bool isBehind);
  SmallVector<Value> findLocals(Block &body) const;
  bool refuse(StringRef reason) {
    refusal = reason;
    return false;
  }

  contraction::KernelOp product;
  SmallVector<Operation *> members;
  StringRef refusal;
};

} // namespace

static bool writes(Operation *kernel, Value buffer) {
  return llvm::any_of(getKernelAccesses(kernel), [&](const BufferAccess &access) {
    return access.isWrite && kernels::skipReshapes(access.buffer) == kernels::skipReshapes(buffer);
  });
}

/// The first row kernel behind the members that reads what one of them writes.
rows::KernelOp RowBlocksFormer::findReader() const {
  for (Operation *op = members.back()->getNextNode(); op; op = op->getNextNode()) {
    auto kernel = dyn_cast<rows::KernelOp>(op);
    bool reads = kernel && llvm::any_of(kernel.getInputs(), [&](Value input) {
                   return llvm::any_of(members, [&](Operation *member) { return writes(member, input); });
                 });
    if (reads)
      return kernel;
  }
  return nullptr;
}

/// The last row kernel before the product that writes one of its factors.
rows::KernelOp RowBlocksFormer::findWriter() const {
  contraction::KernelOp reader = product;
  for (Operation *op = reader->getPrevNode(); op; op = op->getPrevNode()) {
    auto kernel = dyn_cast<rows::KernelOp>(op);
    if (kernel && (writes(kernel, reader.getA()) || writes(kernel, reader.getB())))
      return kernel;
  }
  return nullptr;
}

/// Moves what stands between the members and a kernel in front of both. That changes nothing where it is done before
/// what is skipped, or touches other memory.
bool RowBlocksFormer::bringNext(Operation *kernel, bool isBehind) {
  Operation *first = isBehind ? members.front() : kernel, *after = isBehind ? members.back() : kernel;
  Operation *end = isBehind ? kernel : members.front();
  SmallVector<BufferAccess> skipped;
  for (Operation *member : isBehind ? ArrayRef(members) : ArrayRef(kernel))
    llvm::append_range(skipped, getKernelAccesses(member));
  SmallVector<Operation *> between;
  for (Operation *op = after->getNextNode(); op != end; op = op->getNextNode()) {
    between.push_back(op);
    if (isMemoryEffectFree(op))
      continue;
    BufferAccesses accesses = getAccesses(op);
    auto isFree = [&](const BufferAccess &access) {
      return llvm::all_of(skipped, [&](const BufferAccess &other) { return mayBeSwapped(access, other); });
    };
    if (!accesses || !llvm::all_of(*accesses, isFree))
      return false;
  }
  for (Operation *op : between)
    op->moveBefore(first);
  return true;
}

bool RowBlocksFormer::join(rows::KernelOp kernel, bool isBehind) {
  if (!hasRows(product))
    return refuse("the product's result has no rows that one of its factors does not know");
  if (kernel.hasAccumulated())
    return refuse("a sum down the rows needs all of them");
  for (const BufferAccess &access : getKernelAccesses(kernel))
    for (Operation *member : members)
      for (const BufferAccess &other : getKernelAccesses(member))
        if (!agreeOnRows(access, other))
          return refuse("a row of one needs other rows of the other");
  if (!bringNext(kernel, isBehind))
    return refuse("what stands between uses the same memory");
  members.insert(isBehind ? members.end() : members.begin(), kernel);
  return true;
}

/// The temporaries that the kernels of `body` alone use, each row for itself.
SmallVector<Value> RowBlocksFormer::findLocals(Block &body) const {
  std::function<bool(Value)> isLocal = [&](Value buffer) {
    return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
      return user->getBlock() == &body || isa<memref::DimOp>(user) ||
             (kernels::isReshape(user) && isLocal(user->getResult(0)));
    });
  };
  SmallVector<Value> locals;
  for (Operation *member : members)
    for (const BufferAccess &access : getKernelAccesses(member)) {
      Value buffer = kernels::skipReshapes(access.buffer);
      if (access.isWrite && access.rowDimensions && countRowBytes(access) && buffer.getDefiningOp<memref::AllocOp>() &&
          isLocal(buffer) && !llvm::is_contained(locals, buffer))
        locals.push_back(buffer);
    }
  return locals;
}

/// Whether a row kernel that writes one of the product's factors has joined an earlier product.
bool RowBlocksFormer::hasTakenWriter() const {
  contraction::KernelOp reader = product;
  for (Operation *op = reader->getPrevNode(); op; op = op->getPrevNode())
    if (auto blocks = dyn_cast<contraction::RowBlocksOp>(op))
      for (auto kernel : blocks.getBody().getOps<rows::KernelOp>())
        if (writes(kernel, reader.getA()) || writes(kernel, reader.getB()))
          return true;
  return false;
}

void RowBlocksFormer::form() {
  while (rows::KernelOp reader = findReader())
    if (!join(reader, /*isBehind=*/true))
      break;
  if (rows::KernelOp writer = findWriter())
    join(writer, /*isBehind=*/false);
  else if (hasTakenWriter())
    refuse("the row kernel before it runs with the product before that");
  if (members.size() == 1)
    return;
  OpBuilder builder(members.front());
  auto blocks = contraction::RowBlocksOp::create(builder, product.getLoc(), ValueRange());
  Block *body = builder.createBlock(&blocks.getBody());
  for (Operation *member : members)
    member->moveBefore(body, body->end());
  blocks.getLocalsMutable().assign(findLocals(*body));
}

namespace {
struct FormRowBlocks : public blocks::impl::FormRowBlocksBase<FormRowBlocks> {
  using FormRowBlocksBase::FormRowBlocksBase;

  void runOnOperation() override {
    SmallVector<contraction::KernelOp> products;
    getOperation()->walk([&](contraction::KernelOp product) {
      if (product.hasPureBufferSemantics() && !isa<contraction::RowBlocksOp>(product->getParentOp()))
        products.push_back(product);
    });
    for (contraction::KernelOp product : products) {
      RowBlocksFormer former(product);
      former.form();
      if (record && !former.getRefusal().empty())
        product->setAttr(kRowBlocksRefusal, StringAttr::get(&getContext(), former.getRefusal()));
    }
  }
};
} // namespace
