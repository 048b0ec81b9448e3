// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensor dialect: making, moving and reshaping elements. Computes nothing.

#include "reference/Interpreter.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid::reference {

namespace {

/// A strided box inside of a larger array.
struct Box {
  SmallVector<int64_t> offsets, sizes, strides;
};

/// Calls `body(inner, outer)` with the linear positions of each element of the box in the box and in `outer`.
template <typename Body> void forEachElement(const Box &box, const Array &outer, Body body) {
  SmallVector<int64_t> outerStrides = outer.getStrides(), index(box.sizes.size(), 0);
  int64_t count = 1, position = 0;
  for (auto [offset, size, stride] : llvm::zip_equal(box.offsets, box.sizes, outerStrides)) {
    count *= size;
    position += offset * stride;
  }
  for (int64_t inner = 0; inner != count; ++inner) {
    body(inner, position);
    for (int64_t d = static_cast<int64_t>(index.size()) - 1; d >= 0; --d) {
      int64_t step = box.strides[d] * outerStrides[d];
      position += step;
      if (++index[d] < box.sizes[d])
        break;
      position -= step * box.sizes[d];
      index[d] = 0;
    }
  }
}

LogicalResult checkInside(Operation *op, const Box &box, const Array &outer) {
  for (auto [d, outerSize] : llvm::enumerate(outer.getShape())) {
    int64_t size = box.sizes[d], last = box.offsets[d] + (size - 1) * box.strides[d];
    bool inside = size >= 0 && box.offsets[d] >= 0 && box.offsets[d] <= outerSize &&
                  (size == 0 || (last >= 0 && last < outerSize));
    if (!inside)
      return op->emitOpError() << "expected dimension " << d << " of the slice inside of size " << outerSize
                               << " but got offset " << box.offsets[d] << ", size " << size << ", stride "
                               << box.strides[d];
  }
  return success();
}

/// The shape of a result of rank-reducing slices: `sizes` without the dropped dimensions.
SmallVector<int64_t> dropDimensions(ArrayRef<int64_t> sizes, const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t> kept;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!dropped.test(d))
      kept.push_back(size);
  return kept;
}

} // namespace

FailureOr<int64_t> Interpreter::linearOffset(Operation *op, const Array &array, ValueRange indices) {
  int64_t offset = 0;
  for (auto [d, dim, stride, value] : llvm::enumerate(array.getShape(), array.getStrides(), indices)) {
    int64_t index = get(value).asInteger();
    if (index < 0 || index >= dim)
      return op->emitOpError() << "expected an index below " << dim << " in dimension " << d << " but got " << index;
    offset += index * stride;
  }
  return offset;
}

Interpreter::Results Interpreter::evaluate(tensor::SplatOp op) {
  FailureOr<SmallVector<int64_t>> shape = getSizes(op, op.getType(), op.getDynamicSizes());
  if (failed(shape))
    return failure();
  Array result = Array::zeros(op.getType(), *shape);
  for (int64_t i = 0, e = result.size(); i != e; ++i)
    copyElement(get(op.getInput()), 0, result, i);
  return SmallVector<Array>{result};
}

Interpreter::Results Interpreter::evaluate(tensor::ExtractOp op) {
  const Array &source = get(op.getTensor());
  FailureOr<int64_t> offset = linearOffset(op, source, op.getIndices());
  if (failed(offset))
    return failure();
  Array result = Array::zeros(op.getType());
  copyElement(source, *offset, result, 0);
  return SmallVector<Array>{result};
}

Interpreter::Results Interpreter::evaluate(tensor::InsertOp op) {
  Array result = get(op.getDest());
  result.setAccuracy(nullptr);
  FailureOr<int64_t> offset = linearOffset(op, result, op.getIndices());
  if (failed(offset))
    return failure();
  copyElement(get(op.getScalar()), 0, result, *offset);
  return SmallVector<Array>{result};
}

