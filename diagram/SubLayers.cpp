// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/SubLayers.h"

#include "diagram/Describe.h"
#include "dialect/Placement.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/stream/BranchSlice.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::diagram;

std::optional<Part> diagram::readNorm(Operation *op) {
  std::optional<NormParts> norm = getNormParts(op);
  return norm ? std::optional(describeNorm(*norm)) : std::nullopt;
}

static std::optional<Part> readNormAt(BlockOp block, NormPosition position) {
  SmallVector<NormParts> norms = getBlockNorms(block);
  for (auto [norm, place] : llvm::zip_equal(norms, getPlacementRule(block.getPlacement()).positions))
    if (place == position)
      return describeNorm(norm);
  return std::nullopt;
}

static void append(std::vector<Part> &parts, const std::optional<Part> &part) {
  if (part)
    parts.push_back(*part);
}

/// Whether a value comes out of a stream.
static bool isOfStream(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<BlockOp, AddOp, scf::ForOp>(op) || getNormParts(op));
}

/// Whether a captured value is what a branch attends to, not a parameter: it is of a stream, or it has the rank and the
/// first and last size of this stream and so is another sequence of the same batch and width.
static bool isMemory(Value value, RankedTensorType stream) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool isConstant = matchPattern(value, m_Constant());
  return isOfStream(value) ||
         (type && !isConstant && type.getRank() == stream.getRank() && type.getRank() > 1 &&
          type.getShape().front() == stream.getShape().front() && type.getShape().back() == stream.getShape().back());
}

/// The branch's own box, and what it attends to: the tensors it reads from above are either parameters or memory.
static void describeBranch(ArrayRef<Operation *> ops, ArrayRef<Value> captured, RankedTensorType stream,
                           SubLayer &layer) {
  std::vector<std::string> parameters, memories;
  for (Value value : captured) {
    if (!isa<TensorType>(value.getType()))
      continue;
    std::vector<std::string> &names = isMemory(value, stream) ? memories : parameters;
    std::string name = isOfStream(value) ? "memory" : nameOf(value);
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  layer.memory = llvm::join(memories, ", ");
  layer.branch.push_back({PartKind::Branch, describeOps(ops), llvm::join(parameters, ", ")});
}

SubLayer diagram::readSubLayer(BlockOp block) {
  SubLayer layer;
  layer.placement = stringifyPlacement(block.getPlacement()).str();
  layer.beforeSubLayer = readNormAt(block, NormPosition::BeforeSubLayer);
  if (block.getStreams()) {
    layer.streams = static_cast<int>(block.getX().getType().getShape().end()[-2]);
    layer.read = describeConnection("read", {block.getReadWeights()});
    layer.write =
        describeConnection(block.getMix() ? "mix and write" : "write", {block.getMix(), block.getWriteWeights()});
  }
  append(layer.branch, readNormAt(block, NormPosition::BeforeBranch));
  Block &body = block.getBranch().front();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(block.getBranch(), captured);
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  describeBranch(ops, captured.getArrayRef(), block.getRowType(), layer);
  Value output = body.getTerminator()->getOperand(0);
  layer.readsStream = isComputedFrom(output, body.getArgument(0)) || isComputedFrom(output, block.getX());
  append(layer.branch, readNormAt(block, NormPosition::AfterBranch));
  if (block.hasDropout())
    layer.branch.push_back(describeDropout(*block.getP(), *block.getSite(), getDropoutOrigin(block)));
  append(layer.branch, describeBranchScale(block.getGate(), block.getBranchScale()));
  layer.skipScale = describeSkip(getAddParts(block));
  layer.afterAdd = readNormAt(block, NormPosition::AfterAdd);
  return layer;
}

/// The values that `ops` read and do not make.
static SmallVector<Value> getInputs(ArrayRef<Operation *> ops, Value stream) {
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (operand != stream && !llvm::is_contained(ops, operand.getDefiningOp()))
        inputs.insert(operand);
  return inputs.takeVector();
}

/// The box of a flat branch that ends in `value`: the ops that make it from `stream`, or where it comes from. Bias and
/// dropout at its end are not in it.
static void readFlatBranch(AddOp add, Value value, Value stream, llvm::SetVector<Operation *> &branchOps,
                           SubLayer &layer) {
  BranchSlice slice = findBranchSlice(add->getBlock(), stream, value);
  ArrayRef<Operation *> ops = slice.ops.getArrayRef();
  layer.readsStream = slice.isDependent;
  if (ops.empty()) {
    layer.branch.push_back({PartKind::Source, nameOf(value)});
    return;
  }
  branchOps.insert_range(ops);
  describeBranch(ops, getInputs(ops, stream), cast<RankedTensorType>(stream.getType()), layer);
}

SubLayer diagram::readSubLayer(AddOp add, Value stream, llvm::SetVector<Operation *> &branchOps) {
  SubLayer layer;
  Value value = stream == add.getX() ? add.getF() : add.getX();
  auto dropout = value.getDefiningOp<DropoutOp>();
  if (dropout) {
    branchOps.insert(dropout);
    value = dropout.getX();
  }
  auto bias = value.getDefiningOp<AddBiasOp>();
  if (bias) {
    branchOps.insert(bias);
    value = bias.getF();
  }
  readFlatBranch(add, value, stream, branchOps, layer);
  if (bias)
    layer.branch.push_back({PartKind::Scale, "+ bias", nameOf(bias.getBias())});
  if (dropout)
    layer.branch.push_back(describeDropout(dropout.getP(), dropout.getSite(), getDropoutOrigin(dropout)));
  append(layer.branch, describeBranchScale(add.getGate(), add.getBranchScale()));
  layer.skipScale = describeSkip(getAddParts(add));
  return layer;
}
