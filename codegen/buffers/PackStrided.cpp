// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-pack-strided: strided arrays where only contiguous ones will do.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_PACKSTRIDED
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

namespace {

bool isStrided(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && !type.getLayout().isIdentity();
}

/// Whether a kernel runs through the operand row by row, at whatever distance they are.
bool takesRows(rows::KernelOp kernel, OpOperand &operand) {
  unsigned position = operand.getOperandNumber() - kernel.getRowDims().size() - kernel.getColumnDims().size();
  return kernel.getColumnDims().size() == 1 || !kernel.isAlongColumns(position);
}

/// Whether the use reads element by element, or asks for sizes: then strides do not matter.
bool readsAnyStride(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto kernel = dyn_cast<rows::KernelOp>(user))
    return !kernel.isDpsInit(&use) && takesRows(kernel, use);
  if (auto product = dyn_cast<contraction::KernelOp>(user))
    return !product.isDpsInit(&use) && !product.hasOwnLayout(use) && !product.isParameter(use);
  if (isa<attention::BackwardOp, attention::KernelOp, linalg::LinalgOp>(user))
    return cast<DestinationStyleOpInterface>(user).isDpsInput(&use);
  if (auto write = dyn_cast<bufferization::MaterializeInDestinationOp>(user))
    return &use == &write.getSourceMutable();
  return isa<tensor::DimOp, tensor::ExtractOp>(user);
}

/// Whether `value` may be computed in a strided buffer: by an op that writes rows or elements wherever they are, from
/// nothing that was there before.
bool canBeWrittenInPlace(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto writer = result ? dyn_cast<DestinationStyleOpInterface>(result.getOwner()) : nullptr;
  if (!writer ||
      !isa<attention::BackwardOp, attention::KernelOp, contraction::KernelOp, rows::KernelOp, linalg::LinalgOp>(
          writer.getOperation()))
    return false;
  OpOperand &init = *writer.getTiedOpOperand(result);
  if (auto kernel = dyn_cast<rows::KernelOp>(writer.getOperation()); kernel && !takesRows(kernel, init))
    return false;
  Value start = init.get();
  if (auto fill = start.getDefiningOp<linalg::FillOp>())
    start = fill.getDpsInits().front();
  return start.getDefiningOp<tensor::EmptyOp>() && llvm::all_of(value.getUses(), readsAnyStride);
}

/// Whether a slice of an array has its elements along the last axes, so many, one after the other.
template <typename OpTy> bool keepsRows(OpTy slice, ArrayRef<int64_t> whole, size_t axes) {
  ArrayRef<int64_t> sizes = slice.getStaticSizes();
  size_t rank = sizes.size();
  if (rank < axes || slice.getDroppedDims().test(rank - 1) || slice.getStaticStrides().back() != 1)
    return false;
  return llvm::all_of(llvm::seq(rank - axes + 1, rank), [&](size_t axis) {
    return !slice.getDroppedDims().test(axis) && sizes[axis] == whole[axis] && ShapedType::isStatic(sizes[axis]);
  });
}

/// Whether a row kernel runs along the last axis of the operand.
bool isAlongColumns(OpOperand &operand) {
  auto kernel = dyn_cast<rows::KernelOp>(operand.getOwner());
  unsigned first = kernel ? kernel.getRowDims().size() + kernel.getColumnDims().size() : 0;
  return kernel && operand.getOperandNumber() >= first && kernel.isAlongColumns(operand.getOperandNumber() - first);
}

/// A copy of a tensor in a new one.
Value createCopy(OpBuilder &builder, Location loc, Value tensor) {
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tensor),
                                        getElementTypeOrSelf(tensor.getType()));
  if (empty.getType() != tensor.getType())
    empty = tensor::CastOp::create(builder, loc, tensor.getType(), empty);
  return linalg::CopyOp::create(builder, loc, tensor, empty).getResult(0);
}

