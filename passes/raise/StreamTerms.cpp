// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/StreamTerms.h"

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

//===------------------------------------------- parts of tensors -------------------------------------------------===//

namespace {
/// Where an element is in a tensor: along each dimension that of the root's element, or one place.
struct Place {
  Value tensor;
  SmallVector<AffineExpr> at;
};
} // namespace

bool resid::isSizeOf(OpFoldResult size, Value tensor, int64_t dimension) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return *number == getTensorType(tensor).getDimSize(dimension);
  auto value = cast<Value>(size);
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>(); empty && empty.getType().isDynamicDim(dimension))
    return empty.getDynamicSize(dimension) == value;
  auto dim = value.getDefiningOp<tensor::DimOp>();
  return dim && dim.getSource() == tensor && dim.getConstantIndex() == dimension;
}

/// The place in the tensor that a slice is cut from, if it takes one place or all along each dimension.
static std::optional<Place> findBefore(tensor::ExtractSliceOp slice, const Place &place) {
  Place before{slice.getSource(), {}};
  unsigned next = 0;
  for (auto [dimension, size] : llvm::enumerate(slice.getMixedSizes())) {
    std::optional<int64_t> offset = getConstantIntValue(slice.getMixedOffsets()[dimension]);
    AffineExpr asked = slice.getDroppedDims().test(dimension) ? AffineExpr() : place.at[next++];
    if (!offset || getConstantIntValue(slice.getMixedStrides()[dimension]) != 1)
      return std::nullopt;
    if (getConstantIntValue(size) == 1)
      before.at.push_back(getAffineConstantExpr(*offset, slice.getContext()));
    else if (*offset == 0 && isSizeOf(size, slice.getSource(), dimension))
      before.at.push_back(asked);
    else
      return std::nullopt;
  }
  return before;
}

/// The same before a reshape that drops dimensions of size 1.
static std::optional<Place> findBefore(tensor::CollapseShapeOp collapse, const Place &place) {
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  Place before{collapse.getSrc(),
               SmallVector<AffineExpr>(shape.size(), getAffineConstantExpr(0, collapse.getContext()))};
  for (auto [at, group] : llvm::zip_equal(place.at, collapse.getReassociationIndices())) {
    auto wide = llvm::make_filter_range(group, [&](int64_t dimension) { return shape[dimension] != 1; });
    if (llvm::range_size(wide) > 1)
      return std::nullopt;
    if (!wide.empty())
      before.at[*wide.begin()] = at;
  }
  return before;
}

/// The places of the node's element: in its own tensor, and in those that this is a part of.
static SmallVector<Place> findPlaces(const ElementNode *node) {
  SmallVector<Place> places;
  std::optional<Place> place = Place{node->tensor, SmallVector<AffineExpr>(node->map.getResults())};
  while (place) {
    places.push_back(*place);
    Operation *op = place->tensor.getDefiningOp();
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
      place = findBefore(slice, places.back());
    else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
      place = findBefore(collapse, places.back());
    else
      break;
  }
  return places;
}

/// The part that a place is: rows in order or none, places of streams, features or none.
static std::optional<StreamPart> readPart(const Place &place, unsigned rank) {
  StreamPart part{place.tensor, {}};
  ArrayRef<AffineExpr> at = place.at;
  unsigned rows = rank - 1;
  part.hasRows = rows != 0 && at.size() >= rows && llvm::all_of(llvm::seq(rows), [&](unsigned i) {
                   auto dim = dyn_cast<AffineDimExpr>(at[i]);
                   return dim && dim.getPosition() == i;
                 });
  if (part.hasRows)
    at = at.drop_front(rows);
  part.hasRows |= rows == 0;
  part.hasFeatures = !at.empty() && at.back() == getAffineDimExpr(rank - 1, place.tensor.getContext());
  if (part.hasFeatures)
    at = at.drop_back();
  for (AffineExpr expr : at) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant)
      return std::nullopt;
    part.streams.push_back(constant.getValue());
  }
  return part;
}

const ElementNode *resid::skipExtension(const ElementNode *node) {
  return isa_and_present<arith::ExtFOp>(node->op) ? node->operands.front() : node;
}

