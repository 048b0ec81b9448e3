// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family Streams. Reads and writes are each other's adjoints, and weights are gates.

#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// One row of features for each stream of `like`: the same for all of them.
static Value broadcastToStreams(ImplicitLocOpBuilder &builder, Value row, RankedTensorType like) {
  int64_t rank = like.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), row);
  sizes.insert(sizes.end() - 1, builder.getIndexAttr(like.getDimSize(rank - 2)));
  Value empty = tensor::EmptyOp::create(builder, sizes, typeOf(row).getElementType());
  return linalg::BroadcastOp::create(builder, row, empty, ArrayRef<int64_t>{rank - 2}).getResult()[0];
}

/// The same tensor, of another type that says less or more of its sizes.
static Value castTo(ImplicitLocOpBuilder &builder, Value tensor, Type type) {
  Value value = createCast(builder, tensor, getElementTypeOrSelf(type));
  return value.getType() == type ? value : Value(tensor::CastOp::create(builder, type, value));
}

namespace {

/// dX_i = scale·(weights_i ⊙ du), dweights = Σ scale·(X ⊙ du).
struct ReadRule : GradientOpInterface::ExternalModel<ReadRule, ReadOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto read = cast<ReadOp>(op);
    Value x = read.getX(), weights = read.getWeights();
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value du = broadcastToStreams(builder, gradients.get(read.getResult()), typeOf(x));
    if (gradients.isNeeded(x))
      gradients.add(x, castTo(builder,
                              createScaled(builder, du, gradients.getPrimal(weights), read.getScale(),
                                           typeOf(x).getElementType()),
                              x.getType()));
    if (gradients.isNeeded(weights))
      gradients.add(weights,
                    GateGradOp::create(builder, weights.getType(), du, gradients.getPrimal(x), read.getScaleAttr()));
    return success();
  }
};

/// dX = dY through the transposed mix, dy = Σ_j weights_j ⊙ dY_j, dmix_ij = Σ_d X_i·dY_j, dweights = Σ y ⊙ dY.
struct WriteRule : GradientOpInterface::ExternalModel<WriteRule, WriteOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto write = cast<WriteOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value dy = gradients.get(write.getResult()), x = write.getX(), y = write.getY(), weights = write.getWeights();
    if (gradients.isNeeded(x))
      gradients.add(x, castTo(builder, mixBack(write, gradients), x.getType()));
    if (gradients.isNeeded(y)) {
      Value read = ReadOp::create(builder, dy, gradients.getPrimal(weights));
      gradients.add(y, castTo(builder, read, y.getType()));
    }
    if (gradients.isNeeded(weights)) {
      Value branch = broadcastToStreams(builder, gradients.getPrimal(y), typeOf(x));
      gradients.add(weights, GateGradOp::create(builder, weights.getType(), dy, branch, builder.getF64FloatAttr(1.0)));
    }
    if (gradients.isNeeded(write.getMix()))
      gradients.add(write.getMix(), createMixGradient(write, gradients));
    return success();
  }

private:
  static Value mixBack(WriteOp write, Gradients &gradients) {
    Value dy = gradients.get(write.getResult()), mix = write.getMix();
    if (!mix)
      return dy;
    bool transposes = write.hasWholeMix() && !write.getTransposed();
    return WriteOp::create(gradients.getBuilder(), dy, Value(), Value(), gradients.getPrimal(mix), transposes);
  }

  static Value createMixGradient(WriteOp write, Gradients &gradients) {
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value dy = gradients.get(write.getResult()), x = gradients.getPrimal(write.getX());
    RankedTensorType mix = typeOf(write.getMix());
    if (!write.hasWholeMix())
      return GateGradOp::create(builder, mix, dy, x, builder.getF64FloatAttr(1.0));
    Value dots = write.getTransposed() ? StreamDotsOp::create(builder, dy, x) : StreamDotsOp::create(builder, x, dy);
    return mix.getRank() < typeOf(dots).getRank() ? createColumnSum(builder, dots, mix) : castTo(builder, dots, mix);
  }
};

