// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the projection of all streams: their statistics, and a product of them in chains.

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/contractions/OperandSource.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/linalg/StreamParts.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Chains of so many numbers, which are added in ascending order.
static constexpr int64_t kChain = 1024;

namespace {
/// A product of all streams after their norm.
class ProjectLowering {
public:
  ProjectLowering(Code &builder, ProjectOp op, Value x, Value weight)
      : builder(builder), op(op), x(x), weight(weight), arithmetic(op.getArithmeticType()),
        rowType(op.getZ().getType().clone(op.getZ().getType().getShape().drop_back())), sizes(getSizes(builder, x)),
        row(getIdentityMap(builder.getContext(), rowType.getRank())) {}

  SmallVector<Value> create();

private:
  /// z = p·root, with p of x·scale.
  Value createProduct(Value scale, Value root);
  /// What unpacked the weight, if it is in panels.
  linalg::UnPackOp findPanels();
  /// The weight with the dimensions of streams and features apart.
  Value expandWeight();
  SmallVector<OpFoldResult> getRowSizes() const { return llvm::to_vector(ArrayRef(sizes).drop_back(2)); }

  Code &builder;
  ProjectOp op;
  Value x, weight;
  FloatType arithmetic;
  RankedTensorType rowType;
  SmallVector<OpFoldResult> sizes;
  AffineMap row;
};
} // namespace

static Value multiply(Code &builder, ValueRange elements) { return builder.multiply(elements[0], elements[1]); }

linalg::UnPackOp ProjectLowering::findPanels() {
  contraction::OperandSource source{weight, getIdentityMap(builder.getContext(), 2)};
  while (std::optional<contraction::OperandSource> before = contraction::readThrough(source, arithmetic))
    source = *before;
  return contraction::findPanels(source, /*parallelLoops=*/1);
}

Value ProjectLowering::expandWeight() {
  ArrayRef<int64_t> features = typeOf(x).getShape().take_back(2);
  int64_t outputs = typeOf(weight).getDimSize(0);
  SmallVector<OpFoldResult> expanded{builder.getIndexAttr(outputs)};
  llvm::append_range(expanded, ArrayRef(sizes).take_back(2));
  return tensor::ExpandShapeOp::create(builder, typeOf(weight).clone({outputs, features[0], features[1]}), weight,
                                       SmallVector<ReassociationIndices>{{0}, {1, 2}}, expanded);
}

Value ProjectLowering::createProduct(Value scale, Value root) {
  MLIRContext *context = builder.getContext();
  int64_t rows = rowType.getRank(), loops = rows + 3, features = typeOf(x).getShape().back();
  Value zero = createConstant(builder, arithmetic, 0.0);
  SmallVector<OpFoldResult> outputSizes = getRowSizes();
  outputSizes.push_back(builder.getIndexAttr(typeOf(weight).getDimSize(0)));
  if (features == 0) {
    AffineMap map = getRowMap(context, rows + 1, 1);
    auto scaleZero = [&](Code &inner, ValueRange elements) { return multiply(inner, {zero, elements[0]}); };
    return createElementwise(builder, {{root, map}}, outputSizes, op.getZ().getType(), arithmetic, scaleZero);
  }
  // The loops: rows, outputs, and contracted streams and features.
  AffineMap all = getIdentityMap(context, loops), ofRow = getRowMap(context, loops, 3);
  SmallVector<AffineMap> maps{all.dropResult(rows), getColumnMap(context, loops, 3), ofRow, ofRow,
                              getRowMap(context, loops, 2)};
  int64_t terms = features * typeOf(x).getShape().end()[-2];
  bool isOneChain = !ShapedType::isDynamic(features) && terms <= kChain;
  linalg::UnPackOp panels = findPanels();
  Value init = tensor::EmptyOp::create(builder, outputSizes, arithmetic);
  auto kernel = contraction::KernelOp::create(
      builder, init.getType(), x, panels ? panels.getSource() : expandWeight(), zero, /*initial=*/Value(), root, scale,
      /*b_parameters=*/ValueRange(), init, /*scratch=*/Value(), builder.getAffineMapArrayAttr(maps),
      builder.getI64IntegerAttr(rows + 1),
      panels ? builder.getI64IntegerAttr(contraction::countPanelColumns(panels)) : IntegerAttr(),
      isOneChain ? IntegerAttr() : builder.getI64IntegerAttr(kChain), /*b_group=*/IntegerAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&kernel.getBody(), {}, TypeRange{arithmetic, arithmetic},
                                    {builder.getLoc(), builder.getLoc()});
  contraction::YieldOp::create(builder, multiply(builder, body->getArguments()));
  return kernel.getResult();
}

SmallVector<Value> ProjectLowering::create() {
  SmallVector<Value> streams;
  for (int64_t i = 0; i < typeOf(x).getShape().end()[-2]; ++i)
    streams.push_back(takeStream(builder, x, i));
  auto statistics = rows::StreamStatisticsOp::create(builder, rowType, rowType, streams, op.getEpsilon(), 1);
  SmallVector<Value> results{createProduct(statistics.getScale(), statistics.getRstd())};
  if (op.getRstd())
    results.push_back(createElementwise(builder, {{statistics.getRstd(), row}, {statistics.getScale(), row}},
                                        getRowSizes(), rowType, arithmetic, multiply));
  return results;
}

namespace {
struct LowerProject : OpConversionPattern<ProjectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProjectOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, ProjectLowering(builder, op, adaptor.getX(), adaptor.getWeight()).create());
    return success();
  }
};
} // namespace

void resid::populateProjectionToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerProject>(patterns.getContext());
}
