// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/weights/LinearLayers.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/stream/Stacks.h"

using namespace mlir;
using namespace mlir::resid;

LogicalResult LinearRefusal::set(Operation *place, const Twine &text) {
  op = place;
  reason = text.str();
  return failure();
}

static std::string getName(Operation *op) { return op->getName().getStringRef().str(); }

static bool hasOneReader(Value value) { return getReaders(value).size() == 1; }

static int64_t getRank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

//===----------------------------------------------------------------------===//
// Steps that change neither numbers nor the feature axis
//===----------------------------------------------------------------------===//

/// Whether `op` casts the element type or reshapes the leading axes of its first operand.
static bool keepsFeatures(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, tensor::CastOp>(op))
    return isa<RankedTensorType>(op->getResult(0).getType());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return !collapse.getReassociationIndices().empty() && collapse.getReassociationIndices().back().size() == 1;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return !expand.getReassociationIndices().empty() && expand.getReassociationIndices().back().size() == 1;
  return false;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The loop that an axis of an operand runs along.
static unsigned getLoop(AffineMap map, int64_t axis) { return cast<AffineDimExpr>(map.getResult(axis)).getPosition(); }

static bool runsAlong(AffineMap map, unsigned loop) { return map.isFunctionOfDim(loop); }

/// The operand that reads the stored weight, if what the contraction reads is that cast, transposed or repeated for it
/// alone. `axes` has the stored axis for each axis that the contraction reads, or -1 for one that linalg.broadcast
/// adds.
static OpOperand *findStoredWeight(OpOperand *read, SmallVectorImpl<int64_t> &axes) {
  llvm::append_range(axes, llvm::seq<int64_t>(0, getRank(read->get())));
  for (; hasOneReader(read->get()); read = &read->get().getDefiningOp()->getOpOperand(0)) {
    Operation *op = read->get().getDefiningOp();
    if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op)) {
      for (int64_t &axis : axes)
        axis = axis < 0 ? axis : transpose.getPermutation()[axis];
    } else if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(op)) {
      ArrayRef<int64_t> added = broadcast.getDimensions();
      for (int64_t &axis : axes)
        axis = llvm::is_contained(added, axis) ? -1 : axis - llvm::count_if(added, [&](int64_t i) { return i < axis; });
    } else if (!isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op)) {
      return read;
    }
  }
  return read;
}

/// Fills in the axes of the weight. Fails where a loop over rows runs along the weight too, so that rows do not share
/// it.
static LogicalResult readAxes(LinearLayer &layer, OpOperand *read, ArrayRef<int64_t> storedAxes) {
  auto op = cast<linalg::LinalgOp>(layer.contraction);
  AffineMap input = op.getMatchingIndexingMap(layer.input);
  AffineMap weight = op.getMatchingIndexingMap(read);
  AffineMap output = op.getIndexingMapsArray().back();
  SmallVector<std::pair<int64_t, int64_t>> outputs;
  for (auto [i, storedAxis] : llvm::enumerate(storedAxes)) {
    unsigned loop = getLoop(weight, i);
    if (storedAxis < 0)
      continue;
    bool isRead = runsAlong(input, loop), isWritten = runsAlong(output, loop);
    if (isRead == isWritten)
      return failure();
    if (isRead)
      layer.inputAxes.push_back(storedAxis);
    else
      outputs.push_back({*output.getResultPosition(getAffineDimExpr(loop, op.getContext())), storedAxis});
  }
  llvm::sort(outputs);
  for (auto [position, storedAxis] : outputs)
    layer.outputAxes.push_back(storedAxis);
  return success(!layer.inputAxes.empty());
}

/// The op as a layer whose rows `input` reads, with its own bias.
static FailureOr<LinearLayer> readLinear(LinearOp op, OpOperand *input) {
  if (input != &op.getXMutable() || op.hasIntegerWeight())
    return failure();
  SmallVector<int64_t> axes;
  OpOperand *weight = findStoredWeight(&op.getWeightMutable(), axes);
  int64_t in = axes[op.getInputAxis()], out = axes[op.getOutputAxis()];
  if (in < 0 || out < 0)
    return failure();
  LinearLayer layer{op, input, weight, {in}, {out}, {}, op.getResult()};
  for (OpOperand &bias : op.getBiasMutable())
    layer.biases.push_back(&bias);
  layer.endsInFeatures = true;
  return layer;
}