/// With dz' = dz·rstd and c = -((Σ dz·z) + drstd·rstd)·rstd²/(n·D): dX = fma(c, X, dz'·weight) + dsum, and
/// dweight = dz'ᵀ·X. The forward gives rstd.
struct ProjectRule : GradientOpInterface::ExternalModel<ProjectRule, ProjectOp> {
  LogicalResult prepareForward(Operation *op, OpBuilder &builder, Forward &, const DenseSet<Value> &) const {
    auto project = cast<ProjectOp>(op);
    if (project.getRstd())
      return success();
    builder.setInsertionPoint(op);
    auto asked = ProjectOp::create(builder, op->getLoc(), project.getX(), project.getWeight(),
                                   project.getEpsilon().convertToDouble(), /*withRstd=*/true);
    asked->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    project.getZ().replaceAllUsesWith(asked.getZ());
    op->erase();
    return success();
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const;
};

struct SinkhornRule : GradientOpInterface::ExternalModel<SinkhornRule, SinkhornOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto mix = cast<SinkhornOp>(op);
    gradients.add(mix.getLogits(),
                  SinkhornGradOp::create(gradients.getBuilder(), mix.getType(), gradients.get(mix.getResult()),
                                         gradients.getPrimal(mix.getLogits()), mix.getIterationsAttr(),
                                         mix.getEpsilonAttr()));
    return success();
  }
};

/// What the gradients of a projection have in common.
class ProjectGradient {
public:
  ProjectGradient(ProjectOp op, Gradients &gradients)
      : op(op), gradients(gradients), builder(gradients.getBuilder()), arithmetic(op.getArithmeticType()),
        x(gradients.getPrimal(op.getX())), rstd(gradients.getPrimal(op.getRstd())), dz(gradients.get(op.getZ())) {
    if (dz)
      scaled = scaleByRoot();
  }

  Value createDx();
  Value createDweight();

private:
  /// dz·rstd.
  Value scaleByRoot();
  /// Σ dz·z of each row.
  Value createDots();
  /// c of each row.
  Value createFactor();
  /// All streams as one dimension of features.
  SmallVector<ReassociationIndices> getGroups() const { return groupLastTwo(typeOf(x).getRank()); }
  Value createCount();

  ProjectOp op;
  Gradients &gradients;
  ImplicitLocOpBuilder &builder;
  FloatType arithmetic;
  Value x, rstd, dz, scaled;
};

} // namespace

Value ProjectGradient::scaleByRoot() {
  RankedTensorType type = typeOf(dz);
  unsigned rank = type.getRank();
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  BodyBuilder body(builder);
  Value element = body.read(dz, all), root = body.read(rstd, all.dropResult(rank - 1));
  Value product = arith::MulFOp::create(body.getBuilder(), element, root);
  body.addResult(tensor::EmptyOp::create(builder, tensor::getMixedSizes(builder, builder.getLoc(), dz), arithmetic),
                 all);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return body.finish(loops, product).getResult(0);
}

Value ProjectGradient::createDots() {
  int64_t rank = typeOf(dz).getRank();
  // Both as one stream of a row.
  auto asStream = [&](Value tensor) { return addStream(builder, builder.getLoc(), tensor); };
  Value dots = StreamDotsOp::create(builder, asStream(dz), asStream(gradients.getPrimal(op.getZ())));
  SmallVector<ReassociationIndices> rows;
  if (rank > 1) {
    rows = groupLastTwo(rank);
    rows.back().push_back(rank);
  }
  return tensor::CollapseShapeOp::create(builder, dots, rows);
}

/// How many numbers all streams have.
Value ProjectGradient::createCount() {
  int64_t rank = typeOf(x).getRank(), streams = typeOf(x).getDimSize(rank - 2), width = typeOf(x).getDimSize(rank - 1);
  if (!ShapedType::isDynamic(width))
    return arith::ConstantFloatOp::create(builder, arithmetic,
                                          roundToArithmetic(APFloat(double(streams * width)), arithmetic));
  Value size = tensor::DimOp::create(builder, x, rank - 1);
  Value all = arith::MulIOp::create(builder, size, arith::ConstantIndexOp::create(builder, streams));
  return arith::SIToFPOp::create(builder, arithmetic, arith::IndexCastOp::create(builder, builder.getI64Type(), all));
}