static SmallVector<StreamPart> findParts(const ElementNode *node, unsigned rank) {
  SmallVector<StreamPart> parts;
  if (!node->tensor || node->constant)
    return parts;
  for (const Place &place : findPlaces(node))
    if (std::optional<StreamPart> part = readPart(place, rank))
      parts.push_back(*part);
  return parts;
}

//===------------------------------------------- sums of terms ----------------------------------------------------===//

bool resid::isSum(const ElementNode *node) { return isa_and_present<arith::AddFOp, math::FmaOp>(node->op); }

static StreamTerm readTerm(const ElementNode *node, StreamTerm::Step step) {
  StreamTerm term{step, {}};
  if (isa_and_present<arith::MulFOp>(node->op))
    term.factors.append(node->operands.begin(), node->operands.end());
  else
    term.factors.push_back(node);
  return term;
}

bool resid::readTerms(const ElementNode *node, Type arithmetic, SmallVectorImpl<StreamTerm> &terms) {
  if (node->type != arithmetic || terms.size() > kMaxStreams)
    return false;
  if (!isSum(node)) {
    terms.push_back(readTerm(node, StreamTerm::First));
    return true;
  }
  if (isa<math::FmaOp>(node->op)) {
    if (!readTerms(node->operands[2], arithmetic, terms))
      return false;
    terms.push_back({StreamTerm::Fused, {node->operands[0], node->operands[1]}});
    return true;
  }
  bool isSwapped = isSum(node->operands[1]);
  const ElementNode *sum = node->operands[isSwapped], *other = node->operands[!isSwapped];
  if (isSum(other) || other->type != arithmetic || !readTerms(sum, arithmetic, terms))
    return false;
  terms.push_back(readTerm(other, StreamTerm::Added));
  return true;
}

std::optional<int64_t> resid::getStream(const ElementNode *factor, Value x, unsigned rank) {
  for (const StreamPart &part : findParts(skipExtension(factor), rank))
    if (part.tensor == x && part.isStream(rank))
      return part.streams.front();
  return std::nullopt;
}

Value resid::findStreams(ArrayRef<StreamTerm> terms, unsigned rank) {
  for (const StreamTerm &term : terms)
    for (const ElementNode *factor : term.factors)
      for (const StreamPart &part : findParts(skipExtension(factor), rank)) {
        int64_t count = part.isStream(rank) ? getTensorType(part.tensor).getDimSize(rank - 1) : 0;
        if (count > 1 && count <= kMaxStreams)
          return part.tensor;
      }
  return {};
}

//===------------------------------------------- weights ----------------------------------------------------------===//

/// Whether the tensor has the dimensions of weights and no other: rows, n for each of the streams, and features or 1.
bool WeightReader::hasShape(const StreamPart &part, unsigned streams) const {
  ArrayRef<int64_t> shape = getTensorType(part.tensor).getShape();
  unsigned before = shape.size() - streams - (part.hasFeatures || part.streams.size() > streams);
  return before == (part.hasRows ? rank - 1 : 0) &&
         llvm::all_of(shape.slice(before, streams), [&](int64_t size) { return size == count; });
}

bool WeightReader::read(const ElementNode *factor, ArrayRef<int64_t> streams) {
  SmallVector<StreamWeights> found;
  for (StreamPart &part : findParts(skipExtension(factor), rank)) {
    ArrayRef<int64_t> places = part.streams;
    // A last dimension of 1.
    bool isUnit =
        places.size() == streams.size() + 1 && places.back() == 0 && getTensorType(part.tensor).getShape().back() == 1;
    if (!hasShape(part, streams.size()) || (places.size() > streams.size() && !isUnit) ||
        places.size() < streams.size() || (streams.size() == 2 && (part.hasFeatures || isUnit)))
      continue;
    places = places.take_front(streams.size());
    if (places == streams)
      found.push_back({part.tensor, part.hasFeatures || isUnit, false});
    if (streams.size() == 2 && places[0] == streams[1] && places[1] == streams[0])
      found.push_back({part.tensor, false, true});
  }
  if (!isFirst)
    llvm::erase_if(found, [&](const StreamWeights &candidate) { return !llvm::is_contained(candidates, candidate); });
  isFirst = false;
  candidates = std::move(found);
  return !candidates.empty();
}
