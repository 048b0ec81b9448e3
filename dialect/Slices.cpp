// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Slices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

bool resid::hasNoElements(Type tensor) { return llvm::is_contained(cast<RankedTensorType>(tensor).getShape(), 0); }

Value resid::extractSlice(OpBuilder &builder, Location loc, RankedTensorType type, Value from, SliceNumbers offsets,
                          SliceNumbers sizes, SliceNumbers strides) {
  if (!type)
    type =
        cast<RankedTensorType>(tensor::ExtractSliceOp::inferResultType(cast<RankedTensorType>(from.getType()), sizes));
  if (!hasNoElements(type))
    return tensor::ExtractSliceOp::create(builder, loc, type, from, offsets, sizes, strides);
  SmallVector<Value> open;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      open.push_back(value);
  return tensor::EmptyOp::create(builder, loc, type, open);
}

Value resid::insertSlice(OpBuilder &builder, Location loc, Value slice, Value into, SliceNumbers offsets,
                         SliceNumbers sizes, SliceNumbers strides) {
  if (hasNoElements(slice.getType()))
    return into;
  return tensor::InsertSliceOp::create(builder, loc, slice, into, offsets, sizes, strides);
}

bool resid::areApart(OffsetSizeAndStrideOpInterface a, OffsetSizeAndStrideOpInterface b) {
  auto endsBefore = [](OffsetSizeAndStrideOpInterface first, OffsetSizeAndStrideOpInterface second, size_t dimension) {
    auto offset = getConstantIntValue(first.getMixedOffsets()[dimension]),
         size = getConstantIntValue(first.getMixedSizes()[dimension]),
         stride = getConstantIntValue(first.getMixedStrides()[dimension]),
         next = getConstantIntValue(second.getMixedOffsets()[dimension]);
    return offset && size && stride && next && *stride > 0 && *offset + (*size - 1) * *stride < *next;
  };
  return llvm::any_of(llvm::seq<size_t>(0, a.getMixedOffsets().size()),
                      [&](size_t dimension) { return endsBefore(a, b, dimension) || endsBefore(b, a, dimension); });
}
