// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the loops of a contraction into rows, columns, batches and contracted loops, and merges neighbours.

#include "codegen/contractions/ContractionLoops.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

bool KernelLoops::hasContiguousRows() const { return contracted.size() == 1 && contracted.front().strides[kA].is(1); }

void KernelLoops::forEachValue(function_ref<void(Value &)> visit) {
  auto visitLoop = [&](Loop &loop) {
    visit(loop.size.value);
    for (Extent &stride : loop.strides)
      visit(stride.value);
  };
  for (Value &pointer : pointers)
    visit(pointer);
  if (scratch)
    visit(scratch);
  for (Loop &loop : batches)
    visitLoop(loop);
  visitLoop(m);
  visitLoop(n);
  for (Loop &loop : contracted)
    visitLoop(loop);
}

ArrayAttr KernelLoops::getFacts() const {
  Builder builder(arithmetic.getContext());
  SmallVector<Attribute> facts = {
      TypeAttr::get(arithmetic),
      builder.getDenseI64ArrayAttr({int64_t(batches.size()), int64_t(contracted.size()), hasInitial, hasRowScale,
                                    hasAnyRows, chain, packedColumns, scratch != nullptr, bGroup, bParameters,
                                    hasNibbles})};
  for (const LoopOperand &operand : operands)
    facts.push_back(TypeAttr::get(operand.elementType));
  return builder.getArrayAttr(facts);
}

kernels::KernelWork KernelLoops::countWork(OpBuilder &builder, Location loc) const {
  Extent rows = m.size, terms = n.size;
  for (const Loop &loop : batches)
    rows = multiply(builder, loc, rows, loop.size);
  for (const Loop &loop : contracted)
    terms = multiply(builder, loc, terms, loop.size);
  return {rows.value, terms.value};
}

SmallVector<Value> KernelOp::getOuterScalars() {
  SmallVector<Value> scalars;
  if (Value start = getStart())
    scalars.push_back(start);
  llvm::append_range(scalars, kernels::collectCaptured(*this));
  return scalars;
}

FailureOr<std::shared_ptr<kernels::KernelIndexing>> KernelOp::computeIndexing(OpBuilder &builder) {
  FailureOr<KernelLoops> loops = KernelLoops::create(builder, *this);
  if (failed(loops))
    return failure();
  for (const LoopOperand &operand : loops->operands)
    loops->pointers.push_back(kernels::computePointer(builder, getLoc(), operand.buffer));
  if (Value scratch = getScratch())
    loops->scratch = kernels::computePointer(builder, getLoc(), scratch);
  return loops->clone();
}

namespace {

/// An operand of the kernel with its map.
struct MappedOperand {
  OpOperand *operand;
  AffineMap map;
  MemRefType type;

  std::optional<unsigned> find(unsigned loop) const {
    return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  }
};

class LoopFinder {
public:
  LoopFinder(OpBuilder &builder, KernelOp kernel) : builder(builder), kernel(kernel), loc(kernel.getLoc()) {}

  FailureOr<KernelLoops> find();

private:
  LogicalResult collectOperands();
  Loop readLoop(unsigned loop);
  bool isInPackedFactor(unsigned loop);
  bool canMerge(unsigned outer, unsigned inner);
  void mergeNeighbours(SmallVector<unsigned> &loops, bool isOrdered);
  Loop makeMerged(unsigned last);
  std::optional<unsigned> chooseColumns(ArrayRef<unsigned> parallel);
  bool isOnlyIn(unsigned loop, unsigned factor) const {
    return operands[factor].find(loop) && !operands[1 - factor].find(loop);
  }

  OpBuilder &builder;
  KernelOp kernel;
  Location loc;
  SmallVector<MappedOperand> operands;
  /// The loops that were merged into one, by the innermost of them; itself last.
  DenseMap<unsigned, SmallVector<unsigned>> merged;
};

} // namespace

LogicalResult LoopFinder::collectOperands() {
  for (OpOperand *operand : kernel.getMappedOperands()) {
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    if (!type)
      return kernel.emitOpError("expected operands in memory, but got ") << operand->get().getType();
    operands.push_back({operand, kernel.getMap(*operand), type});
  }
  return success();
}

bool LoopFinder::isInPackedFactor(unsigned loop) {
  return kernel.hasOwnLayout(kernel.getBMutable()) && operands[1].find(loop).has_value();
}

Loop LoopFinder::readLoop(unsigned loop) {
  Loop result;
  // What packs b may have rounded its sizes up, and any operand that has the loop tells its size as well.
  for (const MappedOperand &mapped : llvm::reverse(operands)) {
    bool isPacked = kernel.hasOwnLayout(*mapped.operand);
    if (std::optional<unsigned> dimension = mapped.find(loop); dimension && !isPacked) {
      Extent size = getSize(builder, loc, mapped.operand->get(), *dimension);
      if (!result.size.value || size.isKnown())
        result.size = size;
    }
  }
  for (unsigned i = 0; i < operands.size(); ++i) {
    std::optional<unsigned> dimension = operands[i].find(loop);
    bool isPacked = kernel.hasOwnLayout(*operands[i].operand);
    result.strides.push_back(dimension && !isPacked ? getStride(builder, loc, operands[i].operand->get(), *dimension)
                                                    : makeExtent(builder, loc, 0));
  }
  return result;
}

