// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a phase's body has at other columns than those of its step: loads, and values that are there already; see
// VectorBody.h.

#include "codegen/cpu/rows/LaneSums.h"
#include "codegen/cpu/rows/VectorBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// The columns from `first` on of a row that is read at other columns. Those that lead close to each other come by one
/// load, whose lanes then go to their places. Absent lanes are zeros.
Value VectorBody::loadMoved(AffineExpr move, Value pointer, VectorType type, int64_t first) {
  int64_t length = type.getNumElements(), left = present ? *present->known - first : length;
  if (left <= 0)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  // In a loop, the columns are those of any step.
  bool areAlike = start || rows::countMovedAlike(move, *tail.getKnownWidth(), length) == length;
  rows::MovedGroup group(move, start.value_or(0) + (start ? first : 0), length);
  if (length > 1 && (left < length || !areAlike || group.span > length)) {
    auto half = VectorType::get(length / 2, type.getElementType());
    Value low = loadMoved(move, pointer, half, first), high = loadMoved(move, pointer, half, first + length / 2);
    return concatenate(builder, low, high);
  }
  Value moved = rows::moveColumn(builder, move, builder.add(column, first));
  Value place = builder.at(pointer, type.getElementType(), builder.add(moved, group.first));
  Value span = LLVM::LoadOp::create(builder, loc, VectorType::get(group.span, type.getElementType()), place,
                                    /*alignment=*/1);
  return group.isInOrder() ? span : LLVM::ShuffleVectorOp::create(builder, loc, span, span, group.places).getResult();
}

void VectorBody::emitTogether(MutableArrayRef<VectorBody> steps, ArrayRef<int64_t> first) {
  VectorBody &any = steps.front();
  int64_t columns = any.getColumns(), full = *any.tail.getKnownWidth() / columns * columns;
  for (auto [step, column] : llvm::zip_equal(steps, first)) {
    step.begin(any.builder.constant(column),
               column < full ? std::optional<PresentColumns>() : any.tail.getPresent(columns, /*lane=*/0), {});
    step.start = column;
    step.withStores = false;
  }
  for (Operation &op : any.phase.getBody().front().without_terminator())
    for (VectorBody &step : steps)
      if (!step.takeMoved(&op, steps))
        step.emitOperation(&op);
  for (VectorBody &step : steps)
    step.emitStores();
}

/// Whether the value of the operation is one that was computed at other columns, and is there now.
bool VectorBody::takeMoved(Operation *op, MutableArrayRef<VectorBody> steps) {
  auto found = op->getNumResults() == 1 ? twins.find(op->getResult(0)) : twins.end();
  if (found == twins.end())
    return false;
  std::optional<Parts> taken = takeFromStep(found->second);
  if (!taken && start)
    taken = takeFromSteps(found->second, steps);
  if (taken)
    values[op->getResult(0)] = *taken;
  return bool(taken);
}

/// From the lanes of each part, or in even-odd order of its pair, where all columns lead to the part they are in.
std::optional<VectorBody::Parts> VectorBody::takeFromStep(const rows::Twin &twin) {
  bool isEvenOdd = order == ColumnOrder::EvenOdd;
  int64_t length = isEvenOdd ? 2 * lanes : lanes, width = tail.getKnownWidth().value_or(0);
  if (width < length || rows::countMovedAlike(twin.move, width, length) < length)
    return std::nullopt;
  rows::MovedGroup group(twin.move, /*column=*/0, length);
  for (int64_t first = 0; first < width; first += length)
    if (rows::moveColumn(twin.move, first) + group.first != first)
      return std::nullopt;
  auto isNeighbour = [](auto place) { return place.value() == int32_t(place.index() ^ 1); };
  bool areNeighbours = llvm::all_of(llvm::enumerate(group.places), isNeighbour);
  if (group.span > length || (isEvenOdd && !areNeighbours))
    return std::nullopt;
  Parts own = evaluate(twin.own), moved;
  auto places = llvm::to_vector_of<int64_t>(group.places);
  for (int64_t part = 0; part < usedParts; ++part)
    moved.push_back(isEvenOdd ? own[part ^ 1] : vector::ShuffleOp::create(builder, loc, own[part], own[part], places));
  return moved;
}

/// From whole parts of any of the steps, where columns keep their order.
std::optional<VectorBody::Parts> VectorBody::takeFromSteps(const rows::Twin &twin, MutableArrayRef<VectorBody> steps) {
  int64_t length = order == ColumnOrder::EvenOdd ? 2 * lanes : lanes, width = *tail.getKnownWidth();
  if (width % length || rows::countMovedAlike(twin.move, width, length) < length ||
      !rows::MovedGroup(twin.move, /*column=*/0, length).isInOrder())
    return std::nullopt;
  Parts moved;
  for (int64_t part = 0; part < usedParts; ++part) {
    int64_t first = *start + part * lanes / length * length;
    int64_t place = first < width ? rows::moveColumn(twin.move, first) : first; // absent columns have any values
    auto source = llvm::find_if(
        steps, [&](VectorBody &step) { return *step.start <= place && place < *step.start + getColumns(); });
    if (source == steps.end() || place % length)
      return std::nullopt;
    moved.push_back(source->evaluate(twin.own)[(place - *source->start) / lanes + part % (length / lanes)]);
  }
  return moved;
}