Interpreter::Results Interpreter::evaluate(tensor::ExtractSliceOp op) {
  const Array &source = get(op.getSource());
  Box box{getIntegers(op.getMixedOffsets()), getIntegers(op.getMixedSizes()), getIntegers(op.getMixedStrides())};
  if (failed(checkInside(op, box, source)))
    return failure();
  Array result = Array::zeros(op.getType(), dropDimensions(box.sizes, op.getDroppedDims()));
  forEachElement(box, source, [&](int64_t inner, int64_t outer) { copyElement(source, outer, result, inner); });
  return SmallVector<Array>{result};
}

FailureOr<Array> Interpreter::insertSlice(OffsetSizeAndStrideOpInterface op, Value inserted, Array result,
                                          const llvm::SmallBitVector &dropped) {
  const Array &source = get(inserted);
  result.setAccuracy(nullptr);
  Box box{getIntegers(op.getMixedOffsets()), getIntegers(op.getMixedSizes()), getIntegers(op.getMixedStrides())};
  if (failed(checkInside(op, box, result)))
    return failure();
  if (dropDimensions(box.sizes, dropped) != source.getShape())
    return op->emitOpError() << "expected a source of the slice's sizes but got " << describe(source);
  forEachElement(box, result, [&](int64_t inner, int64_t outer) { copyElement(source, inner, result, outer); });
  return result;
}

Interpreter::Results Interpreter::evaluate(tensor::InsertSliceOp op) {
  FailureOr<Array> result = insertSlice(op, op.getSource(), get(op.getDest()), op.getDroppedDims());
  if (failed(result))
    return failure();
  return SmallVector<Array>{*result};
}

Interpreter::Results Interpreter::evaluate(tensor::ExpandShapeOp op) {
  const Array &source = get(op.getSrc());
  SmallVector<int64_t> shape = getIntegers(op.getMixedOutputShape());
  for (auto [group, size] : llvm::zip_equal(op.getReassociationIndices(), source.getShape())) {
    int64_t product = 1;
    for (int64_t d : group)
      product *= shape[d];
    if (product != size)
      return op.emitOpError() << "expected sizes whose product is " << size << " but got " << product;
  }
  return SmallVector<Array>{source.reshaped(shape)};
}

Interpreter::Results Interpreter::evaluate(tensor::CollapseShapeOp op) {
  const Array &source = get(op.getSrc());
  if (op.getReassociationIndices().empty() && source.size() != 1)
    return op.emitOpError() << "expected one element but got " << describe(source);
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    shape.push_back(1);
    for (int64_t d : group)
      shape.back() *= source.getShape()[d];
  }
  return SmallVector<Array>{source.reshaped(shape)};
}

Interpreter::Results Interpreter::evaluate(tensor::ConcatOp op) {
  SmallVector<Array> inputs = llvm::map_to_vector(op.getInputs(), [&](Value v) { return get(v); });
  int64_t axis = op.getDim();
  SmallVector<int64_t> shape(inputs.front().getShape());
  for (const Array &input : llvm::drop_begin(inputs))
    shape[axis] += input.getShape()[axis];
  Array result = Array::zeros(op.getType(), shape);
  Box box{SmallVector<int64_t>(shape.size(), 0), {}, SmallVector<int64_t>(shape.size(), 1)};
  for (const Array &input : inputs) {
    box.sizes.assign(input.getShape().begin(), input.getShape().end());
    if (failed(checkInside(op, box, result)))
      return failure();
    forEachElement(box, result, [&](int64_t inner, int64_t outer) { copyElement(input, inner, result, outer); });
    box.offsets[axis] += input.getShape()[axis];
  }
  return SmallVector<Array>{result};
}

Interpreter::Results Interpreter::evaluate(tensor::PadOp op) {
  const Array &source = get(op.getSource());
  SmallVector<int64_t> low = getIntegers(op.getMixedLowPad()), high = getIntegers(op.getMixedHighPad());
  Box box{low, SmallVector<int64_t>(source.getShape()), SmallVector<int64_t>(low.size(), 1)};
  SmallVector<int64_t> shape;
  for (auto [before, size, after] : llvm::zip_equal(low, source.getShape(), high)) {
    if (before < 0 || after < 0)
      return op.emitOpError() << "expected padding of 0 or more but got " << std::min(before, after);
    shape.push_back(before + size + after);
  }
  FailureOr<Array> result = generate(op, op.getRegion().front(), op.getType(), shape);
  if (failed(result))
    return failure();
  forEachElement(box, *result, [&](int64_t inner, int64_t outer) { copyElement(source, inner, *result, outer); });
  return SmallVector<Array>{*result};
}

