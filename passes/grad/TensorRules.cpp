// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of ops that move elements: those of tensor, and resid.append. Their gradients move them back, and nothing
// is rounded.

#include "dialect/ResidDialect.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// Index operands, as the backward has them.
static SmallVector<OpFoldResult> getPrimals(Gradients &gradients, ArrayRef<OpFoldResult> indices) {
  return llvm::map_to_vector(indices, [&](OpFoldResult index) { return createSize(gradients, index); });
}

namespace {

/// A slice of the forward, in the backward.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Slice(Gradients &gradients, OffsetSizeAndStrideOpInterface op)
      : offsets(getPrimals(gradients, op.getMixedOffsets())), sizes(getPrimals(gradients, op.getMixedSizes())),
        strides(getPrimals(gradients, op.getMixedStrides())) {}
  Slice(OpBuilder &builder, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes)
      : offsets(offsets), sizes(sizes), strides(sizes.size(), builder.getIndexAttr(1)) {}

  Value extract(ImplicitLocOpBuilder &builder, Value from, RankedTensorType type) const {
    return extractSlice(builder, builder.getLoc(), type, from, offsets, sizes, strides);
  }
  Value insert(ImplicitLocOpBuilder &builder, Value slice, Value into) const {
    return insertSlice(builder, builder.getLoc(), slice, into, offsets, sizes, strides);
  }
};

struct CastRule : GradientOpInterface::ExternalModel<CastRule, tensor::CastOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    Value source = op->getOperand(0);
    if (!isa<RankedTensorType>(source.getType()))
      return op->emitOpError("has no gradient without a rank: expected a ranked tensor but got ") << source.getType();
    gradients.add(source,
                  tensor::CastOp::create(gradients.getBuilder(), source.getType(), gradients.get(op->getResult(0))));
    return success();
  }
};

struct ExpandRule : GradientOpInterface::ExternalModel<ExpandRule, tensor::ExpandShapeOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto expand = cast<tensor::ExpandShapeOp>(op);
    gradients.add(expand.getSrc(),
                  tensor::CollapseShapeOp::create(gradients.getBuilder(), expand.getSrcType(),
                                                  gradients.get(expand.getResult()), expand.getReassociationIndices()));
    return success();
  }
};

struct CollapseRule : GradientOpInterface::ExternalModel<CollapseRule, tensor::CollapseShapeOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto collapse = cast<tensor::CollapseShapeOp>(op);
    Value expanded = tensor::ExpandShapeOp::create(
        gradients.getBuilder(), collapse.getSrcType(), gradients.get(collapse.getResult()),
        collapse.getReassociationIndices(), createSizes(gradients, collapse.getSrc()));
    gradients.add(collapse.getSrc(), expanded);
    return success();
  }
};

} // namespace

/// Whether a gradient is zeros into which only slices beside this one were inserted.
static bool isZeroAt(tensor::ExtractSliceOp slice, Value gradient) {
  while (auto insert = gradient.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!areApart(slice, insert))
      return false;
    gradient = insert.getDest();
  }
  if (auto cast = gradient.getDefiningOp<tensor::CastOp>())
    gradient = cast.getSource();
  auto fill = gradient.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_PosZeroFloat());
}

namespace {

/// Zeros are filled in around the slice. A further slice of the same tensor is put into the gradient that is there, or
/// added where the two overlap.
struct ExtractSliceRule : GradientOpInterface::ExternalModel<ExtractSliceRule, tensor::ExtractSliceOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto extract = cast<tensor::ExtractSliceOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value source = extract.getSource(), dy = gradients.get(extract.getResult());
    Slice slice(gradients, extract);
    Value sum = gradients.take(source);
    if (sum && !isZeroAt(extract, sum))
      dy = createGradientSum(builder, slice.extract(builder, sum, extract.getType()), dy);
    gradients.add(source, slice.insert(builder, dy, sum ? sum : createZeros(gradients, source)));
    return success();
  }
};

/// The same for one element.
struct ExtractRule : GradientOpInterface::ExternalModel<ExtractRule, tensor::ExtractOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto extract = cast<tensor::ExtractOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value source = extract.getTensor(), dy = gradients.get(extract.getResult());
    SmallVector<Value> indices =
        llvm::map_to_vector(extract.getIndices(), [&](Value index) { return gradients.getPrimal(index); });
    Value sum = gradients.take(source);
    if (sum)
      dy = createGradientSum(builder, tensor::ExtractOp::create(builder, sum, indices), dy);
    gradients.add(source, tensor::InsertOp::create(builder, dy, sum ? sum : createZeros(gradients, source), indices));
    return success();
  }
};

