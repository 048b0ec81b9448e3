// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Shapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "test/random/Parts.h"

namespace mlir::resid::random {

namespace {
/// Several streams of one row each, and what reads and writes them.
class Streams {
public:
  Streams(Scope &scope, const Stream &row)
      : scope(scope), random(scope.random), b(scope.builder), row(row), count(1 + random.below(4)) {
    dims = row.dims;
    dims.insert(dims.end() - 1, {count, false});
  }

  /// Copies of the row.
  Value copyRow();
  Value write(Value streams, Value branch);
  Value read(Value streams);

private:
  /// Weights of the streams, `columns` numbers for each: parameters, or those of each row; null for none.
  Value drawWeights(Value streams, int64_t columns);
  Value project(Value streams, int64_t columns);
  Type drawType();

  Scope &scope;
  Random &random;
  OpBuilder &b;
  Stream row;
  int64_t count;
  /// Of the streams.
  Dims dims;
};
} // namespace

Value Streams::copyRow() {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, scope.loc(), row.value);
  sizes.insert(sizes.end() - 1, b.getIndexAttr(count));
  Value empty = tensor::EmptyOp::create(b, scope.loc(), sizes, row.getElement());
  return linalg::BroadcastOp::create(b, scope.loc(), row.value, empty, ArrayRef<int64_t>{row.getRank() - 1})
      ->getResult(0);
}

/// f64 beside f64 alone.
Type Streams::drawType() {
  Type type = drawParameterType(random, row.getElement());
  return type.isF64() ? row.getElement() : type;
}

/// Numbers of each row from all streams: `columns` for each stream.
Value Streams::project(Value streams, int64_t columns) {
  Dim wide{count * row.dims.back().size, row.dims.back().isDynamic};
  Value weight = scope.weight({{count * columns, false}, wide}, drawType(), 0.5);
  double epsilon = random.chance(0.1) ? 0.0 : 1e-5;
  Value z = ProjectOp::create(b, scope.loc(), streams, weight, epsilon, /*withRstd=*/false).getZ();
  auto type = cast<RankedTensorType>(z.getType());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, scope.loc(), z);
  sizes.pop_back();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    groups.push_back({dim});
  groups.push_back({type.getRank() - 1, type.getRank()});
  for (int64_t size : {count, columns}) {
    shape.push_back(size);
    sizes.push_back(b.getIndexAttr(size));
  }
  return tensor::ExpandShapeOp::create(b, scope.loc(), type.clone(shape), z, groups, sizes);
}

Value Streams::drawWeights(Value streams, int64_t columns) {
  if (random.chance(0.2))
    return {};
  if (random.chance(0.5))
    return scope.weight({{count, false}, {columns, false}}, drawType());
  Value logits = project(streams, columns);
  if (columns > 1)
    return SinkhornOp::create(b, scope.loc(), logits.getType(), logits, b.getI64IntegerAttr(1 + random.below(5)),
                              b.getF64FloatAttr(1e-6));
  return ActivationOp::create(b, scope.loc(), ActivationKind::Sigmoid, logits, /*up=*/Value());
}

Value Streams::write(Value streams, Value branch) {
  Value weights = drawWeights(streams, 1), mix = drawWeights(streams, count);
  bool isWhole = mix && cast<RankedTensorType>(mix.getType()).getShape().back() > 1;
  return WriteOp::create(b, scope.loc(), streams, branch, weights, mix, isWhole && random.chance(0.3));
}

Value Streams::read(Value streams) {
  double scale = random.chance(0.5) ? 1.0 : 1.0 / static_cast<double>(count);
  return ReadOp::create(b, scope.loc(), streams, drawWeights(streams, 1), scale);
}

Stream drawStreams(Scope &scope, Style &style, const Stream &x, Value branch) {
  Streams streams(scope, x);
  Value all = streams.write(streams.copyRow(), branch);
  if (scope.random.chance(0.5)) {
    Stream row = x.with(streams.read(all));
    all = streams.write(all, drawBranchOps(scope, style, row, 1));
  }
  return x.with(streams.read(all));
}

} // namespace mlir::resid::random