FailureOr<ScalarProgram> Interpreter::compileBody(Block &body) {
  FailureOr<ScalarProgram> program =
      ScalarProgram::compile(body, options.mode, [&](Value value) -> const Array & { return get(value); });
  if (failed(program) && options.unsupported)
    *options.unsupported = true;
  return program;
}

FailureOr<Array> Interpreter::generate(Operation *op, Block &body, RankedTensorType type, ArrayRef<int64_t> shape) {
  FailureOr<ScalarProgram> program = compileBody(body);
  if (failed(program))
    return failure();
  Array result = Array::zeros(type, shape);
  SmallVector<int64_t> strides = result.getStrides();
  Machine machine = program->start();
  for (int64_t i = 0, e = result.size(); i != e; ++i) {
    for (auto [d, stride] : llvm::enumerate(strides))
      machine.registers[d].integer = (i / stride) % shape[d];
    program->run(machine);
    Scalar value = machine.registers[program->yielded().front()];
    if (result.isFloat())
      result.mutableFloats()[i] = value.number;
    else
      result.mutableIntegers()[i] = value.integer;
  }
  if (machine.fault)
    return op->emitOpError() << "meets " << machine.fault;
  if (program->yieldedUnits().front() != 0.0 || program->isTainted())
    result.setAccuracy(getToleranceAccuracy());
  return result;
}

Interpreter::Results Interpreter::evaluate(tensor::GenerateOp op) {
  FailureOr<SmallVector<int64_t>> shape = getSizes(op, op.getType(), op.getDynamicExtents());
  if (failed(shape))
    return failure();
  FailureOr<Array> result = generate(op, op.getBody().front(), op.getType(), *shape);
  if (failed(result))
    return failure();
  return SmallVector<Array>{*result};
}

Interpreter::Results Interpreter::evaluate(tensor::ReshapeOp op) {
  const Array &source = get(op.getSource());
  SmallVector<int64_t> shape(get(op.getShape()).integers());
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  if (product != source.size() || llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return op.emitOpError() << "expected sizes whose product is " << source.size() << " but got " << product;
  return SmallVector<Array>{source.reshaped(shape)};
}

Interpreter::Results Interpreter::evaluateTensorOp(Operation &op) {
  auto single = [](Array array) { return SmallVector<Array>{std::move(array)}; };
  return llvm::TypeSwitch<Operation *, Results>(&op)
      .Case([&](tensor::EmptyOp empty) -> Results {
        FailureOr<SmallVector<int64_t>> shape = getSizes(empty, empty.getType(), empty.getDynamicSizes());
        if (failed(shape))
          return failure();
        return single(Array::zeros(empty.getType(), *shape));
      })
      .Case<tensor::SplatOp, tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::GatherOp, tensor::ScatterOp,
            tensor::ConcatOp, tensor::PadOp, tensor::GenerateOp>([&](auto known) { return evaluate(known); })
      .Case([&](tensor::DimOp dim) -> Results {
        const Array &source = get(dim.getSource());
        int64_t index = get(dim.getIndex()).asInteger();
        if (index < 0 || index >= source.getRank())
          return dim.emitOpError() << "expected a dimension below " << source.getRank() << " but got " << index;
        return single(Array::scalar(dim.getType(), source.getShape()[index]));
      })
      .Case([&](tensor::RankOp rank) -> Results {
        return single(Array::scalar(rank.getType(), get(rank.getTensor()).getRank()));
      })
      .Case([&](tensor::CastOp cast) -> Results { return single(get(cast.getSource())); })
      .Case([&](tensor::FromElementsOp from) -> Results {
        Array result = Array::zeros(from.getType(), from.getType().getShape());
        for (auto [i, element] : llvm::enumerate(from.getElements()))
          copyElement(get(element), 0, result, i);
        return single(result);
      })
      .Case([&](tensor::BitcastOp) { return evaluateScalarOp(op); })
      .Default([&](Operation *) -> Results { return LogicalResult(unsupported(&op)); });
}

} // namespace mlir::resid::reference