/// What the slice replaced has the gradient zero.
struct InsertSliceRule : GradientOpInterface::ExternalModel<InsertSliceRule, tensor::InsertSliceOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto insert = cast<tensor::InsertSliceOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value dy = gradients.get(insert.getResult());
    Slice slice(gradients, insert);
    if (gradients.isNeeded(insert.getSource()))
      gradients.add(insert.getSource(), slice.extract(builder, dy, insert.getSourceType()));
    if (!gradients.isNeeded(insert.getDest()))
      return success();
    gradients.add(insert.getDest(), slice.insert(builder, createZeros(gradients, insert.getSource()), dy));
    return success();
  }
};

/// The same where the slice is what a cache is given. The old keys that it replaced have the gradient zero.
struct AppendRule : GradientOpInterface::ExternalModel<AppendRule, AppendOp> {
  /// Of each sample from its own place on.
  static Value takeNewKeys(Gradients &gradients, Value dy, Value x, Value pasts) {
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    auto type = cast<RankedTensorType>(x.getType());
    Value empty = tensor::EmptyOp::create(builder, createSizes(gradients, x), type.getElementType());
    AffineMap all = builder.getMultiDimIdentityMap(4);
    AffineMap ofSample = AffineMap::get(4, 0, builder.getAffineDimExpr(0));
    SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
    auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
      ImplicitLocOpBuilder inner(location, nested);
      Value past = arith::IndexCastOp::create(inner, inner.getIndexType(), elements[0]);
      SmallVector<Value> place;
      for (int64_t dimension = 0; dimension < 4; ++dimension)
        place.push_back(linalg::IndexOp::create(inner, dimension));
      place[2] = arith::AddIOp::create(inner, past, place[2]);
      linalg::YieldOp::create(inner, Value(tensor::ExtractOp::create(inner, dy, place)));
    };
    auto taken = linalg::GenericOp::create(builder, empty.getType(), pasts, empty, {ofSample, all}, loops, body);
    Value result = taken.getResult(0);
    return result.getType() == type ? result : Value(tensor::CastOp::create(builder, type, result));
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto append = cast<AppendOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value dy = gradients.get(append.getResult()), x = append.getX(), past = gradients.getPrimal(append.getPast());
    if (gradients.isNeeded(x) && isa<RankedTensorType>(past.getType())) {
      gradients.add(x, takeNewKeys(gradients, dy, x, past));
    } else if (gradients.isNeeded(x)) {
      SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0));
      offsets[2] = arith::IndexCastOp::create(builder, builder.getIndexType(), past).getResult();
      Slice slice(builder, offsets, createSizes(gradients, x));
      gradients.add(x, slice.extract(builder, dy, cast<RankedTensorType>(x.getType())));
    }
    if (gradients.isNeeded(append.getCache()))
      gradients.add(append.getCache(), AppendOp::create(builder, dy, createZeros(gradients, x), past));
    return success();
  }
};

struct ConcatRule : GradientOpInterface::ExternalModel<ConcatRule, tensor::ConcatOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto concat = cast<tensor::ConcatOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value dy = gradients.get(concat.getResult());
    SmallVector<OpFoldResult> offsets(concat.getResultType().getRank(), builder.getIndexAttr(0));
    AffineExpr sum = builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1);
    for (Value input : concat.getInputs()) {
      SmallVector<OpFoldResult> sizes = createSizes(gradients, input);
      if (gradients.isNeeded(input))
        gradients.add(input,
                      Slice(builder, offsets, sizes).extract(builder, dy, cast<RankedTensorType>(input.getType())));
      OpFoldResult &offset = offsets[concat.getDim()];
      offset = affine::makeComposedFoldedAffineApply(builder, builder.getLoc(), sum, {offset, sizes[concat.getDim()]});
    }
    return success();
  }
};

/// What was padded around has no gradient.
struct PadRule : GradientOpInterface::ExternalModel<PadRule, tensor::PadOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto pad = cast<tensor::PadOp>(op);
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    if (failed(verifyCaptures(op, gradients)))
      return failure();
    Slice slice(builder, getPrimals(gradients, pad.getMixedLowPad()), createSizes(gradients, pad.getSource()));
    gradients.add(pad.getSource(), slice.extract(builder, gradients.get(pad.getResult()), pad.getSourceType()));
    return success();
  }
};

} // namespace

void resid::registerTensorRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) { AppendOp::attachInterface<AppendRule>(*context); });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::CastOp::attachInterface<CastRule>(*context);
    tensor::ExpandShapeOp::attachInterface<ExpandRule>(*context);
    tensor::CollapseShapeOp::attachInterface<CollapseRule>(*context);
    tensor::ExtractOp::attachInterface<ExtractRule>(*context);
    tensor::ExtractSliceOp::attachInterface<ExtractSliceRule>(*context);
    tensor::InsertSliceOp::attachInterface<InsertSliceRule>(*context);
    tensor::ConcatOp::attachInterface<ConcatRule>(*context);
    tensor::PadOp::attachInterface<PadRule>(*context);
  });
}