/// Whether a slice takes one of several elements along its last axis.
bool isOneOfSeveral(tensor::ExtractSliceOp slice) {
  ArrayRef<int64_t> whole = slice.getSourceType().getShape();
  for (auto [size, all] : llvm::reverse(llvm::zip_equal(slice.getStaticSizes(), whole)))
    if (size != 1 || all != 1)
      return size == 1;
  return false;
}

/// A column of an array that a kernel reads: the copy is a row. Others may hand it on to a kernel, as slices of it and
/// loops do, or join an axis of one element to others.
void packColumn(tensor::ExtractSliceOp slice) {
  ArrayRef<int64_t> whole = slice.getSourceType().getShape();
  auto needsRow = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto kernel = dyn_cast<rows::KernelOp>(user))
      return isAlongColumns(use) && !keepsRows(slice, whole, kernel.getColumnDims().size());
    if (isa<tensor::CollapseShapeOp>(user) && isOneOfSeveral(slice))
      return true;
    bool isInserted = isa<tensor::InsertSliceOp>(user) && use.getOperandNumber() == 0;
    return !keepsRows(slice, whole, /*axes=*/1) && !isInserted && !readsAnyStride(use);
  };
  if (llvm::none_of(slice->getUses(), needsRow))
    return;
  OpBuilder builder(slice->getContext());
  builder.setInsertionPointAfter(slice);
  Value copy = createCopy(builder, slice.getLoc(), slice);
  slice.getResult().replaceUsesWithIf(copy, needsRow);
}

/// What a kernel writes into a column is made as a row.
void unpackColumn(tensor::InsertSliceOp slice) {
  auto kernel = slice.getSource().getDefiningOp<rows::KernelOp>();
  if (!kernel || keepsRows(slice, slice.getDestType().getShape(), kernel.getColumnDims().size()))
    return;
  OpBuilder builder(slice);
  slice.getSourceMutable().assign(createCopy(builder, slice.getLoc(), slice.getSource()));
}

/// A copy of `tensor` in a new tensor with the sizes of `buffer`.
Value createCopy(OpBuilder &builder, Location loc, Value tensor, Value buffer) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dimension));
  Value empty = tensor::EmptyOp::create(builder, loc, type, sizes);
  return linalg::CopyOp::create(builder, loc, tensor, empty).getResult(0);
}

struct PackStrided : public buffers::impl::PackStridedBase<PackStrided> {
  void runOnOperation() override {
    SmallVector<bufferization::ToTensorOp> inputs;
    SmallVector<bufferization::MaterializeInDestinationOp> outputs;
    getOperation()->walk([&](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        packColumn(slice);
      if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
        unpackColumn(slice);
      if (auto input = dyn_cast<bufferization::ToTensorOp>(op); input && isStrided(input.getBuffer()))
        inputs.push_back(input);
      if (auto output = dyn_cast<bufferization::MaterializeInDestinationOp>(op); output && isStrided(output.getDest()))
        outputs.push_back(output);
    });
    for (bufferization::MaterializeInDestinationOp output : outputs)
      unpack(output);
    for (bufferization::ToTensorOp input : inputs)
      pack(input);
  }

  /// One contiguous copy serves all that need one.
  static void pack(bufferization::ToTensorOp input) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : input.getResult().getUses())
      if (!readsAnyStride(use))
        uses.push_back(&use);
    if (uses.empty())
      return;
    OpBuilder builder(input->getContext());
    builder.setInsertionPointAfter(input);
    Value copy = createCopy(builder, input.getLoc(), input.getResult(), input.getBuffer());
    for (OpOperand *use : uses)
      use->set(copy);
  }

  /// What is not written in place is computed elsewhere and copied at the end.
  static void unpack(bufferization::MaterializeInDestinationOp output) {
    if (canBeWrittenInPlace(output.getSource()))
      return;
    OpBuilder builder(output);
    output.getSourceMutable().assign(createCopy(builder, output.getLoc(), output.getSource(), output.getDest()));
  }
};

} // namespace