/// The contraction as a layer whose rows `input` reads. Biases are not looked for, but for that of resid.linear.
static FailureOr<LinearLayer> readContraction(OpOperand *input) {
  if (auto linear = dyn_cast<LinearOp>(input->getOwner()))
    return readLinear(linear, input);
  auto op = dyn_cast<linalg::LinalgOp>(input->getOwner());
  if (!op || !linalg::isaContractionOpInterface(op) || !op.hasPureTensorSemantics() || !op.isDpsInput(input) ||
      !isa<FloatType>(cast<RankedTensorType>(op->getResult(0).getType()).getElementType()))
    return failure();
  OpOperand *read = op.getDpsInputOperand(input == op.getDpsInputOperand(0) ? 1 : 0);
  SmallVector<int64_t> storedAxes;
  LinearLayer layer{op, input, findStoredWeight(read, storedAxes), {}, {}, {}, op->getResult(0)};
  if (failed(readAxes(layer, read, storedAxes)))
    return failure();
  AffineMap output = op.getIndexingMapsArray().back();
  unsigned last = getLoop(output, output.getNumResults() - 1);
  layer.endsInFeatures = layer.outputAxes.size() == 1 && !runsAlong(op.getMatchingIndexingMap(input), last);
  return layer;
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

/// A map from indices of rows and features to the feature, (…, j) -> (j).
static bool readsFeature(AffineMap map) {
  return map.getNumResults() == 1 && map.isProjectedPermutation() && getLoop(map, 0) == map.getNumDims() - 1;
}

/// The operand that reads the vector if `value` repeats a vector along all axes but the last, for one reader.
static OpOperand *getRepeatedVector(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !hasOneReader(value))
    return nullptr;
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
    bool isVector =
        getRank(broadcast.getInput()) == 1 && !llvm::is_contained(broadcast.getDimensions(), getRank(value) - 1);
    return isVector ? &broadcast.getInputMutable() : nullptr;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumLoops() != generic.getNumParallelLoops() || !generic.getIndexingMapsArray().back().isIdentity() ||
      !readsFeature(generic.getIndexingMapsArray().front()))
    return nullptr;
  bool copies = generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0);
  return copies ? generic.getDpsInputOperand(0) : nullptr;
}

/// The operand that reads the bias if `op` adds one vector to each row of its operand `sum`.
static OpOperand *getGenericBias(linalg::GenericOp op, OpOperand &sum) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumLoops() != op.getNumParallelLoops() ||
      !op.isDpsInput(&sum) || !op.getMatchingIndexingMap(&sum).isIdentity() ||
      !op.getIndexingMapsArray().back().isIdentity())
    return nullptr;
  Block *body = op.getBody();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto isElement = [&](Value value, unsigned i) { return value == body->getArgument(i); };
  if (!add || !((isElement(add.getLhs(), 0) && isElement(add.getRhs(), 1)) ||
                (isElement(add.getLhs(), 1) && isElement(add.getRhs(), 0))))
    return nullptr;
  OpOperand *bias = op.getDpsInputOperand(&sum == op.getDpsInputOperand(0) ? 1 : 0);
  if (readsFeature(op.getMatchingIndexingMap(bias)))
    return bias;
  return op.getMatchingIndexingMap(bias).isIdentity() ? getRepeatedVector(bias->get()) : nullptr;
}

/// The operand that reads the bias if the owner of `sum` adds one to the rows that `sum` reads.
static OpOperand *getBias(OpOperand &sum) {
  Operation *op = sum.getOwner();
  if (auto addBias = dyn_cast<AddBiasOp>(op))
    return &sum == &addBias.getFMutable() ? &addBias.getBiasMutable() : nullptr;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return getGenericBias(generic, sum);
  if (!isa<arith::AddFOp, linalg::AddOp>(op) || sum.getOperandNumber() > 1)
    return nullptr;
  return getRepeatedVector(op->getOperand(1 - sum.getOperandNumber()));
}

/// Whether the contraction accumulates onto nothing but zeros and a bias, which is then added to the layer's.
static bool readInit(LinearLayer &layer) {
  if (isa<LinearOp>(layer.contraction))
    return true;
  Value init = cast<linalg::LinalgOp>(layer.contraction).getDpsInits().front();
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
  if (matchPattern(init, m_AnyZeroFloat()))
    return true;
  OpOperand *bias = getRepeatedVector(init);
  if (bias)
    layer.biases.push_back(bias);
  return bias;
}

//===----------------------------------------------------------------------===//
// Layers that read a value
//===----------------------------------------------------------------------===//