Value ProjectGradient::createFactor() {
  Value dots = scaled ? createDots() : Value(), drstd = gradients.get(op.getRstd());
  int64_t rank = typeOf(rstd).getRank();
  Value count = createCount();
  AffineMap row = builder.getMultiDimIdentityMap(rank);
  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  auto read = [&](Value tensor) {
    return tensor ? convertElements(inner, body.read(tensor, row), arithmetic) : Value();
  };
  Value root = read(rstd), sum = read(dots), change = read(drstd);
  if (change) {
    change = arith::MulFOp::create(inner, change, root);
    sum = sum ? Value(arith::AddFOp::create(inner, sum, change)) : change;
  }
  Value factor =
      arith::MulFOp::create(inner, arith::NegFOp::create(inner, sum), arith::MulFOp::create(inner, root, root));
  factor = arith::DivFOp::create(inner, factor, count);
  body.addResult(tensor::EmptyOp::create(builder, tensor::getMixedSizes(builder, builder.getLoc(), rstd), arithmetic),
                 row);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return body.finish(loops, factor).getResult(0);
}

Value ProjectGradient::createDx() {
  RankedTensorType type = typeOf(op.getX());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), x);
  // The product knows features of all streams alike, and what comes after it on each element joins it.
  auto flatten = [&](Value tensor) {
    return tensor ? Value(tensor::CollapseShapeOp::create(builder, tensor, getGroups())) : Value();
  };
  Value factor = createFactor(), flat = flatten(x), given = flatten(gradients.take(op.getX())), product;
  if (scaled)
    product = LinearOp::create(builder, scaled, gradients.getPrimal(op.getWeight()), Value(), /*transposed=*/true);
  unsigned rank = typeOf(flat).getRank();
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  auto read = [&](Value tensor, AffineMap map) {
    return tensor ? convertElements(inner, body.read(tensor, map), arithmetic) : Value();
  };
  Value element = read(flat, all), scale = read(factor, all.dropResult(rank - 1)), from = read(product, all),
        sum = read(given, all);
  Value dx = from ? Value(math::FmaOp::create(inner, scale, element, from))
                  : Value(arith::MulFOp::create(inner, scale, element));
  if (sum)
    dx = arith::AddFOp::create(inner, dx, sum);
  dx = convertElements(inner, dx, type.getElementType());
  RankedTensorType flatType = typeOf(flat).clone(type.getElementType());
  body.addResult(tensor::EmptyOp::create(builder, tensor::getMixedSizes(builder, builder.getLoc(), flat),
                                         flatType.getElementType()),
                 all);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value result = castTo(builder, body.finish(loops, dx).getResult(0), flatType);
  return tensor::ExpandShapeOp::create(builder, type, result, getGroups(), sizes);
}

Value ProjectGradient::createDweight() {
  Value flat = tensor::CollapseShapeOp::create(builder, x, getGroups());
  int64_t rank = typeOf(flat).getRank();
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1);
  AffineMap result = AffineMap::get(rank + 1, 0, all.getResults().take_back(2), builder.getContext());
  return createProductSum(builder, {scaled, all.dropResult(rank)}, {flat, all.dropResult(rank - 1)},
                          typeOf(op.getWeight()), result, [&] { return gradients.getPrimal(op.getWeight()); });
}

LogicalResult ProjectRule::differentiate(Operation *op, Gradients &gradients) const {
  auto project = cast<ProjectOp>(op);
  ProjectGradient gradient(project, gradients);
  if (gradients.isNeeded(project.getWeight()) && gradients.get(project.getZ()))
    gradients.add(project.getWeight(), gradient.createDweight());
  if (gradients.isNeeded(project.getX()))
    gradients.add(project.getX(), gradient.createDx());
  return success();
}

void resid::registerStreamRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) {
    ReadOp::attachInterface<ReadRule>(*context);
    WriteOp::attachInterface<WriteRule>(*context);
    ProjectOp::attachInterface<ProjectRule>(*context);
    SinkhornOp::attachInterface<SinkhornRule>(*context);
  });
}
