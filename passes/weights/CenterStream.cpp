// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-center-stream: layer norms on a residual stream become RMS norms, since everything that writes to the stream is
// centred. Which stacks allow it, and why others do not, stands here.

#include "passes/Passes.h"
#include "passes/stream/NormSites.h"
#include "passes/stream/Stacks.h"
#include "passes/weights/LinearLayers.h"
#include "passes/weights/Prepare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid {
#define GEN_PASS_DEF_CENTERSTREAM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// What reads the stream
//===----------------------------------------------------------------------===//

/// Whether the norm subtracts the mean of each row, which is what makes a centred stream as good as the raw one.
static LogicalResult checkNorm(const NormParts &norm, Operation *op, LinearRefusal &refusal) {
  if (!getNormRule(norm.kind).onCenteredRows)
    return refusal.set(op,
                       "expected a layer norm to read the stream, but got one of kind " + stringifyNormKind(norm.kind));
  if (norm.rank != 1)
    return refusal.set(op, "expected a norm over 1 dimension, but got one over " + Twine(norm.rank));
  return success();
}

/// Norms can read the raw stream, everything else sees its mean.
static LogicalResult checkReader(OpOperand &reader, LinearRefusal &refusal) {
  Operation *op = reader.getOwner();
  std::optional<NormParts> norm = getNormParts(op);
  if (!norm || reader.getOperandNumber() != 0)
    return refusal.set(op, "expected norms to be all that reads the stream beside its blocks, but got " +
                               op->getName().getStringRef());
  if (!llvm::all_of(op->getResults().drop_front(), [](Value result) { return result.use_empty(); }))
    return refusal.set(op, "expected a norm without statistics, but got the mean of the stream");
  return checkNorm(*norm, op, refusal);
}

/// How the block reads the stream: through a layer norm before its branch, and in the residual add.
static LogicalResult checkBlockReads(BlockOp block, LinearRefusal &refusal) {
  if (block.getStreams())
    return refusal.set(block, "expected one residual stream, but got a block on several");
  std::optional<NormSite> norm = getNormSiteAt(block, NormPosition::BeforeBranch);
  if (!norm)
    return refusal.set(block, "expected the branch to read the stream through a norm, as in pre, but got " +
                                  stringifyPlacement(block.getPlacement()));
  return checkNorm(norm->parts, block, refusal);
}

//===----------------------------------------------------------------------===//
// What writes to the stream
//===----------------------------------------------------------------------===//

/// Whether the gate scales each row by one number.
static bool scalesRows(Value gate) {
  auto type = cast<RankedTensorType>(gate.getType());
  return type.getRank() == 0 || type.getShape().back() == 1;
}

/// A norm that centres rows and has no gamma hands out rows of mean zero.
static bool isCentered(const NormParts &norm) {
  return getNormRule(norm.kind).centersRows && !norm.gamma && norm.rank == 1;
}

namespace {
/// A weight or bias of a writer, as the function has it: itself, or the stack of all layers that a loop takes it from.
struct StoredWeight {
  OpOperand *read;
  Value stored;
  /// The axis of `stored` that runs over the features of the stream.
  int64_t axis;
  /// Takes the weight from `stored`; null where they are the same.
  tensor::ExtractSliceOp slice;
};

/// What has to change so that each row of one stack's stream has mean zero.
struct CenteringPlan {
  OpOperand *entry;
  SmallVector<BlockOp> blocks;
  SmallVector<StoredWeight> weights;
  /// Norm ops that read the stream.
  SmallVector<Operation *> norms;
};
} // namespace

/// Looks through a slice that takes all of `axis`.
static StoredWeight getStoredWeight(OpOperand *read, int64_t axis) {
  auto slice = read->get().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return {read, read->get(), axis, {}};
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  int64_t sourceAxis = 0;
  for (int64_t skipped = axis; dropped.test(sourceAxis) || skipped > 0; ++sourceAxis)
    skipped -= !dropped.test(sourceAxis);
  int64_t size = slice.getSourceType().getDimSize(sourceAxis);
  bool takesAll = !ShapedType::isDynamic(size) && slice.getStaticSizes()[sourceAxis] == size &&
                  slice.getStaticOffsets()[sourceAxis] == 0 && slice.getStaticStrides()[sourceAxis] == 1;
  return takesAll ? StoredWeight{read, slice.getSource(), sourceAxis, slice}
                  : StoredWeight{read, read->get(), axis, {}};
}