/// Goes from the contraction to the last bias that is added to it and nothing else.
static void followBiases(LinearLayer &layer) {
  if (!layer.endsInFeatures)
    return;
  readInit(layer);
  for (Value value = layer.result; hasOneReader(value);) {
    OpOperand &use = *getReaders(value).front();
    OpOperand *bias = getBias(use);
    if (!bias && !keepsFeatures(use.getOwner()))
      return;
    value = use.getOwner()->getResult(0);
    if (!bias)
      continue;
    layer.biases.push_back(bias);
    layer.result = value;
  }
}

/// Whether the layer sums over the last axis of what `input` reads, and over that alone.
static bool sumsOverFeatures(const LinearLayer &layer) {
  auto op = dyn_cast<linalg::LinalgOp>(layer.contraction);
  if (!op)
    return true;
  AffineMap input = op.getMatchingIndexingMap(layer.input);
  unsigned last = getLoop(input, input.getNumResults() - 1);
  return layer.inputAxes.size() == 1 && !runsAlong(op.getIndexingMapsArray().back(), last);
}

static LogicalResult collectReaders(Value value, SmallVectorImpl<LinearLayer> &layers, LinearRefusal &refusal) {
  for (OpOperand *use : getReaders(value)) {
    Operation *reader = use->getOwner();
    if (keepsFeatures(reader)) {
      if (failed(collectReaders(reader->getResult(0), layers, refusal)))
        return failure();
      continue;
    }
    FailureOr<LinearLayer> layer = readContraction(use);
    if (failed(layer) || !sumsOverFeatures(*layer)) {
      refusal = {reader, "expected linear layers as the only readers, but got " + getName(reader)};
      return failure();
    }
    followBiases(*layer);
    layers.push_back(*layer);
  }
  return success();
}

LogicalResult resid::findReadingLayers(Value value, SmallVectorImpl<LinearLayer> &layers, LinearRefusal &refusal) {
  if (failed(collectReaders(value, layers, refusal)))
    return failure();
  if (!layers.empty())
    return success();
  refusal = {value.getDefiningOp(), "expected linear layers that read the value, but got none"};
  return failure();
}

//===----------------------------------------------------------------------===//
// The layer that makes a value
//===----------------------------------------------------------------------===//

/// The operand of an op that adds a bias through which the search goes on, and the bias.
static std::pair<OpOperand *, OpOperand *> getBiasedOperand(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (OpOperand *bias = getBias(operand))
      return {&operand, bias};
  return {nullptr, nullptr};
}

/// The contraction as a layer; its weight is the operand that runs along the last axis of the output.
static FailureOr<LinearLayer> readWriter(Operation *op, LinearRefusal &refusal) {
  for (OpOperand &input : op->getOpOperands()) {
    FailureOr<LinearLayer> layer = readContraction(&input);
    if (succeeded(layer) && layer->endsInFeatures)
      return layer;
  }
  return refusal.set(
      op, "expected a linear layer whose rows share a weight and whose last axis is its output features, but got " +
              getName(op));
}

FailureOr<LinearLayer> resid::findWritingLayer(Value value, LinearRefusal &refusal) {
  SmallVector<OpOperand *> biases;
  Value result = value, step = value;
  for (;;) {
    Operation *op = step.getDefiningOp();
    if (!op)
      return refusal.set(nullptr, "expected a linear layer that makes the value, but got an argument");
    if (!hasOneReader(step))
      return refusal.set(op, "expected one reader of " + getName(op) + ", but got " + Twine(getReaders(step).size()));
    if (keepsFeatures(op)) {
      step = op->getOperand(0);
      if (biases.empty())
        result = step;
      continue;
    }
    auto [sum, bias] = getBiasedOperand(op);
    if (!sum)
      break;
    biases.push_back(bias);
    step = sum->get();
  }
  Operation *op = step.getDefiningOp();
  auto contraction = dyn_cast<linalg::LinalgOp>(op);
  if (!isa<LinearOp>(op) && (!contraction || !linalg::isaContractionOpInterface(contraction)))
    return refusal.set(op, "expected a linear layer that makes the value, but got " + getName(op));
  FailureOr<LinearLayer> layer = readWriter(op, refusal);
  if (failed(layer))
    return failure();
  layer->biases.append(biases);
  layer->result = result;
  if (!readInit(*layer))
    return refusal.set(op,
                       "expected a linear layer that accumulates onto zeros or a bias, but got other initial values");
  return layer;
}
