// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookups in tables, such as embeddings: an index that is read from a tensor must lie in the table.

#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// An index that a tensor.extract in an op takes from the op's input of that number.
struct Lookup {
  tensor::ExtractOp extract;
  unsigned dimension, input;
};

} // namespace

/// Whether a condition here can answer the call with a status.
static bool hasStatus(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && isa<scf::ForOp, scf::IfOp>(parent))
    parent = parent->getParentOp();
  return isa_and_present<func::FuncOp>(parent);
}

static std::optional<unsigned> findInput(linalg::GenericOp op, Value index) {
  Operation *cast = index.getDefiningOp();
  while (isa_and_present<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(cast)) {
    index = cast->getOperand(0);
    cast = index.getDefiningOp();
  }
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getOwner() != op.getBody() || argument.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand *input = op.getDpsInputOperand(argument.getArgNumber());
  bool isWhole =
      isa<RankedTensorType>(input->get().getType()) && op.getMatchingIndexingMap(input).isProjectedPermutation();
  return isWhole ? std::optional(argument.getArgNumber()) : std::nullopt;
}

static Value getSize(ImplicitLocOpBuilder &builder, Value tensor, int64_t dimension) {
  return builder.createOrFold<tensor::DimOp>(tensor, dimension);
}

/// Whether each of `numbers`, as an index, is below `size` (i1). One unsigned comparison: a negative number is a large
/// unsigned one.
static Value areBelow(ImplicitLocOpBuilder &builder, Value numbers, Value size) {
  auto type = cast<RankedTensorType>(numbers.getType());
  auto flagType = RankedTensorType::get({}, builder.getI1Type());
  Value start = arith::ConstantOp::create(builder, DenseElementsAttr::get(flagType, true));
  SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(type.getRank()),
                                 AffineMap::get(type.getRank(), 0, builder.getContext())};
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::reduction);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    Value index = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), elements[0]);
    Value isBelow = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, index, size);
    linalg::YieldOp::create(inner, loc, arith::AndIOp::create(inner, loc, elements[1], isBelow).getResult());
  };
  Value all = linalg::GenericOp::create(builder, flagType, numbers, start, maps, loops, body).getResult(0);
  return tensor::ExtractOp::create(builder, all, ValueRange());
}

/// Whether a tensor has no elements, or `size` is not 0. Sizes tell, so a call where it is not so is refused at once.
static Value hasRoom(ImplicitLocOpBuilder &builder, Value numbers, Value size) {
  Value zero = arith::ConstantIndexOp::create(builder, 0), count = arith::ConstantIndexOp::create(builder, 1);
  for (int64_t dimension = 0; dimension < cast<RankedTensorType>(numbers.getType()).getRank(); ++dimension)
    count = arith::MulIOp::create(builder, count, getSize(builder, numbers, dimension));
  Value isEmpty = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, count, zero);
  Value hasPlaces = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, size, zero);
  return arith::OrIOp::create(builder, isEmpty, hasPlaces);
}

/// Requires that all indices are inside, and keeps the op inside where they are not.
static void requireInside(linalg::GenericOp op, Lookup lookup) {
  ImplicitLocOpBuilder builder(lookup.extract.getLoc(), op);
  Value numbers = op.getDpsInputOperand(lookup.input)->get(), table = lookup.extract.getTensor();
  Value size = getSize(builder, table, lookup.dimension);
  constexpr StringLiteral text = "an index of tensor.extract lies outside of its tensor";
  if (cast<RankedTensorType>(table.getType()).getDimSize(lookup.dimension) <= 0)
    rows::RequireOp::create(builder, hasRoom(builder, numbers, size), RESID_BAD_VALUE, text, Value());
  rows::RequireOp::create(builder, areBelow(builder, numbers, size), RESID_BAD_VALUE, text, Value());
  builder.setInsertionPoint(lookup.extract);
  Value index = lookup.extract.getIndices()[lookup.dimension];
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value isInside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, index, size);
  lookup.extract.getIndicesMutable()
      .slice(lookup.dimension, 1)
      .assign(arith::SelectOp::create(builder, isInside, index, zero).getResult());
}

void resid::requireLookups(Operation *root) {
  root->walk([](linalg::GenericOp op) {
    SmallVector<Lookup> lookups;
    if (op.hasPureTensorSemantics() && hasStatus(op))
      op.getBody()->walk([&](tensor::ExtractOp extract) {
        bool isOutside = extract.getTensor().getParentBlock() != op.getBody();
        for (auto [dimension, index] : llvm::enumerate(extract.getIndices()))
          if (std::optional<unsigned> input = isOutside ? findInput(op, index) : std::nullopt)
            lookups.push_back({extract, static_cast<unsigned>(dimension), *input});
      });
    for (Lookup lookup : lookups)
      requireInside(op, lookup);
  });
}
