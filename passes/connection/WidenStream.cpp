// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-widen-stream: stacks of blocks from one residual stream to several, and back. What a connection is made of
// stands in Connections.h.

#include "dialect/Placement.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/connection/Connections.h"
#include "passes/placement/NormParameters.h"
#include "passes/stream/Stacks.h"

namespace mlir::resid {
#define GEN_PASS_DEF_WIDENSTREAM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

static InFlightDiagnostic refuse(Operation *op) { return op->emitError() << "not converted: "; }

/// The same block on `stream`, with the connection `coefficients` where that is given. The old one stays, without its
/// branch.
static BlockOp createBlock(OpBuilder &builder, BlockOp old, Value stream, const ConnectionCoefficients *coefficients) {
  ConnectionCoefficients none;
  const ConnectionCoefficients &given = coefficients ? *coefficients : none;
  auto block = BlockOp::create(builder, old.getLoc(), stream.getType(), /*scale=*/Type(), old.getPlacementAttr(),
                               stream, old.getNormParameters(), old.getSeed(), old.getStep(), old.getOriginRow(),
                               old.getOriginSite(), old.getOriginCol(), old.getExtentLocal(), old.getExtentGlobal(),
                               old.getGate(), /*skip=*/Value(), /*also=*/Value(),
                               /*also_scale=*/Value(), given.read, given.write, given.mix, /*static_scale=*/Value(),
                               old.getNormsAttr(), old.getPAttr(), old.getSiteAttr(), old.getSkipScaleAttr(),
                               old.getBranchScaleAttr(), old.getNarrowAffineAttr(),
                               coefficients ? builder.getUnitAttr() : UnitAttr(), builder.getF64FloatAttr(1.0),
                               GranularityAttr(), /*group=*/IntegerAttr());
  block->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  block.getBranch().takeBody(old.getBranch());
  return block;
}

/// The same for a gated connection: the row that it reads takes the place of the branch's argument and of the norm
/// before it.
static BlockOp createGatedBlock(OpBuilder &builder, BlockOp old, Value stream, const GatedConnection &connection) {
  std::optional<NormParts> after = getNormAt(old, NormPosition::AfterBranch);
  ConnectionCoefficients coefficients{Value(), connection.write, Value()};
  Value argument = old.getBranch().getArgument(0);
  argument.replaceAllUsesWith(connection.row);
  BlockOp block = createBlock(builder, old, stream, &coefficients);
  setNorms(block, after ? Placement::BranchPost : Placement::None,
           after ? ArrayRef<NormParts>(*after) : ArrayRef<NormParts>());
  return block;
}

/// Whoever asks for a size of one stream of `old` asks `like` instead, which has the same.
static void redirectSizes(Value old, Value like) {
  for (OpOperand &use : llvm::make_early_inc_range(old.getUses()))
    if (isa<tensor::DimOp>(use.getOwner()))
      use.set(like);
}

/// A stack is in a straight line, and its blocks are all that reads the stream.
static LogicalResult checkReaders(const Stack &stack) {
  if (!stack.loops.empty())
    return refuse(stack.loops.front())
           << "expected sub-layers in a straight line, but got a loop that carries the stream";
  if (stack.taps.empty())
    return success();
  OpOperand *tap = stack.taps.front();
  InFlightDiagnostic error = refuse(tap->getOwner())
                             << "expected no other reader of the stream between sub-layers, but got "
                             << tap->getOwner()->getName();
  error.attachNote(tap->get().getLoc()) << "it reads the stream after this";
  return error;
}

/// Replaces what a stack hands out by `end`, and takes its old blocks away. Who asks for sizes of the stream asks its
/// entry, which has the same.
static void replaceBlocks(const Stack &stack, Value end) {
  for (BlockOp old : stack.blocks)
    redirectSizes(old.getResult(), stack.entry);
  stack.getEnd().replaceAllUsesWith(end);
  if (stack.head)
    ReadOp(stack.head).erase();
  for (BlockOp old : llvm::reverse(stack.blocks))
    old.erase();
}

//===----------------------------------------------------------------------===//
// From one stream to several
//===----------------------------------------------------------------------===//

static LogicalResult checkGated(BlockOp block) {
  std::optional<NormParts> norm = getNormAt(block, NormPosition::BeforeBranch);
  if (!norm)
    return refuse(block) << "expected placement pre or peri for connection gated, but got "
                         << stringifyPlacement(block.getPlacement()) << ", which has no norm that the read could be";
  std::string obstacle = findGatedObstacle(*norm);
  return obstacle.empty() ? success() : LogicalResult(refuse(block) << obstacle);
}

static LogicalResult checkWidening(const Stack &stack, ConnectionKind kind) {
  for (BlockOp block : stack.blocks) {
    if (block.getStreams())
      return refuse(block) << "expected sub-layers on one stream, but got one on several";
    if (normalizesStream(block.getPlacement()))
      return refuse(block) << "expected placement " << listPlacementsOnStreams() << ", but got "
                           << stringifyPlacement(block.getPlacement())
                           << ", whose norm of the stream does not commute with reading one of several";
    if (!block.getSkipScale().isExactlyValue(1.0))
      return refuse(block) << "expected no skip_scale, but got one";
    for (auto [value, name] : {std::pair(block.getSkip(), "skip"), std::pair(block.getAlso(), "also")})
      if (value)
        return refuse(block) << "expected no " << name << ", but got one";
    if (kind == ConnectionKind::Gated && failed(checkGated(block)))
      return failure();
  }
  auto type = cast<RankedTensorType>(stack.entry.getType());
  if (kind != ConnectionKind::Static && ShapedType::isDynamic(type.getShape().back()))
    return refuse(BlockOp(stack.blocks.front())) << "expected a static number of features for connection "
                                                 << stringifyConnectionKind(kind) << ", but got " << type;
  return checkReaders(stack);
}

/// n copies of `row`.
static Value copyStream(OpBuilder &builder, Location loc, Value row, int64_t streams) {
  auto type = cast<RankedTensorType>(row.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, row);
  sizes.insert(sizes.end() - 1, builder.getIndexAttr(streams));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::BroadcastOp::create(builder, loc, row, empty, ArrayRef<int64_t>{type.getRank() - 1})->getResult(0);
}

static void widen(func::FuncOp function, const Stack &stack, int64_t streams, ConnectionKind kind, std::string name,
                  Conversion &conversion) {
  OpBuilder builder(BlockOp(stack.blocks.front()));
  Value stream = copyStream(builder, BlockOp(stack.blocks.front()).getLoc(), stack.entry, streams);
  ConnectionBuilder connection(function, kind, cast<RankedTensorType>(stream.getType()), std::move(name), conversion);
  for (auto [index, old] : llvm::enumerate(stack.blocks)) {
    builder.setInsertionPoint(old);
    if (kind == ConnectionKind::Gated) {
      auto rowType = cast<RankedTensorType>(BlockOp(old).getBranch().getArgument(0).getType());
      NormParts norm = *getNormAt(old, NormPosition::BeforeBranch);
      GatedConnection gated = connection.createGated(builder, BlockOp(old).getLoc(), stream, index, norm, rowType);
      stream = createGatedBlock(builder, old, stream, gated).getResult();
      continue;
    }
    ConnectionCoefficients coefficients = connection.create(builder, BlockOp(old).getLoc(), stream, index);
    stream = createBlock(builder, old, stream, &coefficients).getResult();
  }
  BlockOp last = stack.blocks.back();
  builder.setInsertionPoint(last);
  Value weights = connection.createHead(builder, last.getLoc(), stream, stack.blocks.size());
  Value row = ReadOp::create(builder, last.getLoc(), stream, weights);
  replaceBlocks(stack, row);
}

//===----------------------------------------------------------------------===//
// From several streams to one
//===----------------------------------------------------------------------===//

namespace {
/// What of a connection is dropped with its streams.
struct Narrowing {
  linalg::BroadcastOp copies;
  /// Weights that are arguments of the function, whose values nobody knows here.
  SmallVector<Value> dropped;
};
} // namespace

/// Constant weights of `count` streams pass where `accept` does. Arguments without rows are noted.
static LogicalResult checkWeights(Operation *op, Value weights, int64_t count, StringRef expected,
                                  function_ref<bool(ArrayRef<double>)> accept, Narrowing &narrowing) {
  DenseFPElementsAttr elements;
  if (!weights)
    return accept(std::vector<double>(count, 1.0))
               ? success()
               : refuse(op) << "expected " << expected << ", but got none for " << count << " streams";
  auto type = cast<RankedTensorType>(weights.getType());
  bool isStatic = type.getRank() == 2 && type.getShape().back() == 1;
  if (isStatic && matchPattern(weights, m_Constant(&elements))) {
    std::vector<double> values;
    for (const APFloat &element : elements)
      values.push_back(element.convertToDouble());
    return accept(values) ? success() : refuse(op) << "expected " << expected << ", but got others";
  }
  auto argument = dyn_cast<BlockArgument>(weights);
  if (!isStatic || !argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return refuse(op) << "expected a static connection, whose weights are constants or arguments of " << count
                      << "x1, but got weights of " << type;
  narrowing.dropped.push_back(weights);
  return success();
}

static LogicalResult checkRead(Operation *op, Value weights, double scale, int64_t count, Narrowing &narrowing) {
  return checkWeights(
      op, weights, count, "weights of the read that sum to 1",
      [&](ArrayRef<double> values) { return scale * std::accumulate(values.begin(), values.end(), 0.0) == 1.0; },
      narrowing);
}

static FailureOr<Narrowing> checkNarrowing(const Stack &stack) {
  BlockOp first = stack.blocks.front();
  Narrowing narrowing;
  int64_t count = 0;
  for (BlockOp block : stack.blocks) {
    if (!block.getStreams())
      return refuse(block) << "expected sub-layers on several streams, but got one on one stream";
    count = block.getX().getType().getShape().end()[-2];
    if (block.getMix())
      return refuse(block) << "expected a connection that does not mix, but got a mix of " << block.getMix().getType();
    auto isOne = [](ArrayRef<double> values) {
      return llvm::all_of(values, [](double value) { return value == 1.0; });
    };
    if (failed(checkRead(block, block.getReadWeights(), block.getReadScale().convertToDouble(), count, narrowing)) ||
        failed(
            checkWeights(block, block.getWriteWeights(), count, "weights of the write that are 1", isOne, narrowing)))
      return failure();
  }
  if (failed(checkReaders(stack)))
    return failure();
  narrowing.copies = stack.entry.getDefiningOp<linalg::BroadcastOp>();
  int64_t rank = first.getX().getType().getRank();
  if (!narrowing.copies || narrowing.copies.getDimensions() != ArrayRef<int64_t>{rank - 2})
    return refuse(first) << "expected streams that begin as copies of one (linalg.broadcast), but got others";
  if (!stack.head || getReaders(stack.exit).size() != 1)
    return refuse(first) << "expected one resid.read to be all that reads the streams after the last sub-layer";
  ReadOp head = stack.head;
  if (head.getType() != getStreamType(first.getX().getType()))
    return refuse(head) << "expected a read of the streams' own element type, but got " << head.getType();
  if (failed(checkRead(head, head.getWeights(), head.getScale().convertToDouble(), count, narrowing)))
    return failure();
  return narrowing;
}

static void narrow(const Stack &stack, Narrowing &narrowing, Conversion &conversion) {
  Value stream = narrowing.copies.getInput();
  for (Value weights : narrowing.dropped)
    conversion.parameters.push_back({getParameterName(weights), ParameterAction::Drop, "connection", ""});
  OpBuilder builder(BlockOp(stack.blocks.front()));
  for (BlockOp old : stack.blocks) {
    builder.setInsertionPoint(old);
    stream = createBlock(builder, old, stream, nullptr).getResult();
  }
  replaceBlocks(stack, stream);
  if (narrowing.copies->use_empty())
    narrowing.copies.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct WidenStream : resid::impl::WidenStreamBase<WidenStream> {
  using WidenStreamBase::WidenStreamBase;

  void runOnOperation() override {
    if (streams < 1 || streams > kMaxStreams) {
      getOperation().emitError() << "expected streams from 1 to " << kMaxStreams << " but got " << streams.getValue();
      return signalPassFailure();
    }
    bool isThere = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Stack> stacks = function.isExternal() ? SmallVector<Stack>() : findStacks(function);
      isThere |= !stacks.empty();
      if (failed(streams == 1 ? narrowAll(function, stacks) : widenAll(function, stacks)))
        return signalPassFailure();
    }
    if (isThere)
      return;
    getOperation().emitError() << "not converted: expected a residual sub-layer (resid.block) but got none";
    signalPassFailure();
  }

private:
  LogicalResult widenAll(func::FuncOp function, ArrayRef<Stack> stacks);
  LogicalResult narrowAll(func::FuncOp function, ArrayRef<Stack> stacks);
  void finish(Location loc, const Conversion &conversion);
};
} // namespace

void WidenStream::finish(Location loc, const Conversion &conversion) {
  recordConversion(getOperation(), conversion);
  if (report)
    emitRemark(loc) << "converted " << conversion.from << " to " << conversion.to << " ("
                    << stringifyRewriteClass(conversion.rewriteClass) << ")";
}

LogicalResult WidenStream::widenAll(func::FuncOp function, ArrayRef<Stack> stacks) {
  for (const Stack &stack : stacks)
    if (failed(checkWidening(stack, connection)))
      return failure();
  if (!stacks.empty() && failed(refuseCallers(function)))
    return failure();
  std::string to = "streams=" + std::to_string(streams) + " connection=" + stringifyConnectionKind(connection).str();
  for (auto [index, stack] : llvm::enumerate(stacks)) {
    Location loc = BlockOp(stack.blocks.front()).getLoc();
    Conversion conversion{function.getSymName().str(), "streams=1", to, getWideningClass(connection, streams),
                          /*parameters=*/{}};
    widen(function, stack, streams, connection, index == 0 ? "" : "stack_" + std::to_string(index) + "_", conversion);
    finish(loc, conversion);
  }
  return success();
}

LogicalResult WidenStream::narrowAll(func::FuncOp function, ArrayRef<Stack> stacks) {
  SmallVector<Narrowing> narrowings;
  for (const Stack &stack : stacks) {
    FailureOr<Narrowing> narrowing = checkNarrowing(stack);
    if (failed(narrowing))
      return failure();
    narrowings.push_back(*narrowing);
  }
  for (auto [stack, narrowing] : llvm::zip_equal(stacks, narrowings)) {
    BlockOp first = stack.blocks.front();
    Location loc = first.getLoc();
    bool isSame = narrowing.dropped.empty();
    Conversion conversion{function.getSymName().str(),
                          "streams=" + std::to_string(first.getX().getType().getShape().end()[-2]), "streams=1",
                          isSame ? RewriteClass::Exact : RewriteClass::ChangesFunction, /*parameters=*/{}};
    narrow(stack, narrowing, conversion);
    finish(loc, conversion);
  }
  return success();
}
