// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LookupForm.h.

#include "passes/grad/LookupForm.h"

#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// table[ids[…], column], with the column one of the loops.
struct Lookup {
  tensor::ExtractOp extract;
  OpOperand *ids;
  unsigned column;
};
} // namespace

/// The input that a value of the body is an element of, as an index.
static OpOperand *findIds(linalg::GenericOp op, Value index) {
  auto conversion = index.getDefiningOp<arith::IndexCastOp>();
  auto element = conversion ? dyn_cast<BlockArgument>(conversion.getIn()) : BlockArgument();
  if (!element || element.getOwner() != op.getBody() || element.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  OpOperand *ids = op.getDpsInputOperand(element.getArgNumber());
  auto type = dyn_cast<RankedTensorType>(ids->get().getType());
  bool areIds = type && type.getRank() > 0 && (element.getType().isInteger(32) || element.getType().isInteger(64));
  return areIds && op.getMatchingIndexingMap(ids).isProjectedPermutation() ? ids : nullptr;
}

static std::optional<Lookup> matchLookup(linalg::GenericOp op, tensor::ExtractOp extract,
                                         const DenseSet<Value> &needed) {
  if (!needed.contains(extract.getTensor()) || extract.getIndices().size() != 2 ||
      op.getRegion().isAncestor(extract.getTensor().getParentRegion()))
    return std::nullopt;
  OpOperand *ids = findIds(op, extract.getIndices()[0]);
  auto column = extract.getIndices()[1].getDefiningOp<linalg::IndexOp>();
  if (!ids || !column || !getEmbeddedType(ids->get().getType(), extract.getTensor().getType()))
    return std::nullopt;
  return Lookup{extract, ids, unsigned(column.getDim())};
}

/// The op with the rows that are looked up as one more input.
static linalg::GenericOp takeOut(linalg::GenericOp op, Lookup lookup) {
  IRRewriter rewriter(op);
  Value table = lookup.extract.getTensor();
  Value rows =
      EmbeddingOp::create(rewriter, lookup.extract.getLoc(),
                          getEmbeddedType(lookup.ids->get().getType(), table.getType()), lookup.ids->get(), table);
  AffineMap ids = op.getMatchingIndexingMap(lookup.ids);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned place = op.getNumDpsInputs();
  maps.insert(maps.begin() + place, ids.insertResult(rewriter.getAffineDimExpr(lookup.column), ids.getNumResults()));
  SmallVector<Value> inputs(op.getInputs());
  inputs.push_back(rows);
  auto made = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
                                        op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
  Value element = made.getBody()->insertArgument(place, lookup.extract.getType(), lookup.extract.getLoc());
  rewriter.replaceOp(lookup.extract, element);
  rewriter.replaceOp(op, made);
  return made;
}

void resid::formEmbeddings(ArrayRef<Operation *> ops, const DenseSet<Value> &needed) {
  for (Operation *candidate : ops) {
    auto op = dyn_cast<linalg::GenericOp>(candidate);
    if (!op || op.getNumReductionLoops() != 0)
      continue;
    SmallVector<tensor::ExtractOp> extracts(op.getBody()->getOps<tensor::ExtractOp>());
    for (tensor::ExtractOp extract : extracts)
      if (std::optional<Lookup> lookup = matchLookup(op, extract, needed))
        op = takeOut(op, *lookup);
  }
}
