// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/Nibbles.h"

#include "codegen/builder/Code.h"
#include "dialect/WeightPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

bool boundary::isNibbleTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(4);
}

RankedTensorType boundary::getByteTensor(RankedTensorType type) {
  if (type.getRank() == 0)
    return {};
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back())) {
    if (shape.back() % 2 != 0)
      return {};
    shape.back() /= 2;
  }
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8));
}

/// `bytes` as a tensor of i4: an element reads the byte that it shares with its neighbour.
static Value unpack(Code &code, Value bytes, RankedTensorType type) {
  unsigned last = type.getRank() - 1;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(code, code.getLoc(), bytes);
  sizes.back() = code.getIndexAttr(type.getDimSize(last));
  if (type.isDynamicDim(last)) {
    Value pairs = code.create<tensor::DimOp>(bytes, int64_t(last)), two = code.create<arith::ConstantIndexOp>(2);
    sizes.back() = code.create<arith::MulIOp>(pairs, two).getResult();
  }
  Value empty = tensor::EmptyOp::create(code, code.getLoc(), sizes, type.getElementType());
  AffineMap elements = code.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineExpr> pair(elements.getResults());
  AffineExpr half = pair.back() % 2;
  pair.back() = pair.back().floorDiv(2);
  auto getMap = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(type.getRank(), 0, results, code.getContext());
  };
  auto shiftType = RankedTensorType::get({2}, code.getI8Type());
  Value shifts = code.create<arith::ConstantOp>(DenseElementsAttr::get(shiftType, ArrayRef<int8_t>{0, 4}));
  auto body = [&](OpBuilder &nested, Location loc, ValueRange read) {
    Code inner(nested, loc);
    Value shifted = inner.create<arith::ShRSIOp>(read[0], read[1]);
    inner.create<linalg::YieldOp>(ValueRange(inner.create<arith::TruncIOp>(type.getElementType(), shifted)));
  };
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto unpacked = linalg::GenericOp::create(code, code.getLoc(), TypeRange(type), ValueRange{bytes, shifts}, empty,
                                            ArrayRef<AffineMap>{getMap(pair), getMap(half), elements}, loops, body);
  unpacked->setAttr(kNibblesNote, code.getUnitAttr());
  return unpacked.getResult(0);
}

void boundary::unpackNibbles(func::FuncOp function) {
  SmallVector<Type> types(function.getArgumentTypes());
  for (BlockArgument argument : function.getArguments()) {
    if (!isNibbleTensor(argument.getType()))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    types[argument.getArgNumber()] = getByteTensor(type);
    argument.setType(types[argument.getArgNumber()]);
    if (argument.use_empty())
      continue;
    Code code(OpBuilder::atBlockBegin(argument.getOwner()), argument.getLoc());
    SmallPtrSet<Operation *, 4> users(argument.user_begin(), argument.user_end());
    Value unpacked = unpack(code, argument, type);
    argument.replaceUsesWithIf(unpacked, [&](OpOperand &use) { return users.contains(use.getOwner()); });
  }
  function.setType(FunctionType::get(function.getContext(), types, function.getResultTypes()));
}