/// Whether one loop over both does the same: each operand has neither, or both as neighbours in memory. In panels, all
/// contracted loops are neighbours, and columns have no others.
bool LoopFinder::canMerge(unsigned outer, unsigned inner) {
  return llvm::all_of(operands, [&](const MappedOperand &mapped) {
    std::optional<unsigned> first = mapped.find(outer), second = mapped.find(inner);
    if (!first && !second)
      return true;
    return first && second && *first + 1 == *second && mapped.type.getLayout().isIdentity();
  });
}

/// Merges loops into the one that is innermost of them. In a row of three, the middle one takes in the first, and then
/// the last one both.
void LoopFinder::mergeNeighbours(SmallVector<unsigned> &loops, bool isOrdered) {
  auto mergeOne = [&] {
    for (unsigned i = 0; i < loops.size(); ++i)
      for (unsigned j = 0; j < loops.size(); ++j) {
        bool mayMerge = isOrdered ? j == i + 1 : i != j;
        if (!mayMerge || !canMerge(loops[i], merged[loops[j]].front()))
          continue;
        SmallVector<unsigned> all = merged[loops[i]];
        llvm::append_range(all, merged[loops[j]]);
        merged[loops[j]] = all;
        loops.erase(loops.begin() + i);
        return true;
      }
    return false;
  };
  for (unsigned loop : loops)
    merged[loop] = {loop};
  while (mergeOne())
    ;
}

Loop LoopFinder::makeMerged(unsigned last) {
  Loop result = readLoop(last);
  for (unsigned loop : ArrayRef<unsigned>(merged[last]).drop_back())
    result.size = multiply(builder, loc, readLoop(loop).size, result.size);
  return result;
}

/// The loop along the columns: in one factor only, contiguous in the result if possible, and in a packed b always.
std::optional<unsigned> LoopFinder::chooseColumns(ArrayRef<unsigned> parallel) {
  const MappedOperand &init = operands.back();
  std::optional<unsigned> best;
  int64_t bestRank = -1;
  for (unsigned loop : parallel) {
    if (!isOnlyIn(loop, 0) && !isOnlyIn(loop, 1))
      continue;
    bool isLast = init.find(loop) == init.map.getNumResults() - 1;
    int64_t rank = 4 * isInPackedFactor(loop) + 2 * isLast + isOnlyIn(loop, 1);
    if (rank > bestRank)
      best = loop, bestRank = rank;
  }
  return best;
}

FailureOr<KernelLoops> LoopFinder::find() {
  if (failed(collectOperands()))
    return failure();
  unsigned parallelCount = kernel.getParallelLoops();
  auto parallel = llvm::to_vector(llvm::seq<unsigned>(0, parallelCount));
  auto contracted = llvm::to_vector(llvm::seq<unsigned>(parallelCount, kernel.getNumLoops()));
  mergeNeighbours(parallel, /*isOrdered=*/false);
  mergeNeighbours(contracted, /*isOrdered=*/true);
  std::optional<unsigned> columns = chooseColumns(parallel), rows;
  if (columns && isOnlyIn(*columns, 0))
    std::swap(operands[0], operands[1]);
  for (unsigned loop : parallel) // of several, the one that is innermost in the result
    if (loop != columns && isOnlyIn(loop, 0) && (!rows || *operands.back().find(loop) > *operands.back().find(*rows)))
      rows = loop;
  Loop one{makeExtent(builder, loc, 1), {}};
  one.strides.assign(operands.size(), makeExtent(builder, loc, 0));
  KernelLoops result;
  result.hasInitial = static_cast<bool>(kernel.getInitial());
  result.hasRowScale = static_cast<bool>(kernel.getRowScale());
  result.hasAnyRows = kernel.getAnyRows();
  result.chain = kernel.getChain().value_or(0);
  result.packedColumns = kernel.getPackedColumns().value_or(0);
  result.bGroup = kernel.getBGroup().value_or(0);
  result.bParameters = kernel.getBParameters().size();
  result.hasNibbles = kernel.getBNibbles();
  result.arithmetic = kernel.getArithmeticType();
  result.m = rows ? makeMerged(*rows) : one;
  result.n = columns ? makeMerged(*columns) : one;
  for (unsigned loop : parallel)
    if (loop != columns && loop != rows)
      result.batches.push_back(makeMerged(loop));
  for (unsigned loop : contracted)
    result.contracted.push_back(makeMerged(loop));
  for (const MappedOperand &mapped : operands)
    result.operands.push_back({mapped.operand->get(), mapped.type.getElementType()});
  for (Value parameter : kernel.getBParameters())
    result.operands.push_back({parameter, getElementTypeOrSelf(parameter.getType())});
  return result;
}

FailureOr<KernelLoops> KernelLoops::create(OpBuilder &builder, KernelOp kernel) {
  return LoopFinder(builder, kernel).find();
}