/// How the branch comes into the stream: a linear layer makes it, and rows are scaled as a whole.
static LogicalResult planWriter(BlockOp block, Preparation &preparation, CenteringPlan &plan, LinearRefusal &refusal) {
  if (block.hasDropout())
    return refusal.set(
        block, "expected no dropout between the branch and the stream, but got one; resid-inference removes it");
  for (auto [factor, name] : {std::pair<Value, StringRef>(block.getGate(), "gate"), {block.getSkip(), "skip"}}) {
    if (!factor || scalesRows(factor))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << "expected a " << name << " of one number or one per row, but got "
                                   << factor.getType();
    return refusal.set(block, text);
  }
  if (block.getAlso())
    return refusal.set(block, "expected one stream, but got a second operand");
  if (std::optional<NormSite> norm = getNormSiteAt(block, NormPosition::AfterBranch)) {
    if (isCentered(norm->parts))
      return success();
    return refusal.set(block, "expected a linear layer to write to the stream, but got a norm after the branch");
  }
  auto yield = cast<YieldOp>(block.getBranch().front().getTerminator());
  FailureOr<LinearLayer> layer = findWritingLayer(yield.getBranch(), refusal);
  if (failed(layer))
    return failure();
  SmallVector<StoredWeight> weights = {getStoredWeight(layer->weight, layer->outputAxes.front())};
  for (OpOperand *bias : layer->biases)
    weights.push_back(getStoredWeight(bias, 0));
  for (const StoredWeight &weight : weights)
    if (std::optional<std::string> reason = preparation.refuse(weight.stored))
      return refusal.set(layer->contraction, *reason);
  llvm::append_range(plan.weights, weights);
  return success();
}

/// Where the stack reads its entry: in the first block, or in the outermost loop around it.
static OpOperand *findEntry(const Stack &stack) {
  BlockOp first = stack.blocks.front();
  OpOperand *entry = &first.getXMutable();
  while (entry->get() != stack.entry) {
    auto carried = cast<BlockArgument>(entry->get());
    entry = cast<scf::ForOp>(carried.getOwner()->getParentOp()).getTiedLoopInit(carried);
  }
  return entry;
}

static FailureOr<CenteringPlan> planCentering(const Stack &stack, Preparation &preparation, LinearRefusal &refusal) {
  CenteringPlan plan{findEntry(stack), stack.blocks, {}, {}};
  for (BlockOp block : stack.blocks)
    if (failed(checkBlockReads(block, refusal)))
      return failure();
  SmallVector<OpOperand *> readers = stack.taps;
  llvm::append_range(readers, getReaders(stack.exit));
  for (OpOperand *reader : readers) {
    if (failed(checkReader(*reader, refusal)))
      return failure();
    plan.norms.push_back(reader->getOwner());
  }
  for (BlockOp block : stack.blocks)
    if (failed(planWriter(block, preparation, plan, refusal)))
      return failure();
  return plan;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// x - mean(x) for each row, in the arithmetic type, rounded once to the type of x. The mean is that of
/// resid.layer_norm, which is taken in two parts so that it is exact for rows far from zero too.
static Value center(OpBuilder &builder, Location loc, Value x) {
  auto norm = LayerNormOp::create(builder, loc, x, Value(), Value(), 1.0e-5, /*withStatistics=*/true);
  auto type = cast<RankedTensorType>(x.getType());
  Type arithmetic = getArithmeticType(type.getElementType());
  int64_t rank = type.getRank();
  AffineMap elements = builder.getMultiDimIdentityMap(rank), rows = elements.dropResult(rank - 1);
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, x), type.getElementType());
  auto subtract = [&](OpBuilder &body, Location, ValueRange values) {
    bool isNarrow = values.front().getType() != arithmetic;
    Value value = isNarrow ? arith::ExtFOp::create(body, loc, arithmetic, values[0]).getResult() : values[0];
    value = arith::SubFOp::create(body, loc, value, values[1]);
    value = arith::SubFOp::create(body, loc, value, values[2]);
    if (isNarrow)
      value = arith::TruncFOp::create(body, loc, type.getElementType(), value);
    linalg::YieldOp::create(body, loc, value);
  };
  return linalg::GenericOp::create(builder, loc, type, ValueRange{x, norm.getMean(), norm.getMeanCorrection()}, empty,
                                   ArrayRef<AffineMap>{elements, rows, rows, elements},
                                   SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel), subtract)
      .getResult(0);
}

/// Makes the norm with the same parameters that takes no mean.
static void leaveOutMean(NormSite norm) {
  NormParts parts = norm.parts;
  parts.kind = *getNormRule(parts.kind).onCenteredRows;
  replaceNorm(norm, parts);
}

namespace {
/// Centres the stacks of one function.
class StreamCenterer {
public:
  StreamCenterer(func::FuncOp function, bool report) : function(function), preparation(function), report(report) {}

  void run();

private:
  void apply(const CenteringPlan &plan);
  void centerWeight(const StoredWeight &weight);
  void emitRefusal(const Stack &stack, const LinearRefusal &refusal);

  func::FuncOp function;
  Preparation preparation;
  bool report;
  /// What became of the weights, so that writers that share one share the new one too.
  DenseMap<std::pair<Value, int64_t>, Value> centered;
  SmallVector<Operation *> norms;
};
} // namespace

/// W becomes W - mean over the output features, and a bias likewise.
void StreamCenterer::centerWeight(const StoredWeight &weight) {
  Value &result = centered[{weight.stored, weight.axis}];
  if (!result) {
    auto type = cast<RankedTensorType>(weight.stored.getType());
    SmallVector<int64_t> indices = llvm::to_vector(llvm::seq(type.getRank()));
    WeightTerm old{{{weight.stored, indices}}};
    indices[weight.axis] = type.getRank();
    WeightTerm mean{{{weight.stored, indices}}, -1.0, /*mean=*/true};
    result = preparation.compute({{old, mean}, type.getRank(), cast<FloatType>(type.getElementType())}, weight.stored,
                                 Preparation::getName(weight.stored, "weight"));
  }
  Value value = result;
  if (weight.slice) {
    OpBuilder builder(weight.slice);
    auto slice = cast<tensor::ExtractSliceOp>(builder.clone(*weight.slice));
    slice.getSourceMutable().assign(value);
    value = slice;
  }
  weight.read->set(value);
}

void StreamCenterer::apply(const CenteringPlan &plan) {
  for (const StoredWeight &weight : plan.weights)
    centerWeight(weight);
  // What nothing reads any more would keep the old stack alive.
  llvm::SmallSetVector<Operation *, 8> slices;
  for (const StoredWeight &weight : plan.weights)
    if (weight.slice && weight.slice->use_empty())
      slices.insert(weight.slice);
  for (Operation *slice : slices)
    slice->erase();
  for (BlockOp block : plan.blocks)
    leaveOutMean(*getNormSiteAt(block, NormPosition::BeforeBranch));
  Operation *first = plan.entry->getOwner();
  OpBuilder builder(first);
  plan.entry->set(center(builder, first->getLoc(), plan.entry->get()));
  norms.append(plan.norms);
}

void StreamCenterer::emitRefusal(const Stack &stack, const LinearRefusal &refusal) {
  BlockOp first = stack.blocks.front();
  InFlightDiagnostic remark = first.emitRemark() << "not centred: " << refusal.reason;
  if (refusal.op && refusal.op != first)
    remark.attachNote(refusal.op->getLoc()) << "found here";
}

void StreamCenterer::run() {
  for (const Stack &stack : findStacks(function)) {
    LinearRefusal refusal;
    FailureOr<CenteringPlan> plan = planCentering(stack, preparation, refusal);
    if (failed(plan)) {
      if (report)
        emitRefusal(stack, refusal);
      continue;
    }
    if (report)
      BlockOp(stack.blocks.front()).emitRemark()
          << "centred (exact in real arithmetic); layer norms that become RMS norms: "
          << plan->blocks.size() + plan->norms.size();
    apply(*plan);
  }
  preparation.finish();
  for (Operation *norm : norms)
    leaveOutMean({norm, 0, *getNormParts(norm)});
}

namespace {
struct CenterStream : resid::impl::CenterStreamBase<CenterStream> {
  using CenterStreamBase::CenterStreamBase;

  void runOnOperation() override {
    for (func::FuncOp function : getFunctionsToPrepare(getOperation()))
      StreamCenterer(function, report).run();
  }
};
} // namespace
